/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refresh.h - load the same files again, but read only those that have changed.
 *
 * Threading: one thread loads; others may use what was loaded before meanwhile.
 */
#pragma once

#include "ask/load.h"

/* All members are borrowed. */
struct osc_refreshing {
    const struct osc_loaded *before;
    const struct osc_load *load; /* how before was loaded */
    bool has_all;                /* before left nothing out */
};

/*
 * Load what R says into L and store in CHANGES what has changed. *IS_SAME: nothing has, and L
 * has no trace that was not there before. The caller frees L, after a failure too.
 */
OSC_MUST_USE osc_status osc_refresh(struct osc_loaded *l, const struct osc_refreshing *r,
                                    struct osc_changes *changes, bool *is_same,
                                    struct osc_err *err);
