/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/quality/sampled_names.h"

#include <inttypes.h>

#include "analysis/sampled.h"
#include "base/strbuf.h"

#define N_NAMES 20u /* that are told apart */

struct sampled {
    uint32_t name; /* osc_sid; 0: others */
    uint64_t n_rows;
    struct osc_finding left_out;
};

/* Zeroed, there are none. */
struct found {
    struct sampled v[N_NAMES + 1];
    uint32_t n;
};

static void add_row(struct found *found, uint32_t name, uint32_t n_calls, int64_t ts_ns)
{
    uint32_t i = 0;

    while (i < found->n && found->v[i].name != name)
        i++;
    if (i == found->n && i > N_NAMES) {
        i = N_NAMES;
    } else if (i == found->n) {
        found->v[i] = (struct sampled){.name = i < N_NAMES ? name : 0,
                                       .left_out = {0, OSC_NO_OFFSET, ts_ns, OSC_NO_TIME}};
        found->n++;
    }
    found->v[i].n_rows++;
    if (ts_ns < found->v[i].left_out.first_ns)
        found->v[i].left_out.first_ns = ts_ns;
    found->v[i].left_out.count += n_calls - 1;
}

static void find_all(const struct osc_trace *t, struct found *found)
{
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const uint32_t n_calls = osc_sampled_calls(t, c, i);

            if (n_calls > 1)
                add_row(found, c->name[i], n_calls, c->ts_ns[i]);
        }
    }
}

void osc_sampled_names_each(const struct osc_trace *t,
                            void (*add)(void *data, struct osc_str text,
                                        const struct osc_finding *left_out),
                            void *data)
{
    struct found found = {.n = 0};
    struct osc_strbuf text = {0};

    if (!osc_sampled_any(t))
        return;
    find_all(t, &found);
    for (uint32_t i = 0; i < found.n; i++) {
        const struct sampled *const s = &found.v[i];
        const struct osc_str name =
            s->name == 0 ? OSC_STR("other names") : osc_trace_str(t, (osc_sid){s->name});

        osc_strbuf_clear(&text);
        osc_strbuf_addf(&text,
                        "%.*s is sampled: %" PRIu64 " ranges stand for %" PRIu64
                        " calls; ranges and durations count them so often",
                        (int)name.len, name.s, s->n_rows, s->n_rows + s->left_out.count);
        add(data, (struct osc_str){text.s, (uint32_t)text.len}, &s->left_out);
    }
    osc_strbuf_fini(&text);
}
