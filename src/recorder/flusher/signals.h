/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - dump, toggle and crash, where the user asked for it; otherwise no signal is
 * touched.
 *
 *   - A handler that the host had before ours runs after it; one that it installs later
 *     replaces ours.
 *   - A fatal signal is put back to what the host had, and happens again.
 *
 * Threading: open and close by one thread at a time. The calls back come in signal
 * handlers, on any thread.
 */
#ifndef OSC_RECORDER_FLUSHER_SIGNALS_H
#define OSC_RECORDER_FLUSHER_SIGNALS_H

#include <stdbool.h>

struct osc_signals {
    int dump_signal, toggle_signal; /* 0: none */
    bool has_crash;                 /* fatal ones */
    void (*dump)(void);
    void (*toggle)(void);
    void (*crash)(void); /* returns once all is written, or it takes too long */
};

/* Install handlers. What cannot be installed is left out. */
void osc_signals_open(const struct osc_signals *signals);

/* Put back what was there, where it is still ours. */
void osc_signals_close(void);

#endif
