/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - signals that dump, toggle, or report a crash, if the user wants them.
 *
 *   - No other signal is changed.
 *   - A handler that the host installed before ours runs after it; one that the host
 *     installs later replaces ours.
 *   - For a fatal signal the host's action is restored, and the signal is raised again.
 *
 * Threading: open and close by one thread at a time. The callbacks are called in signal
 * handlers, on any thread.
 */
#pragma once

#include <stdbool.h>

struct osc_signals {
    int dump_signal, toggle_signal; /* 0: none */
    bool has_crash;                 /* also handle fatal signals */
    void (*dump)(void);
    void (*toggle)(void);
    void (*crash)(void); /* returns once all is written, or after a time limit */
};

/* Install the handlers, as far as possible. */
void osc_signals_open(const struct osc_signals *signals);

/* Restore the former actions where ours are still installed. */
void osc_signals_close(void);
