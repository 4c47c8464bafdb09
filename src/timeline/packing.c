/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/packing.h"

#include "base/mem.h"
#include "base/wide.h"
#include "derive/facts.h"

#define SPARSE_PART 12

/* The queues of a process. */
struct queues {
    osc_wide busy_ns;
    uint32_t n_sparse, first;
};

/* Count the frames of each track, and add up the ranges of queues to BUSY_NS, by track. */
static void add_ranges(const struct osc_trace *t, struct osc_packing *p, osc_wide *busy_ns)
{
    const struct osc_classes *const classes = &osc_trace_facts(t)->classes;

    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (!osc_is_range(classes, c, i))
                continue;
            p->n_frames[c->track[i]] += c->kind[i] == OSC_KIND_PYTHON;
            busy_ns[c->track[i]] += c->dur_ns[i];
        }
    }
}

static void pack(const struct osc_trace *t, struct osc_packing *p, const osc_wide *busy_ns,
                 struct queues *of)
{
    for (uint32_t k = 1; k < t->n_tracks; k++)
        if (t->tracks[k].is_queue)
            of[t->tracks[k].process].busy_ns += busy_ns[k];
    for (uint32_t k = 1; k < t->n_tracks; k++) {
        struct queues *const q = &of[t->tracks[k].process];

        if (!t->tracks[k].is_queue || busy_ns[k] * SPARSE_PART >= q->busy_ns)
            continue;
        q->n_sparse++;
        if (q->first == 0)
            q->first = k;
        p->first[k] = q->first;
    }
    for (uint32_t k = 1; k < t->n_tracks; k++) {
        if (of[t->tracks[k].process].n_sparse <= OSC_PACKING_QUEUES)
            p->first[k] = 0;
        p->n_packed += p->first[k] != 0;
    }
}

osc_status osc_packing_find(const struct osc_trace *t, struct osc_packing *p)
{
    osc_wide *const busy_ns = osc_calloc(t->n_tracks + (size_t)1, sizeof *busy_ns);
    struct queues *const of = osc_calloc(t->n_processes + (size_t)1, sizeof *of);
    osc_status st = OSC_ENOMEM;

    *p = (struct osc_packing){
        .first = osc_calloc(t->n_tracks + (size_t)1, sizeof *p->first),
        .n_frames = osc_calloc(t->n_tracks + (size_t)1, sizeof *p->n_frames),
    };
    if (busy_ns && of && p->first && p->n_frames) {
        add_ranges(t, p, busy_ns);
        pack(t, p, busy_ns, of);
        st = OSC_OK;
    } else {
        osc_packing_fini(p);
    }
    osc_free(busy_ns);
    osc_free(of);
    return st;
}

void osc_packing_fini(struct osc_packing *p)
{
    osc_free(p->first);
    osc_free(p->n_frames);
    *p = (struct osc_packing){0};
}
