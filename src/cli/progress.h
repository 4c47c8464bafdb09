/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - one line on the terminal while a file is read or written.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

struct osc_progress {
    const char *verb; /* "reading"; borrowed, as is path */
    const char *path;
    int64_t start_ns, shown_ns;
    unsigned width; /* of the terminal on standard error; 0: not a terminal */
    bool is_shown;  /* the line is on the terminal */
};

/* Begin: VERB describes what happens to PATH; "-" is standard input. */
void osc_progress_start(struct osc_progress *p, const char *verb, const char *path);

/* For osc_import_options.progress; CTX is the progress. */
bool osc_progress_tick(void *ctx, uint64_t done_bytes, uint64_t total_bytes);

/* Append the line: DONE of TOTAL bytes (0: unknown) after NS, cut to p->width. */
void osc_progress_write(struct osc_strbuf *out, const struct osc_progress *p, uint64_t done,
                        uint64_t total, int64_t ns);

/* Erase the line. */
void osc_progress_stop(struct osc_progress *p);
