/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `memory_events`: each allocation with its release, and records without a counterpart.
 */
#include "analysis/table_registry.h"

#include <string.h>

#include "analysis/memory/categories.h"
#include "analysis/memory/memory_view.h"
#include "analysis/shared_options.h"
#include "base/mem.h"
#include "base/sort.h"

enum {
    PROCESS,
    PROCESS_NAME,
    DEVICE,
    OPERATOR,
    MODULE,
    STEP,
    BYTES,
    ALLOC,
    FREE,
    DUR,
    NOTE,
    CATEGORY,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(PROCESS, "process", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_NAMES,
               "Process that allocated, as the file names it."),
    OSC_COLUMN(PROCESS_NAME, "process_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_NAMES, "Name of that process, from the metadata of the file."),
    OSC_COLUMN(DEVICE, "device", STRING, NULL, FIRST, 0, OSC_RULE_DEVICES,
               "Whose memory: cpu, cuda:0, xpu:0 and so on, as its records say; unknown if "
               "what they say makes no sense."),
    OSC_COLUMN(OPERATOR, "operator", STRING, NULL, FIRST, 0, OSC_RULE_MEMORY,
               "Innermost operator of its thread that was running at the allocation. For "
               "aten::empty and the like, the operator around it, which wanted the memory, "
               "stands before the name. (none) if there is no operator or no allocation."),
    OSC_COLUMN(MODULE, "module", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_MEMORY,
               "Innermost nn.Module of its thread that was running at the allocation: its "
               "attribute_path (see modules) if that was recorded, else its name."),
    OSC_COLUMN(STEP, "step", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_STEPS,
               "Number of the step of the allocation, from 0; of the release if no allocation "
               "is known."),
    OSC_COLUMN(BYTES, "bytes", INTEGER, "bytes", FIRST, 0, OSC_RULE_MEMORY,
               "Size as recorded: argument Bytes, for a release without its sign."),
    OSC_COLUMN(
        ALLOC, "alloc_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT,
        OSC_RULE_PAIRS | OSC_RULE_TIME,
        "Time of the allocation, from the origin; missing if the trace does not have it."),
    OSC_COLUMN(FREE, "free_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT,
               OSC_RULE_PAIRS | OSC_RULE_TIME,
               "Time of the release: the next one of the same process, device and address "
               "(argument Addr); missing if the trace does not have it."),
    OSC_COLUMN(DUR, "dur_ns", INTEGER, "ns", FIRST, 0, OSC_RULE_PAIRS, "free_ns - alloc_ns."),
    OSC_COLUMN(NOTE, "note", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_PAIRS,
               "What does not fit: the address was allocated again although no release was "
               "recorded, the release has another size, or there is no address to pair by."),
    OSC_COLUMN(CATEGORY, "category", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_CATEGORIES,
               "What the memory was for: parameter, gradient, optimizer_state, activation, "
               "input, temporary or autograd_detail. Missing if the rules give none. If it "
               "changed, the first one; with --at that of the time."),
};

/* The rows of the table: allocations, and releases without one. There may be as many as
 * records, so a row is only the index of its first record. */
struct lines {
    const struct osc_allocation_record *records; /* borrowed */
    uint32_t *all;                               /* owned */
    size_t n, cap;
    size_t *runs; /* owned; where each ascending run begins */
    size_t n_runs, cap_runs;
};

/* Whether record A comes before record B. */
static bool is_before(const struct lines *lines, uint32_t a, uint32_t b)
{
    const struct osc_allocation_record *const x = &lines->records[a];
    const struct osc_allocation_record *const y = &lines->records[b];

    return x->time_ns != y->time_ns ? x->time_ns < y->time_ns : x->row < y->row;
}

static int compare_lines(const void *pa, const void *pb, void *lines)
{
    const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

    return is_before(lines, b, a) - is_before(lines, a, b);
}

static osc_status add_line(struct lines *lines, uint32_t k)
{
    if (osc_grow(&lines->all, &lines->cap, lines->n + 1, sizeof *lines->all) != OSC_OK)
        return OSC_ENOMEM;
    if (lines->n == 0 || is_before(lines, k, lines->all[lines->n - 1])) {
        if (osc_grow(&lines->runs, &lines->cap_runs, lines->n_runs + 1, sizeof *lines->runs) !=
            OSC_OK)
            return OSC_ENOMEM;
        lines->runs[lines->n_runs++] = lines->n;
    }
    lines->all[lines->n++] = k;
    return OSC_OK;
}

/* Merge the sorted lines [BEGIN, MIDDLE) and [MIDDLE, END) into OUT. */
static void merge(const struct lines *lines, size_t begin, size_t middle, size_t end,
                  uint32_t *out)
{
    const uint32_t *const all = lines->all;
    size_t a = begin, b = middle;

    out += begin;
    while (a < middle && b < end)
        *out++ = is_before(lines, all[b], all[a]) ? all[b++] : all[a++];
    memcpy(out, all + a, (middle - a) * sizeof *all);
    memcpy(out + (middle - a), all + b, (end - b) * sizeof *all);
}

/* Merge pairs of runs until one is left; usually there is one run per device. */
static void put_in_order(struct lines *lines)
{
    uint32_t *room = lines->n_runs > 1 ? osc_malloc(lines->n * sizeof *room) : NULL;

    if (lines->n_runs > 1 && !room) {
        osc_sort_with(lines->all, lines->n, sizeof *lines->all, compare_lines, lines);
        return;
    }
    while (lines->n_runs > 1) {
        uint32_t *const all = lines->all;
        const size_t n_runs = lines->n_runs;

        for (size_t i = 0; i < n_runs; i += 2) {
            const size_t begin = lines->runs[i];
            const size_t middle = i + 1 < n_runs ? lines->runs[i + 1] : lines->n;
            const size_t end = i + 2 < n_runs ? lines->runs[i + 2] : lines->n;

            merge(lines, begin, middle, end, room);
            lines->runs[i / 2] = begin;
        }
        lines->n_runs = (n_runs + 1) / 2;
        lines->all = room;
        room = all;
    }
    osc_free(room);
}

/* The allocation that release K ended, or K itself. */
static uint32_t start_of(const struct osc_allocations *a, uint32_t k)
{
    const struct osc_allocation_record *const r = &a->records[k];

    return r->bytes <= 0 && r->other != 0 ? r->other - 1 : k;
}

/* Collect the lines of DEVICE: each allocation once, if either end is selected. */
static osc_status collect(struct lines *lines, const struct osc_memory_view *v, uint32_t device)
{
    const struct osc_memory_range range = osc_memory_view_range(v, &v->a->devices[device]);
    osc_status st = OSC_OK;

    for (uint32_t k = range.begin; k < range.end && st == OSC_OK; k++) {
        const uint32_t start = start_of(v->a, k);

        if (osc_memory_view_wants(v, k) && (start == k || !osc_memory_view_has(v, start)))
            st = add_line(lines, start);
    }
    return st;
}

/* Collect the selected allocations of DEVICE that are live after AT_NS. */
static osc_status collect_live(struct lines *lines, const struct osc_memory_view *v,
                               uint32_t device, int64_t at_ns)
{
    const struct osc_memory_device *const d = &v->a->devices[device];
    const struct osc_memory_range range = osc_memory_view_range(v, d);
    const uint32_t end = osc_allocations_after(v->a, d, at_ns);
    osc_status st = OSC_OK;

    for (uint32_t k = range.begin; k < range.end && k < end && st == OSC_OK; k++) {
        if (osc_allocation_is_live(v->a, k, end - 1) && osc_memory_view_wants(v, k))
            st = add_line(lines, k);
    }
    return st;
}

static const char *note_of(const struct osc_memory_view *v, const struct osc_memory_device *d,
                           uint32_t k)
{
    const struct osc_allocation_record *const r = &v->a->records[k];
    const osc_row row = {r->row};
    uint64_t address;

    if (!v->a->has_addresses)
        return NULL; /* the same for all; a note of the table says so */
    if (r->other != 0) {
        const int64_t other = v->a->records[r->other - 1].bytes;

        if (other > 0)
            return "its address was allocated again, its release is not recorded";
        return other != -r->bytes ? "its release says another size" : NULL;
    }
    if (d->is_unknown)
        return "not paired: its device is unknown";
    return osc_allocation_address(v->t, osc_chunk_of(&v->t->events, row), osc_row_place(row),
                                  &address)
               ? NULL
               : "not paired: it has no address";
}

static void add_times(const struct osc_memory_view *v, const struct osc_allocation_record *r,
                      struct osc_result *out)
{
    const struct osc_allocation_record *const end =
        r->other == 0 ? NULL : &v->a->records[r->other - 1];

    if (r->bytes <= 0) {
        osc_result_int(out, FREE, r->time_ns - v->t->origin_ns);
        return;
    }
    osc_result_int(out, ALLOC, r->time_ns - v->t->origin_ns);
    if (!end || end->bytes > 0)
        return;
    osc_result_int(out, FREE, end->time_ns - v->t->origin_ns);
    osc_result_int(out, DUR, end->time_ns - r->time_ns);
}

/* Add a row for record K. BEFORE is the device of the previous row, or NULL. Returns that of
 * this one. */
static const struct osc_memory_device *add_row(struct osc_memory_view *v,
                                               const struct osc_memory_device *before,
                                               uint32_t k, struct osc_result *out)
{
    const struct osc_memory_device *const d = osc_allocations_device(v->a, k);
    const struct osc_allocation_record *const r = &v->a->records[k];
    const osc_row row = {r->row};
    const uint32_t step = osc_chunk_of(&v->t->events, row)->step[osc_row_place(row)];
    const osc_sid module = r->bytes > 0 ? osc_memory_view_module(v, k) : (osc_sid){0};
    const char *const note = note_of(v, d, k);

    osc_result_row(out);
    if (d == before) {
        osc_result_str_again(out, PROCESS);
        if (osc_memory_view_process_name(v, d).len > 0)
            osc_result_str_again(out, PROCESS_NAME);
        osc_result_str_again(out, DEVICE);
    } else {
        osc_memory_view_add_process(v, d, out, PROCESS);
        osc_result_str(out, DEVICE, osc_str_c(d->name));
    }
    osc_result_str(out, OPERATOR, osc_memory_view_operator(v, k));
    if (module.v != 0) {
        osc_result_str(out, MODULE, osc_trace_str(v->t, module));
        osc_result_show(out, MODULE);
    }
    if (step != 0) {
        osc_result_int(out, STEP, v->t->steps[step - 1].ordinal);
        osc_result_show(out, STEP);
    }
    osc_result_int(out, BYTES, r->bytes < 0 ? -r->bytes : r->bytes);
    add_times(v, r, out);
    if (note) {
        osc_result_str(out, NOTE, osc_str_c(note));
        osc_result_show(out, NOTE);
    }
    return d;
}

/* Write to the last row what allocation K was for. */
static void add_category(const struct osc_memory_view *v, const struct osc_memory_categories *c,
                         uint32_t k, bool has_at, struct osc_result *out)
{
    const char *const word = osc_memory_category_word(
        has_at ? osc_memory_category_at(c, k, v->at_ns) : osc_memory_category_of(c, k));

    if (!word)
        return;
    osc_result_str(out, CATEGORY, osc_str_c(word));
    osc_result_show(out, CATEGORY);
}

/* Note how many rows have no end, or no start. */
static void note_unpaired(const struct osc_memory_view *v, const struct lines *lines,
                          struct osc_result *out)
{
    size_t n_kept = 0, n_released = 0;

    for (size_t i = 0; i < lines->n; i++) {
        const struct osc_allocation_record *const r = &v->a->records[lines->all[i]];

        n_kept += r->bytes > 0 && r->other == 0;
        n_released += r->bytes <= 0;
    }
    if (!v->a->has_addresses && lines->n > 0) {
        osc_result_note(out, "the records have no addresses, which PyTorch before 1.10 did not "
                             "write: nothing is paired");
        return;
    }
    if (n_kept > 0)
        osc_result_note(out, "%zu allocations have no release in the trace", n_kept);
    if (n_released > 0)
        osc_result_note(out, "%zu releases have no allocation in the trace", n_released);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct osc_memory_view v;
    struct lines lines = {0};
    struct osc_memory_categories categories = {0};
    osc_status st = osc_memory_view_init(&v, t, o, err);

    if (st == OSC_EINVAL)
        return st;
    if (st == OSC_OK)
        lines.records = v.a->records;
    for (uint32_t d = 0; st == OSC_OK && d < v.a->n_devices; d++)
        st = v.has_at ? collect_live(&lines, &v, d, v.at_ns) : collect(&lines, &v, d);
    if (st == OSC_OK)
        st = osc_memory_categories_make(t, v.f, &categories);
    if (st == OSC_OK) {
        put_in_order(&lines);
        const struct osc_memory_device *device = NULL;
        for (size_t i = 0; i < lines.n && out->status == OSC_OK; i++) {
            device = add_row(&v, device, lines.all[i], out);
            add_category(&v, &categories, lines.all[i], v.has_at, out);
        }
        osc_memory_view_show_process(&v, out, PROCESS);
        osc_memory_view_note(&v, out);
        note_unpaired(&v, &lines, out);
        st = out->status;
    }
    osc_free(lines.all);
    osc_free(lines.runs);
    osc_memory_categories_fini(&categories);
    osc_memory_view_fini(&v);
    return st == OSC_OK ? st : osc_fail(err, st, "memory_events: %s", osc_status_text(st));
}

static const struct osc_table_option *const options[] = {&osc_option_at, NULL};

const struct osc_table_def osc_table_memory_events = {
    .name = "memory_events",
    .help = "Allocations with their releases, and what has no counterpart.",
    .source = "records of memory: their sizes, devices and addresses; what ran around them.",
    .rules = OSC_RULE_PAIRS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_ALLOCATIONS | OSC_FACT_STEPS, .selects_itself = true,
             .map = map),
};
