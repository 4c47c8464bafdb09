/* SPDX-License-Identifier: Apache-2.0 */
/* `gaps`: when queues of devices had nothing to do, between which work, and what the host did.
 */
#include "analysis/table_registry.h"
#include "analysis/tracks.h"
#include "base/mem.h"
#include "base/name_sums.h"
#include "derive/facts.h"

enum { DEVICE, QUEUE, START, DUR, BEFORE, AFTER, THREAD, MEANWHILE, MEANWHILE_NS, N_COLUMNS };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(DEVICE, "device", STRING, NULL, FIRST, 0, OSC_RULE_DEVICES,
               "Device of the queue, such as cuda:0 or xpu:0."),
    OSC_COLUMN(QUEUE, "queue", STRING, NULL, FIRST, 0, 0,
               "The queue (stream): tid of its events in the file."),
    OSC_COLUMN(START, "start_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT, OSC_RULE_TIME,
               "Start of the gap, from the origin of all files: the latest end of the earlier "
               "work of the queue."),
    OSC_COLUMN(DUR, "dur_ns", INTEGER, "ns", FIRST, 0, 0,
               "Length of the gap: from start_ns to the start of the next work of the queue."),
    OSC_COLUMN(
        BEFORE, "before", STRING, NULL, FIRST, OSC_COLUMN_SYMBOL, 0,
        "Name of the work that ended at start_ns; of several, the one that began first."),
    OSC_COLUMN(AFTER, "after", STRING, NULL, FIRST, OSC_COLUMN_SYMBOL, 0,
               "Name of the work that ends the gap."),
    OSC_COLUMN(THREAD, "thread", STRING, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_LINKS,
               "Host thread that launched `after`. Missing if the launch is not in the trace."),
    OSC_COLUMN(
        MEANWHILE, "meanwhile", STRING, NULL, FIRST, 0, OSC_RULE_FOREST,
        "What that thread did in the gap: the name whose ranges have the most time of it "
        "that is not inside of ranges below them; of several, the first. Counted are the "
        "range that began last before the gap, then those around it from inside out, then "
        "all that begin in the gap. Missing if none ran."),
    OSC_COLUMN(MEANWHILE_NS, "meanwhile_ns", INTEGER, "ns", FIRST, 0, OSC_RULE_FOREST,
               "How much of the gap the ranges of `meanwhile` have."),
};

/* A gap of a queue. */
struct gap {
    int64_t start_ns, end_ns;
    uint32_t before, after; /* osc_row of the work on both sides */
};

static const struct osc_chunk *chunk_of(const struct osc_trace *t, uint32_t row, uint32_t *i)
{
    *i = osc_row_place((osc_row){row});
    return osc_chunk_of(&t->events, (osc_row){row});
}

/* Add to SUMS what the range in ROW has of GAP, and take it from the range around it. What
 * lasts as long as the gap leaves nothing to those around it, which are not looked at. */
static osc_status add_range(const struct osc_trace *t, uint32_t row, const struct gap *gap,
                            struct osc_name_sums *sums)
{
    uint32_t i, p;
    const struct osc_chunk *const c = chunk_of(t, row, &i);
    const int64_t start_ns = c->ts_ns[i] > gap->start_ns ? c->ts_ns[i] : gap->start_ns;
    const int64_t end_ns = osc_row_end(c, i) < gap->end_ns ? osc_row_end(c, i) : gap->end_ns;

    if (end_ns <= start_ns)
        return OSC_OK;
    const osc_status st = osc_name_sums_add(sums, (osc_sid){c->name[i]}, end_ns - start_ns);
    const bool is_all = c->ts_ns[i] < gap->start_ns && osc_row_end(c, i) >= gap->end_ns;
    if (st != OSC_OK || c->parent[i] == 0 || is_all)
        return st;
    const struct osc_chunk *const around = chunk_of(t, c->parent[i], &p);
    return osc_name_sums_add(sums, (osc_sid){around->name[p]}, start_ns - end_ns);
}

/* Add the range in ROW, which began before GAP, and those around it up to one that lasts as
 * long as the gap. */
static osc_status add_stack(const struct osc_trace *t, uint32_t row, const struct gap *gap,
                            struct osc_name_sums *sums)
{
    osc_status st = OSC_OK;
    bool is_covered = false;
    uint32_t i;

    while (row != 0 && !is_covered && st == OSC_OK) {
        const struct osc_chunk *const c = chunk_of(t, row, &i);

        st = add_range(t, row, gap, sums);
        is_covered = osc_row_end(c, i) >= gap->end_ns;
        row = c->parent[i];
    }
    return st;
}

/* Say in the last row of OUT what TRACK, a host thread, did in GAP. */
static osc_status add_meanwhile(const struct osc_trace *t, uint32_t track,
                                const struct gap *gap, uint32_t *hint, struct osc_result *out)
{
    const struct osc_order *const order = &osc_trace_facts(t)->order;
    uint32_t i, at = osc_order_find(t, order, track, gap->start_ns, hint);
    struct osc_name_sums sums = {0};
    osc_status st = OSC_OK;

    if (at > order->first[track])
        st = add_stack(t, order->rows[at - 1], gap, &sums);
    for (; at < order->first[track + 1] && st == OSC_OK; at++) {
        const struct osc_chunk *const c = chunk_of(t, order->rows[at], &i);

        if (c->ts_ns[i] >= gap->end_ns)
            break;
        st = add_range(t, order->rows[at], gap, &sums);
    }
    const struct osc_name_sum top = osc_name_sums_top(&sums);
    if (st == OSC_OK && top.ns > 0) {
        osc_result_str(out, MEANWHILE, osc_trace_str(t, top.name));
        osc_result_int(out, MEANWHILE_NS, top.ns);
    }
    osc_name_sums_fini(&sums);
    return st;
}

static osc_status add_gap(const struct osc_trace *t, uint32_t queue, const struct gap *gap,
                          uint32_t *hints, struct osc_result *out)
{
    uint32_t a, b, i;
    const struct osc_chunk *const before = chunk_of(t, gap->before, &b);
    const struct osc_chunk *const after = chunk_of(t, gap->after, &a);
    const uint32_t call = after->link[a];

    osc_result_row(out);
    osc_result_str(out, DEVICE, osc_trace_str(t, t->tracks[queue].device));
    osc_result_str(out, QUEUE, osc_trace_str(t, t->tracks[queue].tid));
    osc_result_int(out, START, gap->start_ns - t->origin_ns);
    osc_result_int(out, DUR, gap->end_ns - gap->start_ns);
    osc_result_str(out, BEFORE, osc_row_name(t, before, b));
    osc_result_str(out, AFTER, osc_row_name(t, after, a));
    if (call == 0)
        return out->status;
    const uint32_t thread = chunk_of(t, call, &i)->track[i];
    osc_result_str(out, THREAD, osc_trace_str(t, t->tracks[thread].tid));
    const osc_status st = add_meanwhile(t, thread, gap, &hints[thread], out);
    return st == OSC_OK ? out->status : st;
}

/* Add the gaps of QUEUE. HINTS has one for each track, see osc_order_find(). */
static osc_status add_queue(const struct osc_trace *t, uint32_t queue, uint32_t *hints,
                            struct osc_result *out)
{
    const struct osc_order *const order = &osc_trace_facts(t)->order;
    struct gap gap = {.before = 0};
    osc_status st = OSC_OK;
    uint32_t i;

    for (uint32_t at = order->first[queue]; at < order->first[queue + 1] && st == OSC_OK;
         at++) {
        const struct osc_chunk *const c = chunk_of(t, order->rows[at], &i);

        if (!osc_kind_is_device_work((enum osc_kind)c->kind[i]))
            continue;
        gap.end_ns = c->ts_ns[i];
        gap.after = order->rows[at];
        if (gap.before != 0 && gap.end_ns > gap.start_ns)
            st = add_gap(t, queue, &gap, hints, out);
        if (gap.before == 0 || osc_row_end(c, i) > gap.start_ns) {
            gap.start_ns = osc_row_end(c, i);
            gap.before = order->rows[at];
        }
    }
    return st;
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    uint32_t *const hints = osc_calloc(t->n_tracks + (size_t)1, sizeof *hints);
    uint32_t *queues = NULL, n = 0;
    osc_status st = hints ? osc_tracks_in_order(t, &queues, &n) : OSC_ENOMEM;

    (void)o;
    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        if (t->tracks[queues[i]].is_queue)
            st = osc_mem_is_cancelled() ? OSC_ECANCELED : add_queue(t, queues[i], hints, out);
    }
    osc_free(queues);
    osc_free(hints);
    if (out->n_rows == 0)
        osc_result_why_empty(out, "no gaps: no queue has two works with time between them");
    return st == OSC_OK ? out->status : osc_fail(err, st, "gaps: %s", osc_status_text(st));
}

const struct osc_table_def osc_table_gaps = {
    .name = "gaps",
    .help = "Each time in which a queue of a device had nothing to do, between which work, and "
            "what the host did meanwhile.",
    .source = "device work of each queue, and the ranges of the thread that launched it.",
    .columns = columns,
    .n_columns = N_COLUMNS,
    .rules = OSC_RULE_LINKS,
    .sorted_by = DUR + 1,
    OSC_MAPS(.facts = OSC_FACT_LINKS | OSC_FACT_FOREST, .map = map),
};
