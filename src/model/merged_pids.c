/* SPDX-License-Identifier: Apache-2.0 */
#include "model/merged_pids.h"

#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/mem.h"

/* The length of the words in brackets with which PID begins. */
static uint32_t brackets(struct osc_str pid)
{
    uint32_t n = 0;

    while (n < pid.len && pid.s[n] == '[') {
        const char *const end = memchr(pid.s + n, ']', pid.len - n);
        const uint32_t len = end ? (uint32_t)(end - pid.s) - n : 0;

        if (len < 2)
            return 0;
        n += len + 1;
    }
    return n;
}

/* The length of "rank" and a number with which PID begins. */
static uint32_t rank_word(struct osc_str pid)
{
    uint32_t n = 4;

    if (pid.len <= n || !osc_str_eq_case((struct osc_str){pid.s, n}, OSC_STR("rank")))
        return 0;
    while (n < pid.len && pid.s[n] >= '0' && pid.s[n] <= '9')
        n++;
    return n > 4 ? n : 0;
}

struct osc_str osc_merged_rank(struct osc_str pid)
{
    uint32_t n = brackets(pid);

    if (n > 0 && n + 1 < pid.len && pid.s[n] == ' ')
        return (struct osc_str){pid.s + 1, n - 2};
    n = rank_word(pid);
    return n > 0 && n + 1 < pid.len && (pid.s[n] == '_' || pid.s[n] == ':')
               ? (struct osc_str){pid.s, n}
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
