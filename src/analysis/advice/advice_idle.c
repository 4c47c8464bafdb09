/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about why devices have nothing to do, each with the time of one cause of the split
 * (idle.h), so that together they have at most the time in which no device computes or copies.
 */
#include "analysis/advice/advice_list.h"

#include "analysis/advice/idle.h"
#include "analysis/advice/split_names.h"
#include "analysis/median.h"
#include "base/mem.h"

/* --- who ------------------------------------------------------------------- */

/* A call, or another range, within a range of the program. */
struct pair {
    osc_sid name, caller;
    int64_t ns;
};

/* Zeroed, it is empty. */
struct pairs {
    struct osc_idmap of; /* by name and caller: index + 1 */
    struct pair *v;      /* owned */
    size_t n, cap;
};

static osc_status add_pair(struct pairs *p, osc_sid name, osc_sid caller, int64_t ns)
{
    uint32_t *const place = osc_idmap_put(&p->of, (uint64_t)name.v << 32 | caller.v);

    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        if (osc_grow(&p->v, &p->cap, p->n + 1, sizeof *p->v) != OSC_OK)
            return OSC_ENOMEM;
        p->v[p->n++] = (struct pair){name, caller, 0};
        *place = (uint32_t)p->n;
    }
    p->v[*place - 1].ns += ns;
    return OSC_OK;
}

/* The name of the innermost range around row I of C that is no call and no announced step. */
static osc_sid caller_of(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i)
{
    osc_row row = {c->parent ? c->parent[i] : 0};

    while (row.v != 0) {
        const struct osc_chunk *const p = osc_chunk_of(&a->t->events, row);
        const uint32_t at = osc_row_place(row);

        if (!osc_kind_is_launch((enum osc_kind)p->kind[at]) &&
            (p->kind[at] != OSC_KIND_STEP || a->t->has_iterations))
            return (osc_sid){p->name[at]};
        row.v = p->parent[at];
    }
    return (osc_sid){0};
}

/* The nearest Python function around row I of C, as a row; 0: none. */
static osc_row function_around(const struct osc_advice_base *a, const struct osc_chunk *c,
                               uint32_t i)
{
    osc_row row = {c->parent ? c->parent[i] : 0};

    while (row.v != 0) {
        const struct osc_chunk *const p = osc_chunk_of(&a->t->events, row);
        const uint32_t at = osc_row_place(row);

        if (p->kind[at] == OSC_KIND_PYTHON || p->kind[at] == OSC_KIND_MODULE ||
            p->kind[at] == OSC_KIND_FRAME)
            break;
        row.v = p->parent[at];
    }
    return row;
}

/* The name of the operator that launched the work that ended GAP, or of the work itself. */
static osc_sid who_ended(const struct osc_advice_base *a, const struct osc_gap *gap)
{
    if (gap->work == 0)
        return (osc_sid){0};
    const struct osc_work *const work = &a->f->links.works[gap->work - 1];
    const osc_sid caller = osc_advice_operator_of(a, work->call);
    const osc_row row = {work->row};

    if (caller.v != 0)
        return caller;
    return (osc_sid){osc_chunk_of(&a->t->events, row)->name[osc_row_place(row)]};
}

/* --- rules ----------------------------------------------------------------- */

/* What the rules share. */
struct view {
    const struct osc_advice_base *a;
    const struct osc_idle_split *s;
    struct osc_ruler ruler; /* of the cause at hand */
};

static void set_stake(const struct view *v, enum osc_idle cause, struct osc_advice_item *item)
{
    item->impact_ns = item->part = v->s->ns[cause];
    item->whole = v->a->kept_ns;
    item->applies =
        item->impact_ns > v->a->kept_ns / OSC_ADVICE_MUCH && v->a->gaps_ns < v->a->kept_ns;
    item->more[0] = v->a->gaps_ns;
}

/* Sum the time of ranges of CAUSE by name and caller, and choose the pair with most. */
static osc_status name_ranges(const struct view *v, enum osc_idle cause,
                              struct osc_advice_item *item)
{
    const struct osc_trace *const t = v->a->t;
    struct pairs pairs = {0};
    const struct pair *top = NULL;
    uint32_t last = 0; /* the row that was counted last */
    osc_status st = OSC_OK;

    for (size_t n = 0; n < v->s->n_ranges && st == OSC_OK; n++) {
        const struct osc_idle_range *const r = &v->s->ranges[n];
        const osc_row row = {r->row};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t i = osc_row_place(row);

        if (r->cause != cause)
            continue;
        const int64_t ns = osc_ruler_length(&v->ruler, r->start_ns, r->end_ns);
        if (ns == 0)
            continue;
        item->count += r->row != last;
        last = r->row;
        item->has_nameless |= c->name[i] == 0;
        item->has_copies |= cause == OSC_IDLE_BLOCKED &&
                            osc_kind_is_launch((enum osc_kind)c->kind[i]) &&
                            !(v->a->f->classes.names[c->name[i]] & OSC_NAME_SYNC);
        st = osc_name_sums_add(&item->names, (osc_sid){c->name[i]}, ns);
        if (st == OSC_OK)
            st = add_pair(&pairs, (osc_sid){c->name[i]},
                          osc_kind_is_launch((enum osc_kind)c->kind[i]) ? caller_of(v->a, c, i)
                                                                        : (osc_sid){0},
                          ns);
    }
    for (size_t n = 0; n < pairs.n; n++)
        top = !top || pairs.v[n].ns > top->ns ? &pairs.v[n] : top;
    if (top) {
        item->subject = osc_trace_str(t, top->name);
        item->grew = top->caller.v != 0
                         ? osc_split_without_address(osc_trace_str(t, top->caller))
                         : (struct osc_str){0};
        item->more[1] = top->ns < item->impact_ns ? top->ns : item->impact_ns;
    }
    osc_idmap_fini(&pairs.of);
    osc_free(pairs.v);
    return st;
}

/* Sum the own time of Python functions by name, and choose the one with most. */
static osc_status name_functions(const struct view *v, struct osc_advice_item *item)
{
    const struct osc_trace *const t = v->a->t;
    struct osc_name_sums sums = {0};
    osc_status st = OSC_OK;

    for (size_t n = 0; n < v->s->n_ranges && st == OSC_OK; n++) {
        const struct osc_idle_range *const r = &v->s->ranges[n];
        const osc_row row = {r->row};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t i = osc_row_place(row);

        if (r->cause != OSC_IDLE_PYTHON)
            continue;
        const int64_t ns = osc_ruler_length(&v->ruler, r->start_ns, r->end_ns);
        const osc_row around = function_around(v->a, c, i);
        if (ns == 0)
            continue;
        item->count++;
        st = osc_name_sums_add(&sums, (osc_sid){c->name[i]}, ns);
        if (st == OSC_OK && around.v != 0)
            st = osc_name_sums_add(
                &sums, (osc_sid){osc_chunk_of(&t->events, around)->name[osc_row_place(around)]},
                -ns);
    }
    const struct osc_name_sum top = osc_name_sums_top(&sums);
    item->subject = osc_split_without_address(osc_trace_str(t, top.name));
    item->more[1] = top.ns < item->impact_ns ? top.ns : item->impact_ns;
    osc_name_sums_fini(&sums);
    return st;
}

/* Sum the parts of gaps by what ended them, and find the longest. Those that no work ended are
 * after the last work, and have no name. */
static osc_status name_gaps(const struct view *v, struct osc_advice_item *item)
{
    struct osc_name_sums enders = {0};
    int64_t longest_ns = 0, last_ns = 0;
    osc_status st = OSC_OK;

    for (size_t g = 0; g < v->a->n_gaps && st == OSC_OK; g++) {
        const struct osc_gap *const gap = &v->a->gaps[g];
        const int64_t ns = osc_ruler_length(&v->ruler, gap->start_ns, gap->end_ns);

        if (ns == 0)
            continue;
        item->count++;
        if (gap->work == 0)
            last_ns += ns;
        else
            st = osc_name_sums_add(&enders, who_ended(v->a, gap), ns);
        if (ns > longest_ns) {
            longest_ns = ns;
            item->from_ns = gap->start_ns;
            item->to_ns = gap->end_ns;
        }
    }
    const struct osc_name_sum top = osc_name_sums_top(&enders);
    const bool is_last = last_ns > top.ns;
    item->subject = is_last ? OSC_STR("") : osc_trace_str(v->a->t, top.name);
    item->more[1] = is_last ? last_ns : top.ns;
    item->more[2] = is_last;
    osc_name_sums_fini(&enders);
    return st;
}

/* Sum kernels of communication by the time that nothing hides, and choose the one with most;
 * count the steps that have any. */
static osc_status name_communication(const struct view *v, struct osc_advice_item *item)
{
    const struct osc_advice_base *const a = v->a;
    const struct osc_links *const links = &a->f->links;
    struct osc_name_sums sums = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < a->b->n_steps; i++)
        item->count +=
            a->b->steps[i].is_kept && a->b->steps[i].cost_ns[OSC_CLASS_COMMUNICATION] > 0;
    for (size_t n = 0; n < links->n_works && st == OSC_OK; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (c->kind[i] == OSC_KIND_KERNEL && osc_is_comm_kernel(&a->f->classes, c, i))
            st = osc_name_sums_add(&sums, (osc_sid){c->name[i]},
                                   osc_ruler_length(&v->ruler, c->ts_ns[i], osc_row_end(c, i)));
    }
    const struct osc_name_sum top = osc_name_sums_top(&sums);
    item->subject = osc_trace_str(a->t, top.name);
    item->more[1] = top.ns < item->impact_ns ? top.ns : item->impact_ns;
    osc_name_sums_fini(&sums);
    return st;
}

/* The lower median of V, which is reordered; 0: none. */
static int64_t lower_median(int64_t *v, size_t n)
{
    return n > 0 ? osc_select_kth(v, n, (n - 1) / 2) : 0;
}

/*
 * Collect the durations of the kernels of the kept steps and of their launches. Communication
 * is left out because it waits for others, graphs because one launch starts many kernels.
 */
static size_t collect_launches(const struct osc_advice_base *a, int64_t *kernels,
                               int64_t *calls)
{
    const struct osc_links *const links = &a->f->links;
    size_t n_kernels = 0;

    for (size_t n = 0; n < links->n_works; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (c->kind[i] != OSC_KIND_KERNEL || links->works[n].call == 0 ||
            osc_is_comm_kernel(&a->f->classes, c, i) || !osc_advice_is_kept(a, c, i))
            continue;
        const osc_row call = {links->calls[links->works[n].call - 1].row};
        const struct osc_chunk *const k = osc_chunk_of(&a->t->events, call);
        if (a->f->classes.names[k->name[osc_row_place(call)]] & OSC_NAME_GRAPH)
            continue;
        kernels[n_kernels] = c->dur_ns[i];
        calls[n_kernels++] = k->dur_ns[osc_row_place(call)];
    }
    return n_kernels;
}

/* Measure the median kernel and the median launch. */
static osc_status measure_launches(const struct view *v, struct osc_advice_item *item)
{
    const size_t n_works = v->a->f->links.n_works;
    int64_t *kernels = osc_malloc((n_works + 1) * sizeof *kernels);
    int64_t *calls = osc_malloc((n_works + 1) * sizeof *calls);

    if (kernels && calls) {
        const size_t n = collect_launches(v->a, kernels, calls);

        item->more[2] = lower_median(kernels, n);
        item->more[3] = lower_median(calls, n);
    }
    const osc_status st = kernels && calls ? OSC_OK : OSC_ENOMEM;
    osc_free(kernels);
    osc_free(calls);
    return st;
}

static osc_status name_launches(const struct view *v, struct osc_advice_item *item)
{
    const osc_status st = name_gaps(v, item);

    return st == OSC_OK ? measure_launches(v, item) : st;
}

static const enum osc_advice_code codes[OSC_IDLE_COUNT] = {
    [OSC_IDLE_COMMUNICATION] = OSC_ADVICE_COMMUNICATION,
    [OSC_IDLE_DATALOADER] = OSC_ADVICE_DATA_LOADING,
    [OSC_IDLE_BLOCKED] = OSC_ADVICE_SYNCHRONIZATION,
    [OSC_IDLE_ALLOCATOR] = OSC_ADVICE_ALLOCATOR,
    [OSC_IDLE_SLOW_CALL] = OSC_ADVICE_SLOW_CALL,
    [OSC_IDLE_OVERHEAD] = OSC_ADVICE_OVERHEAD,
    [OSC_IDLE_OPTIMIZER] = OSC_ADVICE_OPTIMIZER,
    [OSC_IDLE_LAUNCH] = OSC_ADVICE_LAUNCH_BOUND,
    [OSC_IDLE_PYTHON] = OSC_ADVICE_IDLE_PYTHON,
    [OSC_IDLE_UNRECORDED] = OSC_ADVICE_IDLE_UNRECORDED,
    [OSC_IDLE_HANDOVER] = OSC_ADVICE_HANDOVER,
    [OSC_IDLE_LATE] = OSC_ADVICE_LATE_START,
};

static osc_status name_cause(const struct view *v, enum osc_idle cause,
                             struct osc_advice_item *item)
{
    switch (cause) {
    case OSC_IDLE_COMMUNICATION:
        return name_communication(v, item);
    case OSC_IDLE_LAUNCH:
        return name_launches(v, item);
    case OSC_IDLE_UNRECORDED:
    case OSC_IDLE_HANDOVER:
    case OSC_IDLE_LATE:
        return name_gaps(v, item);
    case OSC_IDLE_PYTHON:
        return name_functions(v, item);
    case OSC_IDLE_DATALOADER:
    case OSC_IDLE_BLOCKED:
    case OSC_IDLE_ALLOCATOR:
    case OSC_IDLE_SLOW_CALL:
    case OSC_IDLE_OVERHEAD:
    case OSC_IDLE_OPTIMIZER:
    case OSC_IDLE_COUNT:
        break;
    }
    return name_ranges(v, cause, item);
}

osc_status osc_advice_idle_rules(const struct osc_advice_base *a, struct osc_advice_list *l)
{
    struct osc_idle_split s;
    struct view v = {.a = a, .s = &s};
    osc_status st = osc_idle_split_make(a, &s);

    for (unsigned k = 0; k < OSC_IDLE_COUNT && st == OSC_OK; k++) {
        struct osc_advice_item *const item = &l->of[codes[k]];

        set_stake(&v, (enum osc_idle)k, item);
        /* Another backend is the cause, and has the time. */
        if (k == OSC_IDLE_COMMUNICATION && l->of[OSC_ADVICE_BACKEND].applies)
            item->applies = false;
        /* Full memory is the cause, and has the time. */
        if (k == OSC_IDLE_ALLOCATOR && l->of[OSC_ADVICE_MEMORY_LIMIT].applies) {
            item->applies = false;
            l->of[OSC_ADVICE_MEMORY_LIMIT].impact_ns = s.ns[k];
        }
        /* Idle time says nothing where the events that would fill it were taken out. */
        if (a->is_thinned)
            item->applies = false;
        if (!item->applies)
            continue;
        if (k == OSC_IDLE_BLOCKED)
            item->more[2] = s.queued_ns;
        st = osc_ruler_init(&v.ruler, &s.of[k]);
        if (st == OSC_OK)
            st = name_cause(&v, (enum osc_idle)k, item);
        osc_ruler_fini(&v.ruler);
    }
    osc_idle_split_fini(&s);
    return st;
}
