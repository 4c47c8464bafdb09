/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_modules.h - the modules that tell the most about where the time goes.
 *
 * The rows are parts of the model, none of which is in another. They begin with the outermost
 * modules. While fewer rows than wanted have a twentieth of the time, or one has more than
 * half of it, the largest one gives way to the modules in it, if these have most of its time
 * (three quarters).
 *
 * Modules of one class that contain others, and whose attribute paths differ only in numbers,
 * such as the layers of a transformer, are one, and so is what they contain: h.*.attn.
 *
 * Threading: one thread.
 */
#pragma once

#include "cli/screen/screen_read.h"
#include "cli/screen/top_row.h"

/* Whether device work was launched in modules. If so, it is their time. */
bool osc_screen_modules_on_device(const struct osc_screen *s);

/*
 * Find at most MAX rows, with the most time first; backward passes count. *SUM_NS is the time
 * of all modules. Names live in ARENA.
 */
OSC_MUST_USE osc_status osc_screen_find_modules(const struct osc_screen *s,
                                                struct osc_arena *arena,
                                                struct osc_top_row *rows, unsigned max,
                                                unsigned *n_rows, double *sum_ns);
