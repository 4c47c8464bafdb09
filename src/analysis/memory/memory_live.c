/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `memory_live`: what was alive at one moment, summed by operator, module or size.
 */
#include "analysis/table_registry.h"

#include "analysis/memory/holders.h"
#include "analysis/shared_options.h"

enum {
    PROCESS,
    PROCESS_NAME,
    DEVICE,
    AT,
    OPERATOR,
    MODULE,
    BLOCK,
    BYTES,
    RATIO,
    COUNT,
    MAX,
    OLDEST,
    N_COLUMNS
};

/* What rows can be grouped by. */
enum { BY_OPERATOR, BY_MODULE, BY_SIZE };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(PROCESS, "process", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_NAMES,
               "Process of the allocator, as the file names it."),
    OSC_COLUMN(PROCESS_NAME, "process_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_NAMES, "Name of that process, from the metadata of the file."),
    OSC_COLUMN(DEVICE, "device", STRING, NULL, FIRST, 0, OSC_RULE_DEVICES,
               "Whose memory: cpu, cuda:0, xpu:0 and so on, as its records say."),
    OSC_COLUMN(AT, "at_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT,
               OSC_RULE_MEMORY | OSC_RULE_TIME,
               "When the allocations were alive, from the origin: at the peak of the device "
               "(peak_ns of memory_peaks); with --at the time of the last record up to then."),
    OSC_COLUMN(OPERATOR, "operator", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_MEMORY,
               "Operator that was running at the allocations, as in memory_events. Present "
               "without --group-by, too.",
               .grouping = "op"),
    OSC_COLUMN(MODULE, "module", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_MEMORY,
               "Innermost nn.Module that was running at the allocations, as in memory_events; "
               "missing if there was none. Present with --group-by module.",
               .grouping = "module"),
    OSC_COLUMN(BLOCK, "block_bytes", INTEGER, "bytes", FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_MEMORY, "Size of each allocation. Present with --group-by size.",
               .grouping = "size"),
    OSC_COLUMN(BYTES, "bytes", INTEGER, "bytes", FIRST, 0, OSC_RULE_PAIRS,
               "Sum of the allocations that were alive."),
    OSC_COLUMN(RATIO, "ratio", NUMBER, "ratio", FIRST, 0, OSC_RULE_PAIRS,
               "bytes / live_bytes of memory_peaks: the share of all that was alive on the "
               "device."),
    OSC_COLUMN(COUNT, "count", INTEGER, NULL, FIRST, 0, OSC_RULE_PAIRS,
               "Number of these allocations."),
    OSC_COLUMN(MAX, "max_bytes", INTEGER, "bytes", FIRST, 0, OSC_RULE_MEMORY,
               "Size of the largest one."),
    OSC_COLUMN(OLDEST, "oldest_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT,
               OSC_RULE_MEMORY | OSC_RULE_TIME,
               "Time of the first of these allocations, from the origin."),
};

static void add_row(const struct osc_holders *h, const struct osc_memory_device *d, uint32_t at,
                    const struct osc_holder *holder, struct osc_result *out)
{
    const struct osc_trace *const t = h->v->t;

    osc_result_row(out);
    osc_memory_view_add_process(h->v, d, out, PROCESS);
    osc_result_str(out, DEVICE, osc_str_c(d->name));
    osc_result_int(out, AT, h->v->a->records[at].time_ns - t->origin_ns);
    if (h->by_op)
        osc_result_str(out, OPERATOR, osc_holder_operator(h, holder));
    if (h->by_module && holder->module.v != 0)
        osc_result_str(out, MODULE, osc_trace_str(t, holder->module));
    if (h->by_size)
        osc_result_int(out, BLOCK, holder->block_bytes);
    osc_result_int(out, BYTES, osc_wide_nearest(holder->bytes));
    osc_result_num(out, RATIO, (double)holder->bytes / (double)h->bytes);
    osc_result_int(out, COUNT, (int64_t)holder->count);
    osc_result_int(out, MAX, holder->max_bytes);
    osc_result_int(out, OLDEST, h->v->a->records[holder->first].time_ns - t->origin_ns);
}

/* Add the rows of D, and set *IS_ANY if there is a moment to look at. */
static osc_status add_device(struct osc_holders *h, const struct osc_memory_device *d,
                             bool has_at, struct osc_result *out, bool *is_any)
{
    uint32_t at;

    if (!(has_at ? osc_memory_view_last(h->v, d, false, &at)
                 : osc_memory_view_peak(h->v, d, &at)))
        return OSC_OK;
    *is_any = true;
    const osc_status st = osc_holders_find(h, d, at);
    if (st != OSC_OK)
        return st;
    for (size_t i = 0; i < h->n; i++)
        add_row(h, d, at, &h->all[i], out);
    return out->status;
}

static void show_columns(const struct osc_holders *h, struct osc_result *out)
{
    if (h->by_op)
        osc_result_show(out, OPERATOR);
    if (h->by_module)
        osc_result_show(out, MODULE);
    if (h->by_size)
        osc_result_show(out, BLOCK);
    osc_memory_view_show_process(h->v, out, PROCESS);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct osc_memory_view v;
    struct osc_holders h;
    bool is_any = false;
    osc_status st = osc_memory_view_init(&v, t, o, err);

    if (st == OSC_EINVAL)
        return st;
    osc_holders_init(&h, &v);
    h.by_module = osc_is_grouped(o, BY_MODULE);
    h.by_size = osc_is_grouped(o, BY_SIZE);
    h.by_op = osc_is_grouped(o, BY_OPERATOR) || !(h.by_module || h.by_size);
    for (uint32_t d = 0; st == OSC_OK && d < v.a->n_devices; d++)
        st = add_device(&h, &v.a->devices[d], v.has_at, out, &is_any);
    if (st == OSC_OK) {
        show_columns(&h, out);
        osc_memory_view_note(&v, out);
        if (is_any && out->n_rows == 0)
            osc_result_why_empty(out, "nothing was alive then that the trace saw allocated");
        else if (!v.has_at)
            osc_memory_view_note_totals(&v, out, "peak; give a time with --at");
        st = out->status;
    }
    osc_holders_fini(&h);
    osc_memory_view_fini(&v);
    return st == OSC_OK ? st : osc_fail(err, st, "memory_live: %s", osc_status_text(st));
}

static const char *const groupings[] = {
    [BY_OPERATOR] = "op", [BY_MODULE] = "module", [BY_SIZE] = "size", NULL};

static const struct osc_table_option *const options[] = {&osc_option_at, NULL};

const struct osc_table_def osc_table_memory_live = {
    .name = "memory_live",
    .help = "What was alive when each device held the most memory, or with --at at any other "
            "time, by operator, module or size.",
    .source = "records of memory: their sizes, devices and addresses; what ran around them.",
    .rules = OSC_RULE_PAIRS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sorted_by = BYTES + 1,
    .groupings = groupings,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_ALLOCATIONS | OSC_FACT_STEPS, .selects_itself = true,
             .map = map),
};
