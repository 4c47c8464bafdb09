/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_learn.h - layouts of events, learned from the slow path.
 *
 * Writers of traces use a few fixed format strings: between its values, an event
 * has the same bytes as thousands before it. The slow path reports where the
 * values of an event stood; the text between them becomes a path in a tree. The
 * fast path follows that tree: compare some literal bytes, read a value, compare
 * the next bytes; no key is looked up, no structure is searched for.
 *
 *   - What the fast path accepts, the slow path would have read in the same way:
 *     the literal bytes are equal to those of an event that it has read.
 *   - Anything else (another order, a repair, an unusual number) goes to the slow
 *     path, which may learn it.
 *
 * Threading: one tree per thread.
 */
#ifndef OSC_IMPORT_CHROME_LEARN_H
#define OSC_IMPORT_CHROME_LEARN_H

#include "import/chrome.h"

/* *L stays NULL if KERNEL is "none". OSC_EINVAL: no such kernel on this processor. */
OSC_MUST_USE osc_status osc_chrome_layouts_new(struct osc_chrome_layouts **l, const char *kernel);
void osc_chrome_layouts_free(struct osc_chrome_layouts *l);

/* Learn the event that began at OFFSET and ends at p, from the marks in C. */
void osc_chrome_learn(struct osc_chrome *c, uint64_t offset);

#endif
