/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_sums.h - sums by name.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/idmap.h"
#include "base/intern.h"
#include "base/status.h"

/* Times by name, in order of first appearance. Zeroed, it is empty. */
struct osc_name_sums {
    struct osc_idmap of_name; /* index + 1 */
    struct osc_name_sum {
        osc_sid name;
        int64_t ns;
    } * v; /* owned */
    size_t n, cap;
};

OSC_MUST_USE osc_status osc_name_sums_add(struct osc_name_sums *y, osc_sid name, int64_t ns);
/* The name with the largest sum, the first one of several; {0} if there is none. */
struct osc_name_sum osc_name_sums_top(const struct osc_name_sums *y);
void osc_name_sums_fini(struct osc_name_sums *y);
