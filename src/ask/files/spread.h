/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - read several files at the same time, each on one thread.
 *
 * A file of many that are visited one by one (load.h) keeps one thread busy while it is
 * inflated and while rows are made of it. So with as many files as threads, each thread takes
 * the next file and does all of it. What is left of a file is added in the order of the files:
 * the outcome is that of reading one after the other. If memory does not suffice for several
 * files, they are read again one after the other.
 *
 * Threading: as osc_load().
 */
#pragma once

#include "ask/files/loaded.h"

/* Load file I of L, and those that continue it. */
typedef osc_status osc_spread_import(struct osc_loaded *l, const struct osc_load *o, uint32_t i,
                                     struct osc_err *err);

/* Whether the files of L, which are listed, are worth it: enough of them, and not too large. */
bool osc_spread_is_worth(const struct osc_loaded *l, const struct osc_load *o);

/*
 * Load all files of L that are O's by calling IMPORT for each. With is_outdated, L is
 * incomplete and must be loaded again; with is_serial, too, one file after the other.
 */
OSC_MUST_USE osc_status osc_spread(struct osc_loaded *l, const struct osc_load *o,
                                   osc_spread_import *import, struct osc_err *err);
