/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refresh.h - load once more what was loaded before, and read only what has changed.
 *
 * Threading: one thread loads; what was loaded before may be asked meanwhile.
 */
#pragma once

#include "ask/load.h"

/* All of it is borrowed. */
struct osc_refreshing {
    const struct osc_loaded *before;
    const struct osc_load *load; /* as it was loaded */
    bool has_all;                /* nothing was left out then */
};

/*
 * Load what R says into L and tell what CHANGES there were. *IS_SAME: none, and L holds
 * nothing that was not there before. On failure L is to be freed as well.
 */
OSC_MUST_USE osc_status osc_refresh(struct osc_loaded *l, const struct osc_refreshing *r,
                                    struct osc_changes *changes, bool *is_same,
                                    struct osc_err *err);
