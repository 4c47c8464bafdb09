/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `memory_peaks`: when a device held the most memory, and what was live then.
 */
#include "analysis/table_registry.h"

#include "analysis/memory/memory_view.h"
#include "analysis/table_columns.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"
#include "derive/args.h"

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
    N_COLUMNS
};

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
};

/* What the operators with one name hold. */
struct holder {
    uint32_t label; /* osc_sid in labels */
    uint32_t first; /* its first live allocation */
    osc_wide bytes;
    uint64_t count;
};

struct work {
    struct osc_memory_view v;
    struct osc_intern labels; /* entry i is holder i - 1 */
    struct osc_arena arena;
    struct holder *holders; /* owned */
    size_t n_holders, cap_holders;
    struct osc_strbuf text; /* scratch */
};

/* One argument of record K; false if it has none. */
static bool arg_of(const struct osc_memory_view *v, uint32_t k, enum osc_arg_key key,
                   int64_t *value)
{
    const osc_row row = {v->a->records[k].row};

    return osc_args_int(v->t, osc_chunk_of(&v->t->events, row), osc_row_place(row), key, value);
}

/* The first record of RANGE with the largest total; false if none has a total. */
static bool find_peak(const struct osc_memory_view *v, struct osc_memory_range range,
                      uint32_t *peak)
{
    int64_t most = 0, total;
    bool is_any = false;

    for (uint32_t k = range.begin; k < range.end; k++) {
        if (!arg_of(v, k, OSC_ARG_KEY_TOTAL_ALLOCATED, &total) || (is_any && total <= most) ||
            !osc_memory_view_wants(v, k))
            continue;
        most = total;
        *peak = k;
        is_any = true;
    }
    return is_any;
}

/* The last record of RANGE before AFTER that has a total. */
static bool find_last(const struct osc_memory_view *v, struct osc_memory_range range,
                      uint32_t after, uint32_t *at)
{
    int64_t total;

    for (uint32_t k = range.end < after ? range.end : after; k > range.begin; k--) {
        if (!arg_of(v, k - 1, OSC_ARG_KEY_TOTAL_ALLOCATED, &total) ||
            !osc_memory_view_wants(v, k - 1))
            continue;
        *at = k - 1;
        return true;
    }
    return false;
}

/* Find what each operator holds on D after record AT. */
static osc_status find_holders(struct work *w, const struct osc_memory_device *d, uint32_t at)
{
    w->n_holders = 0;
    osc_intern_fini(&w->labels);
    for (uint32_t k = d->first; k <= at; k++) {
        osc_sid label;

        if (!osc_allocation_is_live(w->v.a, k, at))
            continue;
        const osc_status st =
            osc_intern_add(&w->labels, osc_memory_view_operator(&w->v, k), &label);
        if (st != OSC_OK)
            return st;
        /* The empty name has number 0, whenever it is found. */
        while (label.v >= w->n_holders) {
            if (osc_grow(&w->holders, &w->cap_holders, w->n_holders + 1, sizeof *w->holders) !=
                OSC_OK)
                return OSC_ENOMEM;
            w->holders[w->n_holders] = (struct holder){.label = (uint32_t)w->n_holders};
            w->n_holders++;
        }
        if (w->holders[label.v].count == 0)
            w->holders[label.v].first = k;
        w->holders[label.v].bytes += w->v.a->records[k].bytes;
        w->holders[label.v].count++;
    }
    if (w->n_holders > 0 && w->holders[0].count == 0)
        w->holders[0] = w->holders[--w->n_holders];
    return OSC_OK;
}

/* Most bytes first; of equals, the first seen. */
static int compare_holders(const void *pa, const void *pb)
{
    const struct holder *const a = pa, *const b = pb;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->first > b->first) - (a->first < b->first);
}

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
    struct holder all = {0}, others = {0};

    if (w->n_holders > 0)
        osc_sort(w->holders, w->n_holders, sizeof *w->holders, compare_holders);
    osc_strbuf_clear(&w->text);
    osc_strbuf_addc(&w->text, '[');
    for (size_t i = 0; i < w->n_holders; i++) {
        const struct holder *const h = &w->holders[i];

        if (i < LISTED) {
            add_entry(&w->text, osc_intern_str(&w->labels, (osc_sid){h->label}), h->bytes,
                      h->count);
        } else {
            others.bytes += h->bytes;
            others.count += h->count;
        }
        all.bytes += h->bytes;
        all.count += h->count;
    }
    if (others.count > 0)
        add_entry(&w->text, OSC_STR("(others)"), others.bytes, others.count);
    osc_strbuf_addc(&w->text, ']');
    osc_result_int(out, LIVE, osc_wide_nearest(all.bytes));
    osc_result_int(out, LIVE_COUNT, (int64_t)all.count);
    if (w->text.status == OSC_OK)
        osc_result_str(out, AT_PEAK, (struct osc_str){w->text.s, (uint32_t)w->text.len});
    else
        out->status = w->text.status;
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
                             const struct osc_options *o, struct osc_result *out)
{
    const struct osc_memory_range range = osc_memory_view_range(&w->v, d);
    uint32_t at = 0;
    int64_t bytes = 0;
    const bool is_any =
        o->has_at ? find_last(&w->v, range, osc_allocations_after(w->v.a, d, w->v.at_ns), &at)
                  : find_peak(&w->v, range, &at);

    if (!is_any)
        return OSC_OK;
    const osc_status st = find_holders(w, d, at);
    if (st != OSC_OK)
        return st;
    osc_result_row(out);
    osc_memory_view_add_process(&w->v, d, out, PROCESS);
    osc_result_str(out, DEVICE, osc_str_c(d->name));
    if (arg_of(&w->v, at, OSC_ARG_KEY_TOTAL_ALLOCATED, &bytes))
        osc_result_int(out, PEAK, bytes);
    osc_result_int(out, PEAK_NS, w->v.a->records[at].time_ns - w->v.t->origin_ns);
    add_capacity(w, d, out);
    if (arg_of(&w->v, at, OSC_ARG_KEY_TOTAL_RESERVED, &bytes))
        osc_result_int(out, RESERVED, bytes);
    add_holders(w, out);
    return out->status;
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct work w = {0};
    osc_status st = osc_memory_view_init(&w.v, t, o, err);

    if (st == OSC_EINVAL)
        return st;
    w.labels.arena = &w.arena;
    w.labels.seed = osc_hash_seed();
    for (uint32_t d = 0; st == OSC_OK && d < w.v.a->n_devices; d++)
        st = add_device(&w, &w.v.a->devices[d], o, out);
    if (st == OSC_OK) {
        osc_memory_view_show_process(&w.v, out, PROCESS);
        osc_memory_view_note(&w.v, out);
        osc_memory_view_note_totals(&w.v, out, "peak");
        st = out->status;
    }
    osc_free(w.holders);
    osc_intern_fini(&w.labels);
    osc_arena_fini(&w.arena);
    osc_strbuf_fini(&w.text);
    osc_memory_view_fini(&w.v);
    return st == OSC_OK ? st : osc_fail(err, st, "memory_peaks: %s", osc_status_text(st));
}

/* See table_columns.h. */
const uint32_t osc_column_memory_peaks_device = DEVICE,
               osc_column_memory_peaks_peak_bytes = PEAK,
               osc_column_memory_peaks_peak_ns = PEAK_NS,
               osc_column_memory_peaks_capacity_bytes = CAPACITY,
               osc_column_memory_peaks_live_count = LIVE_COUNT;

const struct osc_table_def osc_table_memory_peaks = {
    .name = "memory_peaks",
    .help = "When each device held the most memory, and what was alive then.",
    .source = "records of memory: what the allocator counted itself, their sizes and "
              "addresses; the memory of the devices.",
    .rules = OSC_RULE_MEMORY,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .facts = OSC_FACT_ALLOCATIONS | OSC_FACT_STEPS,
    .takes = OSC_TAKES_SELECTION | OSC_TAKES_AT,
    .map = map,
};
