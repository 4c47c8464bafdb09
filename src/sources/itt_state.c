/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/itt_state.h"

#include <stdio.h>

#include "opscope/record.h"

#define PARTS_MAX 16

/* A static part, as metadata of the recording. */
struct part {
    char key[24];
    char value[104];
};

_Atomic uint32_t osc_itt_state_;

static struct part parts[PARTS_MAX];
static _Atomic uint32_t n_parts; /* numbers given out */

void osc_itt_report_part(const struct osc_itt_global *g, unsigned n_bound, unsigned n_functions)
{
    /* Relaxed: each caller gets a number of its own. */
    const uint32_t i = atomic_fetch_add_explicit(&n_parts, 1, memory_order_relaxed);

    if (i >= PARTS_MAX)
        return;
    if (i == 0)
        (void)snprintf(parts[i].key, sizeof parts[i].key, "source.itt");
    else
        (void)snprintf(parts[i].key, sizeof parts[i].key, "source.itt.%u", i + 1);
    (void)snprintf(parts[i].value, sizeof parts[i].value,
                   "version %lu.%lu, build %lu, %u of %u functions", g->version_major,
                   g->version_minor, g->version_build, n_bound, n_functions);
    if (osc_is_on())
        osc_metadata(parts[i].key, parts[i].value);
    else /* called while the recorder starts */
        atomic_fetch_or_explicit(&osc_itt_state_, OSC_ITT_REPORT_DUE, memory_order_relaxed);
}

void osc_itt_report_parts(void)
{
    /* Relaxed: the forking thread has seen these parts, and a new one reports itself. */
    const uint32_t n = atomic_load_explicit(&n_parts, memory_order_relaxed);

    atomic_fetch_and_explicit(&osc_itt_state_, ~(uint32_t)OSC_ITT_REPORT_DUE,
                              memory_order_relaxed);
    for (uint32_t i = 0; i < n && i < PARTS_MAX && osc_is_on(); i++) {
        if (parts[i].value[0])
            osc_metadata(parts[i].key, parts[i].value);
    }
}
