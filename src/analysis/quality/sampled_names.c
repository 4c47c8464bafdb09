/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/quality/sampled_names.h"

#include <inttypes.h>

#include "analysis/range_place.h"
#include "analysis/sampled.h"
#include "base/strbuf.h"

#define N_NAMES 20u /* that are told apart */

struct sampled {
    uint32_t name; /* osc_sid; 0: others */
    uint64_t n_rows, n_calls;
    int64_t first_ns;
};

/* Zeroed, there are none. */
struct found {
    struct sampled v[N_NAMES + 1];
    uint32_t n;
};

/* The place of NAME, or of the others; beyond the last one if it is to be made. */
static uint32_t place_of(const struct found *found, uint32_t name)
{
    uint32_t i = 0;

    while (i < found->n && found->v[i].name != name)
        i++;
    return i > N_NAMES ? N_NAMES : i;
}

/* Find the names of which a range of C stands for several calls. */
static void find_names(const struct osc_trace *t, const struct osc_chunk *c,
                       struct found *found)
{
    for (uint32_t i = 0; i < c->n_rows; i++) {
        if (!osc_range_has_ended(t, c, i) || osc_sampled_calls(t, c, i) == 1)
            continue;
        const uint32_t at = place_of(found, c->name[i]);

        if (at == found->n)
            found->v[found->n++] =
                (struct sampled){.name = at < N_NAMES ? c->name[i] : 0, .first_ns = INT64_MAX};
    }
}

/* Count the ranges of these names in C; of the others those that stand for several calls. */
static void count_ranges(const struct osc_trace *t, const struct osc_chunk *c,
                         struct found *found)
{
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const uint32_t at = place_of(found, c->name[i]);
        const uint32_t n_calls = osc_sampled_calls(t, c, i);

        if (at >= found->n || !osc_range_has_ended(t, c, i) || (at == N_NAMES && n_calls == 1))
            continue;
        struct sampled *const s = &found->v[at];

        s->n_rows++;
        s->n_calls += n_calls;
        if (n_calls > 1 && c->ts_ns[i] < s->first_ns)
            s->first_ns = c->ts_ns[i];
    }
}

void osc_sampled_names_each(const struct osc_trace *t, osc_quality_found *add, void *data)
{
    struct found found = {.n = 0};
    struct osc_strbuf text = {0};

    if (!osc_sampled_any(t))
        return;
    for (uint32_t k = 1; k < t->events.n_chunks; k++)
        find_names(t, t->events.chunks[k], &found);
    for (uint32_t k = 1; k < t->events.n_chunks && found.n > 0; k++)
        count_ranges(t, t->events.chunks[k], &found);
    for (uint32_t i = 0; i < found.n; i++) {
        const struct sampled *const s = &found.v[i];
        const struct osc_finding left_out = {s->n_calls - s->n_rows, OSC_NO_OFFSET, s->first_ns,
                                             OSC_NO_TIME};
        const struct osc_str name =
            s->name == 0 ? OSC_STR("other names") : osc_trace_str(t, (osc_sid){s->name});

        osc_strbuf_clear(&text);
        osc_strbuf_addf(&text,
                        "%.*s is sampled: %" PRIu64 " ranges stand for %" PRIu64
                        " calls; ranges and durations count them so often",
                        (int)name.len, name.s, s->n_rows, s->n_calls);
        add(data, (struct osc_str){text.s, (uint32_t)text.len}, &left_out);
    }
    osc_strbuf_fini(&text);
}
