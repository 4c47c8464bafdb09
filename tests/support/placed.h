/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placed.h - give traces that were opened together their ranks, spans and origin
 * (import/run.h).
 */
#pragma once

#include "base/mem.h"
#include "import/run.h"

/* Place the N TRACES, read from PATHS (NULL: paths do not matter). */
static inline osc_status placed(struct osc_trace *const *traces, const char *const *paths,
                                uint32_t n)
{
    struct osc_identity *const ids = osc_calloc(n, sizeof *ids);
    struct osc_identity **const all = osc_calloc(n, sizeof *all);
    osc_status st = ids && all ? OSC_OK : OSC_ENOMEM;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        osc_run_identity(&ids[i], traces[i], paths ? paths[i] : "");
        all[i] = &ids[i];
    }
    st = st == OSC_OK ? osc_run_place(all, n) : st;
    for (uint32_t i = 0; i < n && st == OSC_OK; i++)
        st = osc_run_apply(traces[i], &ids[i]);
    osc_free(ids);
    osc_free(all);
    return st;
}
