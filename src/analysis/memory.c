/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `memory`: what operators allocate and release, by device (tensorboard-views.md,
 * 7.4). A release counts where it happens, which is rarely where the allocation did.
 */
#include "analysis/registry.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/memory_view.h"
#include "base/mem.h"

enum {
    DEVICE,
    NAME,
    CALLS,
    INCREASE,
    SELF_INCREASE,
    ALLOC_COUNT,
    SELF_ALLOC_COUNT,
    ALLOC_BYTES,
    SELF_ALLOC_BYTES,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    [DEVICE] = {"device", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0,
                "Whose memory: cpu, cuda:0 and so on, by the arguments Device Type and Device "
                "Id of the records; unknown where they say nothing that makes sense."},
    [NAME] = {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0,
              "The operator: the innermost one of its thread that was running when a record "
              "was made; (none) for the records that no operator holds."},
    [CALLS] = {"calls", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0,
               "How often operators of that name ran; in a selection those that start in it or "
               "that hold one of its records. Missing for (none)."},
    [INCREASE] = {"increase_bytes", OSC_TYPE_INTEGER, "bytes", OSC_MERGE_SUM, 0,
                  "Sum of argument Bytes of the records of the operator and of those that it "
                  "called, releases negative; one that calls itself counts twice."},
    [SELF_INCREASE] = {"self_increase_bytes", OSC_TYPE_INTEGER, "bytes", OSC_MERGE_SUM, 0,
                       "The same of its own records alone. Releases count where they happen, "
                       "so operators do not sum to zero."},
    [ALLOC_COUNT] = {"alloc_count", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0,
                     "Allocations (Bytes above 0) of it and of those that it called."},
    [SELF_ALLOC_COUNT] = {"self_alloc_count", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0,
                          "Allocations of its own."},
    [ALLOC_BYTES] = {"alloc_bytes", OSC_TYPE_INTEGER, "bytes", OSC_MERGE_SUM, 0,
                     "Sum of the sizes of allocations, of it and of those that it called."},
    [SELF_ALLOC_BYTES] = {"self_alloc_bytes", OSC_TYPE_INTEGER, "bytes", OSC_MERGE_SUM, 0,
                          "Sum of the sizes of its own allocations."},
};

struct sums {
    int64_t increase, alloc_bytes, alloc_count;
};

/* A node with records of the device at hand in it or below it. */
struct touched {
    uint32_t node;
    struct sums self, total;
};

/* Operators of one name: on the device at hand, and on any. */
struct group {
    osc_sid name;
    uint32_t first_row; /* of those on the device */
    struct sums self, total;
    uint64_t n_calls;
};

/* A row of the table; the count of calls comes last. */
struct line {
    uint32_t device; /* index in devices */
    uint32_t group;  /* index in groups + 1, or 0: (none) */
    struct sums self, total;
};

struct work {
    struct osc_memory_view v;
    struct touched *touched; /* owned */
    size_t n_touched, cap_touched;
    struct osc_idmap places; /* node -> index in touched + 1 */
    struct osc_idmap called; /* nodes that count as calls although not selected */
    struct group *groups;    /* owned; by name */
    size_t n_groups, cap_groups;
    uint32_t *group_of; /* owned; by osc_sid: group + 1 */
    struct line *lines; /* owned */
    size_t n_lines, cap_lines;
    uint32_t *on_device; /* owned; groups that the device at hand has */
    size_t n_on_device, cap_on_device;
};

static void add(struct sums *to, const struct sums *from)
{
    to->increase += from->increase;
    to->alloc_bytes += from->alloc_bytes;
    to->alloc_count += from->alloc_count;
}

static bool is_zero(const struct sums *s)
{
    return s->increase == 0 && s->alloc_bytes == 0 && s->alloc_count == 0;
}

/* The place of NODE in w->touched, made if it is new; NULL: out of memory. */
static struct touched *touch(struct work *w, uint32_t node)
{
    uint32_t *const place = osc_idmap_put(&w->places, node);

    if (!place)
        return NULL;
    if (*place == 0) {
        if (osc_grow(&w->touched, &w->cap_touched, w->n_touched + 1, sizeof *w->touched) !=
            OSC_OK)
            return NULL;
        w->touched[w->n_touched++] = (struct touched){.node = node};
        *place = (uint32_t)w->n_touched;
    }
    return &w->touched[*place - 1];
}

/* Give the selected records of D to their operators; NONE gets the others. */
static osc_status add_records(struct work *w, const struct osc_memory_device *d,
                              struct sums *none)
{
    const uint8_t *const flags = w->v.f->tree.flags;
    const struct osc_memory_range range = osc_memory_view_range(&w->v, d);

    for (uint32_t k = range.begin; k < range.end; k++) {
        const struct osc_allocation_record *const r = &w->v.a->records[k];
        struct sums one = {.increase = r->bytes};
        struct touched *at = NULL;

        if (!osc_memory_view_wants(&w->v, k))
            continue;
        if (r->bytes > 0) {
            one.alloc_bytes = r->bytes;
            one.alloc_count = 1;
        }
        if (r->node == 0 || !(flags[r->node - 1] & OSC_NODE_ROW)) {
            add(none, &one);
            continue;
        }
        at = touch(w, r->node);
        if (!at)
            return OSC_ENOMEM;
        add(&at->self, &one);
    }
    return OSC_OK;
}

static int compare_touched(const void *pa, const void *pb)
{
    const struct touched *const a = pa, *const b = pb;

    return (a->node < b->node) - (a->node > b->node);
}

/* Sum up from the leaves: parents stand before their children, so the last come first. */
static osc_status add_totals(struct work *w)
{
    const uint32_t *const parent = w->v.f->tree.parent;

    for (size_t i = 0; i < w->n_touched; i++) { /* grows while it is walked */
        const uint32_t above = parent[w->touched[i].node - 1];

        if (above != 0 && !touch(w, above))
            return OSC_ENOMEM;
    }
    if (w->n_touched > 0)
        qsort(w->touched, w->n_touched, sizeof *w->touched, compare_touched);
    for (size_t i = 0; i < w->n_touched; i++)
        *osc_idmap_put(&w->places, w->touched[i].node) = (uint32_t)i + 1; /* it is there */
    for (size_t i = 0; i < w->n_touched; i++) {
        const uint32_t above = parent[w->touched[i].node - 1];

        add(&w->touched[i].total, &w->touched[i].self);
        if (above != 0)
            add(&w->touched[osc_idmap_get(&w->places, above) - 1].total, &w->touched[i].total);
    }
    return OSC_OK;
}

/* The group of NAME; NULL: out of memory. */
static struct group *find_group(struct work *w, uint32_t name)
{
    uint32_t *const place = &w->group_of[name];

    if (*place == 0) {
        if (osc_grow(&w->groups, &w->cap_groups, w->n_groups + 1, sizeof *w->groups) != OSC_OK)
            return NULL;
        w->groups[w->n_groups++] = (struct group){.name = {name}};
        *place = (uint32_t)w->n_groups;
    }
    return &w->groups[*place - 1];
}

/* Add the operators that were touched to the groups of their names. */
static osc_status add_to_groups(struct work *w)
{
    w->n_on_device = 0;
    for (size_t i = 0; i < w->n_touched; i++) {
        const struct touched *const one = &w->touched[i];
        const osc_row row = {w->v.f->order.rows[one->node - 1]};
        const struct osc_chunk *const c = osc_chunk_of(&w->v.t->events, row);

        if (!(w->v.f->tree.flags[one->node - 1] & OSC_NODE_ROW))
            continue;
        struct group *const g = find_group(w, c->name[osc_row_place(row)]);
        if (!g)
            return OSC_ENOMEM;
        if (g->first_row == 0) {
            if (osc_grow(&w->on_device, &w->cap_on_device, w->n_on_device + 1,
                         sizeof *w->on_device) != OSC_OK)
                return OSC_ENOMEM;
            w->on_device[w->n_on_device++] = (uint32_t)(g - w->groups);
            g->first_row = row.v;
        }
        g->first_row = row.v < g->first_row ? row.v : g->first_row;
        add(&g->self, &one->self);
        add(&g->total, &one->total);
        if (w->v.filter.t && !osc_filter_wants(&w->v.filter, c, osc_row_place(row))) {
            uint32_t *const seen = osc_idmap_put(&w->called, one->node);

            if (!seen)
                return OSC_ENOMEM;
            g->n_calls += *seen == 0;
            *seen = 1;
        }
    }
    return OSC_OK;
}

static osc_status add_line(struct work *w, const struct line *line)
{
    if (is_zero(&line->self) && is_zero(&line->total))
        return OSC_OK;
    if (osc_grow(&w->lines, &w->cap_lines, w->n_lines + 1, sizeof *w->lines) != OSC_OK)
        return OSC_ENOMEM;
    w->lines[w->n_lines++] = *line;
    return OSC_OK;
}

/* Lines of one device by the first row of their operators. */
static int compare_groups(const void *pa, const void *pb, void *ctx)
{
    const struct group *const groups = ctx;
    const uint32_t a = groups[*(const uint32_t *)pa].first_row;
    const uint32_t b = groups[*(const uint32_t *)pb].first_row;

    return (a > b) - (a < b);
}

/* Turn what the groups have of DEVICE into lines, and forget it. */
static osc_status flush_groups(struct work *w, uint32_t device)
{
    osc_status st = OSC_OK;

    if (w->n_on_device > 0)
        qsort_r(w->on_device, w->n_on_device, sizeof *w->on_device, compare_groups, w->groups);
    for (size_t i = 0; i < w->n_on_device && st == OSC_OK; i++) {
        struct group *const g = &w->groups[w->on_device[i]];
        const struct line line = {device, w->on_device[i] + 1, g->self, g->total};

        st = add_line(w, &line);
        g->first_row = 0;
        g->self = g->total = (struct sums){0};
    }
    return st;
}

/* Whether a device before number DEVICE, of another process, has its name. */
static bool is_repeated(const struct osc_allocations *a, uint32_t device)
{
    for (uint32_t d = 0; d < device; d++) {
        if (strcmp(a->devices[d].name, a->devices[device].name) == 0)
            return true;
    }
    return false;
}

/* Device number DEVICE, with those of other processes that have its name. */
static osc_status add_device(struct work *w, uint32_t device)
{
    const struct osc_allocations *const a = w->v.a;
    struct line none = {.device = device};
    osc_status st = OSC_OK;

    if (is_repeated(a, device))
        return OSC_OK;
    w->n_touched = 0;
    osc_idmap_fini(&w->places);
    for (uint32_t d = device; d < a->n_devices && st == OSC_OK; d++) {
        if (strcmp(a->devices[d].name, a->devices[device].name) == 0)
            st = add_records(w, &a->devices[d], &none.self);
    }
    if (st == OSC_OK)
        st = add_totals(w);
    if (st == OSC_OK)
        st = add_to_groups(w);
    if (st == OSC_OK)
        st = flush_groups(w, device);
    none.total = none.self;
    return st == OSC_OK ? add_line(w, &none) : st;
}

/* The first place in [LOW, HIGH) of the order whose row starts at AT_NS or later. */
static uint32_t place_at(const struct work *w, uint32_t low, uint32_t high, int64_t at_ns)
{
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const osc_row row = {w->v.f->order.rows[middle]};

        if (osc_chunk_of(&w->v.t->events, row)->ts_ns[osc_row_place(row)] < at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Count the operators of the names at hand that start in the selection. */
static void count_calls(struct work *w)
{
    const struct osc_order *const order = &w->v.f->order;
    const uint8_t *const flags = w->v.f->tree.flags;

    for (uint32_t k = 0; k < w->v.t->n_tracks && w->n_groups > 0; k++) {
        uint32_t at = order->first[k], end = order->first[k + 1];

        if (w->v.from_ns != INT64_MIN)
            at = place_at(w, at, end, w->v.from_ns);
        if (w->v.to_ns != INT64_MAX)
            end = place_at(w, at, end, w->v.to_ns);
        for (; at < end; at++) {
            const osc_row row = {order->rows[at]};
            const struct osc_chunk *const c = osc_chunk_of(&w->v.t->events, row);
            const uint32_t i = osc_row_place(row);

            if (!(flags[at] & OSC_NODE_ROW))
                continue;
            const uint32_t group = w->group_of[c->name[i]];
            if (group != 0 && (!w->v.has_rest || osc_filter_wants(&w->v.filter, c, i)))
                w->groups[group - 1].n_calls++;
        }
    }
}

static void add_row(const struct work *w, const struct line *line, struct osc_result *out)
{
    const struct group *const g = line->group == 0 ? NULL : &w->groups[line->group - 1];

    osc_result_row(out);
    osc_result_str(out, DEVICE, osc_str_c(w->v.a->devices[line->device].name));
    osc_result_str(out, NAME, g ? osc_trace_str(w->v.t, g->name) : OSC_STR("(none)"));
    if (g)
        osc_result_int(out, CALLS, (int64_t)g->n_calls);
    osc_result_int(out, INCREASE, line->total.increase);
    osc_result_int(out, SELF_INCREASE, line->self.increase);
    osc_result_int(out, ALLOC_COUNT, line->total.alloc_count);
    osc_result_int(out, SELF_ALLOC_COUNT, line->self.alloc_count);
    osc_result_int(out, ALLOC_BYTES, line->total.alloc_bytes);
    osc_result_int(out, SELF_ALLOC_BYTES, line->self.alloc_bytes);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct work w = {0};
    osc_status st = osc_memory_view_init(&w.v, t, o, err);

    if (st == OSC_EINVAL)
        return st;
    if (st == OSC_OK) {
        w.group_of = osc_calloc(osc_strings_bound(&t->strings) + (size_t)1, sizeof *w.group_of);
        st = w.group_of ? OSC_OK : OSC_ENOMEM;
    }
    for (uint32_t d = 0; st == OSC_OK && d < w.v.a->n_devices; d++)
        st = add_device(&w, d);
    if (st == OSC_OK) {
        count_calls(&w);
        for (size_t i = 0; i < w.n_lines; i++)
            add_row(&w, &w.lines[i], out);
        osc_memory_view_note(&w.v, out);
        st = out->status;
    }
    osc_free(w.touched);
    osc_free(w.groups);
    osc_free(w.group_of);
    osc_free(w.lines);
    osc_free(w.on_device);
    osc_idmap_fini(&w.places);
    osc_idmap_fini(&w.called);
    osc_memory_view_fini(&w.v);
    return st == OSC_OK ? st : osc_fail(err, st, "memory: %s", osc_status_text(st));
}

const struct osc_table_def osc_table_memory = {
    .name = "memory",
    .help = "What operators allocate and release, by device.",
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sort = "self_increase_bytes",
    .facts = OSC_FACT_ALLOCATIONS | OSC_FACT_STEPS,
    .takes = OSC_TAKES_SELECTION,
    .map = map,
};
