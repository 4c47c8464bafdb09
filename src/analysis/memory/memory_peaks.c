/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `memory_peaks`: when a device held the most memory, and what was live then.
 */
#include "analysis/table_registry.h"

#include "analysis/memory/categories.h"
#include "analysis/memory/holders.h"
#include "analysis/shared_options.h"
#include "analysis/table_columns.h"
#include "codec/json.h"

/* Operators listed in at_peak; the others are one entry together. */
#define LISTED 10

enum {
    PROCESS,
    PROCESS_NAME,
    DEVICE,
    PEAK,
    PEAK_NS,
    CAPACITY,
    RESERVED,
    LIVE,
    LIVE_COUNT,
    AT_PEAK,
    PARAMETER, /* and the other categories, in their order */
    GRADIENT,
    OPTIMIZER_STATE,
    ACTIVATION,
    INPUT,
    TEMPORARY,
    AUTOGRAD_DETAIL,
    UNCATEGORIZED,
    N_COLUMNS
};

#define CATEGORY(id, name, help)                                       \
    OSC_COLUMN(id, name, INTEGER, "bytes", FIRST, OSC_COLUMN_OPTIONAL, \
               OSC_RULE_PAIRS | OSC_RULE_CATEGORIES, help)

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(PROCESS, "process", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_NAMES,
               "Process of the allocator, as the file names it."),
    OSC_COLUMN(PROCESS_NAME, "process_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_NAMES, "Name of that process, from the metadata of the file."),
    OSC_COLUMN(DEVICE, "device", STRING, NULL, FIRST, 0, OSC_RULE_DEVICES,
               "Whose memory: cpu, cuda:0, xpu:0 and so on, as its records say."),
    OSC_COLUMN(
        PEAK, "peak_bytes", INTEGER, "bytes", FIRST, 0, OSC_RULE_MEMORY,
        "Most memory in use after any record: the largest count of the allocator. With --at: "
        "memory in use at that time. What happens between records is not known."),
    OSC_COLUMN(PEAK_NS, "peak_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT,
               OSC_RULE_MEMORY | OSC_RULE_TIME,
               "First time at which that was in use, from the origin of all files. With --at: "
               "time of the last record up to then."),
    OSC_COLUMN(CAPACITY, "capacity_bytes", INTEGER, "bytes", FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_DEVICES,
               "Memory of the device, as the trace says; missing for the CPU."),
    OSC_COLUMN(RESERVED, "reserved_bytes", INTEGER, "bytes", FIRST, 0, OSC_RULE_MEMORY,
               "Memory that the allocator held at that time, in use or not. What exceeds "
               "peak_bytes is cached, or lost to fragmentation."),
    OSC_COLUMN(LIVE, "live_bytes", INTEGER, "bytes", FIRST, 0, OSC_RULE_PAIRS,
               "Sum of the allocations of the trace that were alive at that time. The rest of "
               "peak_bytes was allocated before the recording, or where it does not see."),
    OSC_COLUMN(LIVE_COUNT, "live_count", INTEGER, NULL, FIRST, 0, OSC_RULE_PAIRS,
               "Number of these allocations."),
    OSC_COLUMN(
        AT_PEAK, "at_peak", STRING, NULL, FIRST, OSC_COLUMN_LONG,
        OSC_RULE_PAIRS | OSC_RULE_MEMORY,
        "What was alive at that time, by operator (as in memory_events), the largest first: a "
        "JSON array of objects with operator, bytes and count. Operators beyond ten share one "
        "entry. memory_events --at peak_ns lists the single allocations."),
    CATEGORY(
        PARAMETER, "parameter_bytes",
        "Of live_bytes: parameters. Present, as those below, if the recording tells the data "
        "flow."),
    CATEGORY(GRADIENT, "gradient_bytes", "Of live_bytes: gradients of parameters."),
    CATEGORY(OPTIMIZER_STATE, "optimizer_state_bytes",
             "Of live_bytes: what optimizers keep for their parameters, such as momentum."),
    CATEGORY(ACTIVATION, "activation_bytes",
             "Of live_bytes: what the forward pass made of inputs and parameters."),
    CATEGORY(INPUT, "input_bytes", "Of live_bytes: inputs of the forward pass."),
    CATEGORY(TEMPORARY, "temporary_bytes",
             "Of live_bytes: what one operator allocates and releases again."),
    CATEGORY(AUTOGRAD_DETAIL, "autograd_detail_bytes",
             "Of live_bytes: what the backward pass made besides gradients of parameters."),
    CATEGORY(UNCATEGORIZED, "uncategorized_bytes",
             "Of live_bytes: the rest, for which the rules give no category."),
};

struct work {
    struct osc_memory_view v;
    struct osc_memory_categories categories;
    struct osc_holders holders;
    struct osc_strbuf text; /* scratch */
};

static void add_entry(struct osc_strbuf *out, struct osc_str label, osc_wide bytes,
                      uint64_t count)
{
    osc_strbuf_adds(out, out->len > 1 ? ", " : "");
    osc_strbuf_adds(out, "{\"operator\": ");
    osc_json_quote(out, label);
    osc_strbuf_addf(out, ", \"bytes\": %lld, \"count\": %llu}",
                    (long long)osc_wide_nearest(bytes), (unsigned long long)count);
}

static void add_holders(struct work *w, struct osc_result *out)
{
    osc_wide other_bytes = 0;
    uint64_t other_count = 0;

    osc_strbuf_clear(&w->text);
    osc_strbuf_addc(&w->text, '[');
    for (size_t i = 0; i < w->holders.n; i++) {
        const struct osc_holder *const h = &w->holders.all[i];

        if (i < LISTED) {
            add_entry(&w->text, osc_holder_operator(&w->holders, h), h->bytes, h->count);
        } else {
            other_bytes += h->bytes;
            other_count += h->count;
        }
    }
    if (other_count > 0)
        add_entry(&w->text, OSC_STR("(others)"), other_bytes, other_count);
    osc_strbuf_addc(&w->text, ']');
    osc_result_int(out, LIVE, osc_wide_nearest(w->holders.bytes));
    osc_result_int(out, LIVE_COUNT, (int64_t)w->holders.count);
    if (w->text.status == OSC_OK)
        osc_result_str(out, AT_PEAK, (struct osc_str){w->text.s, (uint32_t)w->text.len});
    else
        out->status = w->text.status;
}

/* Write what was live on D after record AT, by category, if there are any. */
static void add_categories(const struct work *w, const struct osc_memory_device *d, uint32_t at,
                           struct osc_result *out)
{
    const struct osc_allocations *const a = w->v.a;
    osc_wide bytes[OSC_CATEGORY_COUNT] = {0};

    if (!w->categories.of_version)
        return;
    for (uint32_t k = d->first; k <= at; k++) {
        if (osc_allocation_is_live(a, k, at))
            bytes[osc_memory_category_at(&w->categories, k, a->records[at].time_ns)] +=
                a->records[k].bytes;
    }
    for (uint32_t i = 0; i < OSC_CATEGORY_COUNT; i++) {
        const uint32_t column =
            i == OSC_CATEGORY_NONE ? UNCATEGORIZED : PARAMETER + i - OSC_CATEGORY_PARAMETER;

        osc_result_int(out, column, osc_wide_nearest(bytes[i]));
        osc_result_show(out, column);
    }
}

/* The file describes devices with numbers, not the host. */
static void add_capacity(const struct work *w, const struct osc_memory_device *d,
                         struct osc_result *out)
{
    const struct osc_device *const known =
        d->type > 0 && d->id >= 0 ? osc_trace_device(w->v.t, osc_str_c(d->name), d->id) : NULL;

    if (!known || known->limits.memory_bytes < 0)
        return;
    osc_result_int(out, CAPACITY, known->limits.memory_bytes);
    osc_result_show(out, CAPACITY);
}

static osc_status add_device(struct work *w, const struct osc_memory_device *d,
                             struct osc_result *out)
{
    uint32_t at;
    int64_t bytes = 0;

    if (!(w->v.has_at ? osc_memory_view_last(&w->v, d, true, &at)
                      : osc_memory_view_peak(&w->v, d, &at)))
        return OSC_OK;
    const osc_status st = osc_holders_find(&w->holders, d, at);
    if (st != OSC_OK)
        return st;
    osc_result_row(out);
    osc_memory_view_add_process(&w->v, d, out, PROCESS);
    osc_result_str(out, DEVICE, osc_str_c(d->name));
    if (osc_memory_view_arg(&w->v, at, OSC_ARG_KEY_TOTAL_ALLOCATED, &bytes))
        osc_result_int(out, PEAK, bytes);
    osc_result_int(out, PEAK_NS, w->v.a->records[at].time_ns - w->v.t->origin_ns);
    add_capacity(w, d, out);
    if (osc_memory_view_arg(&w->v, at, OSC_ARG_KEY_TOTAL_RESERVED, &bytes))
        osc_result_int(out, RESERVED, bytes);
    add_holders(w, out);
    add_categories(w, d, at, out);
    return out->status;
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct work w = {0};
    osc_status st = osc_memory_view_init(&w.v, t, o, err);

    if (st == OSC_EINVAL)
        return st;
    osc_holders_init(&w.holders, &w.v);
    w.holders.by_op = true;
    if (st == OSC_OK)
        st = osc_memory_categories_make(t, w.v.f, &w.categories);
    for (uint32_t d = 0; st == OSC_OK && d < w.v.a->n_devices; d++)
        st = add_device(&w, &w.v.a->devices[d], out);
    if (st == OSC_OK) {
        osc_memory_view_show_process(&w.v, out, PROCESS);
        osc_memory_view_note(&w.v, out);
        osc_memory_view_note_totals(&w.v, out, "peak");
        st = out->status;
    }
    osc_holders_fini(&w.holders);
    osc_strbuf_fini(&w.text);
    osc_memory_categories_fini(&w.categories);
    osc_memory_view_fini(&w.v);
    return st == OSC_OK ? st : osc_fail(err, st, "memory_peaks: %s", osc_status_text(st));
}

/* See table_columns.h. */
const uint32_t osc_column_memory_peaks_device = DEVICE,
               osc_column_memory_peaks_peak_bytes = PEAK,
               osc_column_memory_peaks_peak_ns = PEAK_NS,
               osc_column_memory_peaks_capacity_bytes = CAPACITY,
               osc_column_memory_peaks_live_count = LIVE_COUNT;

static const struct osc_table_option *const options[] = {&osc_option_at, NULL};

const struct osc_table_def osc_table_memory_peaks = {
    .name = "memory_peaks",
    .help = "When each device held the most memory, and what was alive then.",
    .source = "records of memory: what the allocator counted itself, their sizes and "
              "addresses; the memory of the devices.",
    .rules = OSC_RULE_MEMORY,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_ALLOCATIONS | OSC_FACT_STEPS, .selects_itself = true,
             .map = map),
};
