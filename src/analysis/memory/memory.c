/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `memory`: what operators allocate and release, by device. A release counts where it happens,
 * which is rarely where the allocation was made.
 */
#include "analysis/table_registry.h"

#include <string.h>

#include "analysis/memory/memory_view.h"
#include "analysis/shared_options.h"
#include "base/mem.h"
#include "base/sort.h"

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
    OSC_COLUMN(DEVICE, "device", STRING, NULL, KEY, 0, OSC_RULE_DEVICES,
               "Whose memory: cpu, cuda:0, xpu:0 and so on, as its records say; unknown if "
               "what they say makes no sense."),
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, 0, OSC_RULE_MEMORY,
               "Operator: the innermost one of its thread that was running when a record was "
               "made; (none) for records that no operator contains."),
    OSC_COLUMN(CALLS, "calls", INTEGER, NULL, SUM, 0, OSC_RULE_MEMORY,
               "Number of calls of operators of that name. In a selection: of those that start "
               "in it or contain one of its records. Missing for (none)."),
    OSC_COLUMN(INCREASE, "increase_bytes", INTEGER, "bytes", SUM, 0, OSC_RULE_MEMORY,
               "Sum of argument Bytes of the records of the operator and of the operators that "
               "it called; releases are negative. An operator that calls itself counts twice."),
    OSC_COLUMN(SELF_INCREASE, "self_increase_bytes", INTEGER, "bytes", SUM, 0, OSC_RULE_MEMORY,
               "Sum of argument Bytes of the operator's own records. Releases count where they "
               "happen, so operators do not add up to zero."),
    OSC_COLUMN(ALLOC_COUNT, "alloc_count", INTEGER, NULL, SUM, OSC_COLUMN_MINOR,
               OSC_RULE_MEMORY,
               "Number of allocations (Bytes above 0) of the operator and of the operators "
               "that it called."),
    OSC_COLUMN(SELF_ALLOC_COUNT, "self_alloc_count", INTEGER, NULL, SUM, OSC_COLUMN_MINOR,
               OSC_RULE_MEMORY, "Number of its own allocations."),
    OSC_COLUMN(ALLOC_BYTES, "alloc_bytes", INTEGER, "bytes", SUM, 0, OSC_RULE_MEMORY,
               "Sum of the sizes of the allocations of the operator and of the operators that "
               "it called."),
    OSC_COLUMN(SELF_ALLOC_BYTES, "self_alloc_bytes", INTEGER, "bytes", SUM, 0, OSC_RULE_MEMORY,
               "Sum of the sizes of its own allocations."),
};

struct sums {
    osc_wide increase, alloc_bytes;
    uint64_t alloc_count;
};

/* Where an operator was first seen: at a record, with this many operators around it. */
struct sight {
    int64_t time_ns;
    uint32_t row;
    uint32_t depth; /* 0: not seen */
};

/* Records of the current device made under one chain of operators, or one name. */
struct tally {
    struct sight first;
    struct sums self, total;
};

struct group {
    struct tally tally;
    uint64_t n_calls;
    bool is_shown; /* on some device */
};

/* A row of the table; its calls are counted last. */
struct line {
    uint32_t device; /* index in devices */
    uint32_t group;  /* index in groups + 1, or 0: (none) */
    struct sums self, total;
};

/* Places [begin, end) of a track. */
struct stretch {
    uint32_t begin, end;
};

struct work {
    struct osc_memory_view v;
    const struct osc_callers *c;
    struct tally *tallies;     /* owned; by chain - 1 */
    uint32_t *seen;            /* owned; chains seen on the current device */
    struct group *groups;      /* owned; by index of the name in c->names */
    uint32_t *on_device;       /* owned; groups seen on the current device */
    struct stretch *stretches; /* owned; by track: nodes that start in the selected time */
    uint64_t *asked;           /* owned; bit per node - 1: visited by add_callers() */
    struct line *lines;        /* owned */
    size_t n_seen, n_on_device, n_lines, cap_lines;
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

static bool is_earlier(const struct sight *a, const struct sight *b)
{
    if (b->depth == 0 || a->time_ns != b->time_ns)
        return b->depth == 0 || a->time_ns < b->time_ns;
    return a->row != b->row ? a->row < b->row : a->depth < b->depth;
}

/* The tally of CHAIN; if it is new, list it and the chains above it. */
static struct tally *find_tally(struct work *w, uint32_t chain)
{
    struct tally *const found = &w->tallies[chain - 1];

    for (; chain != 0 && w->tallies[chain - 1].first.depth == 0;
         chain = w->c->chains[chain - 1].above) {
        /* Later than any record. */
        w->tallies[chain - 1].first =
            (struct sight){INT64_MAX, UINT32_MAX, w->c->chains[chain - 1].depth};
        w->seen[w->n_seen++] = chain;
    }
    return found;
}

/*
 * Operators around record K count as calls even if they start outside the selection. Each node
 * is visited once: if it was visited, so were all above it.
 */
static void add_callers(struct work *w, uint32_t k)
{
    const struct osc_memory_view *const v = &w->v;
    uint32_t node = v->a->records[k].node;

    for (uint32_t chain = w->c->chain_of[k]; chain != 0; node = v->f->tree.parent[node - 1]) {
        uint64_t *const asked = &w->asked[(node - 1) / 64];
        const uint64_t bit = UINT64_C(1) << (node - 1) % 64;

        if (*asked & bit)
            return;
        *asked |= bit;
        if (!(v->f->tree.flags[node - 1] & OSC_NODE_ROW))
            continue;
        const osc_row row = {v->f->order.rows[node - 1]};
        if (!osc_filter_wants(&v->filter, osc_chunk_of(&v->t->events, row), osc_row_place(row)))
            w->groups[w->c->chains[chain - 1].name].n_calls++;
        chain = w->c->chains[chain - 1].above;
    }
}

/* Add the selected records of D to their chains, or to NONE. */
static void add_records(struct work *w, const struct osc_memory_device *d, struct sums *none)
{
    const struct osc_memory_range range = osc_memory_view_range(&w->v, d);

    for (uint32_t k = range.begin; k < range.end; k++) {
        const struct osc_allocation_record *const r = &w->v.a->records[k];
        const uint32_t chain = w->c->chain_of[k];
        const bool is_allocation = r->bytes > 0;
        const struct sums one = {r->bytes, is_allocation ? r->bytes : 0, is_allocation};

        if (!osc_memory_view_wants(&w->v, k))
            continue;
        if (chain == 0) {
            add(none, &one);
            continue;
        }
        struct tally *const to = find_tally(w, chain);
        const struct sight here = {r->time_ns, r->row, to->first.depth};
        if (is_earlier(&here, &to->first))
            to->first = here;
        add(&to->self, &one);
        if (w->asked)
            add_callers(w, k);
    }
}

static int compare_chains(const void *pa, const void *pb)
{
    const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

    return (a < b) - (a > b);
}

/* Add the chains that were seen to the chains above and to their names; then reset them. */
static void add_to_groups(struct work *w)
{
    /* A chain above has a smaller number. */
    if (w->n_seen > 0)
        osc_sort(w->seen, w->n_seen, sizeof *w->seen, compare_chains);
    w->n_on_device = 0;
    for (size_t i = 0; i < w->n_seen; i++) {
        const struct osc_chain *const chain = &w->c->chains[w->seen[i] - 1];
        struct tally *const from = &w->tallies[w->seen[i] - 1];
        struct group *const g = &w->groups[chain->name];

        add(&from->total, &from->self);
        if (chain->above != 0) {
            struct tally *const above = &w->tallies[chain->above - 1];
            const struct sight first = {from->first.time_ns, from->first.row,
                                        above->first.depth};

            add(&above->total, &from->total);
            if (is_earlier(&first, &above->first))
                above->first = first;
        }
        if (g->tally.first.depth == 0)
            w->on_device[w->n_on_device++] = chain->name;
        if (is_earlier(&from->first, &g->tally.first))
            g->tally.first = from->first;
        add(&g->tally.self, &from->self);
        add(&g->tally.total, &from->total);
        *from = (struct tally){.first = {0, 0, 0}};
    }
    w->n_seen = 0;
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

/* Sort operators by their first record; outer ones first. */
static int compare_groups(const void *pa, const void *pb, void *ctx)
{
    const struct group *const groups = ctx;
    const struct sight *const a = &groups[*(const uint32_t *)pa].tally.first;
    const struct sight *const b = &groups[*(const uint32_t *)pb].tally.first;

    return is_earlier(b, a) - is_earlier(a, b);
}

/* Turn the groups of DEVICE into lines, and reset them. */
static osc_status flush_groups(struct work *w, uint32_t device)
{
    osc_status st = OSC_OK;

    if (w->n_on_device > 0)
        osc_sort_with(w->on_device, w->n_on_device, sizeof *w->on_device, compare_groups,
                      w->groups);
    for (size_t i = 0; i < w->n_on_device && st == OSC_OK; i++) {
        struct group *const g = &w->groups[w->on_device[i]];
        const struct line line = {device, w->on_device[i] + 1, g->tally.self, g->tally.total};

        st = add_line(w, &line);
        g->is_shown = true;
        g->tally = (struct tally){.first = {0, 0, 0}};
    }
    return st;
}

/* Whether an earlier device, of another process, has the same name as number DEVICE. */
static bool is_repeated(const struct osc_allocations *a, uint32_t device)
{
    for (uint32_t d = 0; d < device; d++) {
        if (strcmp(a->devices[d].name, a->devices[device].name) == 0)
            return true;
    }
    return false;
}

/* Add device number DEVICE with those of other processes that have the same name. */
static osc_status add_device(struct work *w, uint32_t device)
{
    const struct osc_allocations *const a = w->v.a;
    struct line none = {.device = device};

    if (is_repeated(a, device))
        return OSC_OK;
    for (uint32_t d = device; d < a->n_devices; d++) {
        if (strcmp(a->devices[d].name, a->devices[device].name) == 0)
            add_records(w, &a->devices[d], &none.self);
    }
    add_to_groups(w);
    const osc_status st = flush_groups(w, device);
    none.total = none.self;
    return st == OSC_OK ? add_line(w, &none) : st;
}

/* Find the nodes that start in the selected time. */
static void find_stretches(struct work *w)
{
    const struct osc_order *const o = &w->v.f->order;

    for (uint32_t k = 0; k < w->v.t->n_tracks; k++) {
        struct stretch s = {o->first[k], o->first[k + 1]};
        uint32_t hint = 0;

        if (w->v.from_ns != INT64_MIN)
            s.begin = osc_order_find(w->v.t, o, k, w->v.from_ns, &hint);
        if (w->v.to_ns != INT64_MAX)
            s.end = osc_order_find(w->v.t, o, k, w->v.to_ns, &hint);
        w->stretches[k] = s;
    }
}

/* Count the calls of NAME that start in the selection. */
static uint64_t count_calls(const struct work *w, const struct osc_caller_name *name)
{
    const struct osc_memory_view *const v = &w->v;
    uint64_t n = 0;

    if (!v->filter.t)
        return name->n;
    /* Also one by one if there are more threads than calls. */
    if (v->has_rest || name->n / 16 < v->t->n_tracks) {
        for (uint32_t i = 0; i < name->n; i++) {
            const osc_row row = {v->f->order.rows[w->c->calls[name->first + i]]};

            n += osc_filter_wants(&v->filter, osc_chunk_of(&v->t->events, row),
                                  osc_row_place(row));
        }
        return n;
    }
    for (uint32_t k = 0; k < v->t->n_tracks; k++)
        n += osc_callers_count(w->c, name, w->stretches[k].begin, w->stretches[k].end);
    return n;
}

/* Allocate arrays for the chains and names of T. */
static osc_status make_room(struct work *w, const struct osc_trace *t)
{
    w->c = &w->v.f->callers;
    w->tallies = osc_calloc((size_t)w->c->n_chains + 1, sizeof *w->tallies);
    w->seen = osc_calloc((size_t)w->c->n_chains + 1, sizeof *w->seen);
    w->groups = osc_calloc((size_t)w->c->n_names + 1, sizeof *w->groups);
    w->on_device = osc_calloc((size_t)w->c->n_names + 1, sizeof *w->on_device);
    w->stretches = osc_calloc((size_t)t->n_tracks + 1, sizeof *w->stretches);
    if (!w->tallies || !w->seen || !w->groups || !w->on_device || !w->stretches)
        return OSC_ENOMEM;
    if (w->v.filter.t) {
        w->asked = osc_calloc((size_t)w->v.f->order.n_rows / 64 + 1, sizeof *w->asked);
        find_stretches(w);
    }
    return w->v.filter.t && !w->asked ? OSC_ENOMEM : OSC_OK;
}

static void add_row(const struct work *w, const struct line *line, struct osc_result *out)
{
    const struct group *const g = line->group == 0 ? NULL : &w->groups[line->group - 1];

    osc_result_row(out);
    osc_result_str(out, DEVICE, osc_str_c(w->v.a->devices[line->device].name));
    osc_result_str(out, NAME,
                   g ? osc_trace_str(w->v.t, w->c->names[line->group - 1].name)
                     : OSC_STR("(none)"));
    if (g)
        osc_result_int(out, CALLS, (int64_t)g->n_calls);
    osc_result_int(out, INCREASE, osc_wide_nearest(line->total.increase));
    osc_result_int(out, SELF_INCREASE, osc_wide_nearest(line->self.increase));
    osc_result_int(out, ALLOC_COUNT, (int64_t)line->total.alloc_count);
    osc_result_int(out, SELF_ALLOC_COUNT, (int64_t)line->self.alloc_count);
    osc_result_int(out, ALLOC_BYTES, osc_wide_nearest(line->total.alloc_bytes));
    osc_result_int(out, SELF_ALLOC_BYTES, osc_wide_nearest(line->self.alloc_bytes));
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct work w = {0};
    osc_status st = osc_memory_view_init(&w.v, t, o, err);

    if (st == OSC_EINVAL)
        return st;
    if (st == OSC_OK)
        st = make_room(&w, t);
    for (uint32_t d = 0; st == OSC_OK && d < w.v.a->n_devices; d++)
        st = add_device(&w, d);
    if (st == OSC_OK) {
        for (uint32_t i = 0; i < w.c->n_names; i++) {
            if (w.groups[i].is_shown)
                w.groups[i].n_calls += count_calls(&w, &w.c->names[i]);
        }
        for (size_t i = 0; i < w.n_lines; i++)
            add_row(&w, &w.lines[i], out);
        osc_memory_view_note(&w.v, out);
        st = out->status;
    }
    osc_free(w.tallies);
    osc_free(w.seen);
    osc_free(w.groups);
    osc_free(w.on_device);
    osc_free(w.stretches);
    osc_free(w.asked);
    osc_free(w.lines);
    osc_memory_view_fini(&w.v);
    return st == OSC_OK ? st : osc_fail(err, st, "memory: %s", osc_status_text(st));
}

const struct osc_table_def osc_table_memory = {
    .name = "memory",
    .help = "What operators allocate and release, by device.",
    .source =
        "records of memory: their sizes, devices and addresses; the operators around them.",
    .rules = OSC_RULE_MEMORY,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sort_words = &osc_torch_words,
    .sorted_by = SELF_INCREASE + 1,
    OSC_MAPS(.facts = OSC_FACT_CALLERS | OSC_FACT_STEPS, .selects_itself = true, .map = map),
};
