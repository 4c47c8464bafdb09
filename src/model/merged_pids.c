/* SPDX-License-Identifier: Apache-2.0 */
#include "model/merged_pids.h"

#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/mem.h"

struct osc_str osc_merged_rank(struct osc_str pid)
{
    const char *const at = pid.len > 3 && pid.s[0] == '[' ? memchr(pid.s, ']', pid.len) : NULL;
    const uint32_t len = at ? (uint32_t)(at - pid.s) : 0;

    return len > 1 && len + 2 < pid.len && pid.s[len + 1] == ' '
               ? (struct osc_str){pid.s + 1, len - 1}
               : OSC_STR("");
}

osc_status osc_merged_ranks(const struct osc_trace *t, uint32_t **ranks)
{
    const size_t n = (size_t)t->n_processes + 1;
    struct osc_arena arena = {0};
    struct osc_intern words = {.arena = &arena, .seed = osc_hash_seed()};
    uint32_t *numbers = NULL;
    osc_status st = OSC_OK;

    *ranks = NULL;
    for (uint32_t p = 0; p < t->n_processes && st == OSC_OK; p++) {
        const struct osc_str rank = osc_merged_rank(osc_trace_str(t, t->processes[p].pid));
        osc_sid id;

        if (rank.len == 0)
            continue;
        if (!numbers)
            numbers = osc_calloc(n, sizeof *numbers);
        st = numbers ? osc_intern_add(&words, rank, &id) : OSC_ENOMEM;
        if (st == OSC_OK)
            numbers[p] = id.v;
    }
    osc_intern_fini(&words);
    osc_arena_fini(&arena);
    if (st != OSC_OK)
        osc_free(numbers);
    else
        *ranks = numbers;
    return st;
}
