/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/quality/source_counts.h"

#include "analysis/remedies.h"
#include "sources/source_kinds.h"

#define COUNTS_MAX 64 /* of all sources and processes; more are left out */

struct count {
    osc_sid name;
    uint32_t process;
    struct osc_finding found;
};

static bool is_of_source(struct osc_str name)
{
#define PREFIX(source, folder, word) word ": ",
    static const char *const prefixes[] = {OSC_COLLECTED_LIST(PREFIX) "sources: "};
#undef PREFIX

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (osc_str_starts(name, osc_str_c(prefixes[i])))
            return true;
    }
    return false;
}

/* The value of the counter in row I; 0: it is no number. */
static uint64_t value_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *const f = &t->forms[c->form[i]];
    double value;

    for (uint32_t k = 0; k < f->n_slots; k++) {
        const struct osc_arg arg = osc_row_slot(t, c, i, k);

        if (!f->slots[k].is_member && osc_arg_double(t, &arg, &value) && value > 0 &&
            value < 9e15)
            return (uint64_t)value;
    }
    return 0;
}

/* Add the sample in row I to the N COUNTS. */
static void add_sample(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                       struct count *counts, uint32_t *n)
{
    const uint32_t process = t->tracks[c->track[i]].process;
    const uint64_t value = value_of(t, c, i);
    uint32_t k = 0;

    while (k < *n && (counts[k].name.v != c->name[i] || counts[k].process != process))
        k++;
    if (k == COUNTS_MAX)
        return;
    if (k == *n)
        counts[(*n)++] =
            (struct count){{c->name[i]}, process, {0, OSC_NO_OFFSET, c->ts_ns[i], OSC_NO_TIME}};
    struct osc_finding *const f = &counts[k].found;
    f->count = value > f->count ? value : f->count;
    f->first_ns = c->ts_ns[i] < f->first_ns ? c->ts_ns[i] : f->first_ns;
}

void osc_source_counts_each(const struct osc_trace *t, const struct osc_census *c,
                            osc_quality_found *add, void *data)
{
    struct count counts[COUNTS_MAX];
    uint32_t n = 0;

    if (c->by_kind[OSC_KIND_COUNTER] == 0 || !osc_trace_is_ours(t))
        return;
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const chunk = t->events.chunks[k];

        for (uint32_t i = 0; i < chunk->n_rows; i++) {
            if (chunk->kind[i] == OSC_KIND_COUNTER && is_of_source(osc_row_name(t, chunk, i)))
                add_sample(t, chunk, i, counts, &n);
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        if (counts[k].found.count == 0)
            continue;
        for (uint32_t m = k + 1; m < n; m++) { /* those of other processes */
            if (counts[m].name.v != counts[k].name.v)
                continue;
            counts[k].found.count += counts[m].found.count;
            if (counts[m].found.first_ns < counts[k].found.first_ns)
                counts[k].found.first_ns = counts[m].found.first_ns;
            counts[m].found.count = 0;
        }
        add(data, osc_trace_str(t, counts[k].name), &counts[k].found);
    }
}
