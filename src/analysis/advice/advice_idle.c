/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about why devices have nothing to do, each with the time of one cause of the split
 * (idle.h), so that together they have at most the time in which no device computes or copies.
 */
#include "analysis/advice/idle_gaps.h"
#include "analysis/advice/program.h"
#include "analysis/advice/split_names.h"
#include "analysis/advice/who.h"
#include "base/mem.h"
#include "model/known_names.h"

/* What tells that a collective waits, and that an allocator does not cache. */
enum { ALONE = 8, LIKE_ENOUGH = 2, CALLS_MANY = 100, GIVEN_BACK = 4 };

static void set_stake(const struct osc_idle_view *v, enum osc_idle cause,
                      struct osc_advice_item *item)
{
    item->impact_ns = item->part = v->s->ns[cause];
    item->whole = v->a->kept_ns;
    item->applies =
        item->impact_ns > v->a->kept_ns / OSC_ADVICE_MUCH && v->a->gaps_ns < v->a->kept_ns;
    item->facts.idle_ns = v->a->gaps_ns;
}

/* Sum the time of ranges of CAUSE by name and caller, and choose the pair with most. */
static osc_status name_ranges(const struct osc_idle_view *v, enum osc_idle cause,
                              struct osc_advice_item *item)
{
    const struct osc_trace *const t = v->a->t;
    struct osc_pairs pairs = {0};
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
            st = osc_pairs_add(&pairs, (osc_sid){c->name[i]},
                               osc_kind_is_launch((enum osc_kind)c->kind[i])
                                   ? osc_who_called(v->a, c, i)
                                   : (osc_sid){0},
                               ns);
    }
    const struct osc_pair top = osc_pairs_top(&pairs);
    item->subject = osc_trace_str(t, top.name);
    item->grew = osc_split_without_address(osc_trace_str(t, top.around));
    item->facts.most_ns = top.ns < item->impact_ns ? top.ns : item->impact_ns;
    osc_pairs_fini(&pairs);
    return st;
}

/* Calls of a step that take memory or give it back. */
struct memory_calls {
    uint32_t n, n_back;
};

/* Set *HAS_MANY if most of the kept steps have many such calls, of which a part gives back: an
 * allocator that caches and grows has calls that take alone. */
static osc_status look_at_allocator(const struct osc_idle_view *v, int64_t *has_many)
{
    const struct osc_advice_base *const a = v->a;
    const bool has_steps = a->first_step <= a->last_step;
    const size_t n_steps = (size_t)a->b->n_steps + 1;
    struct memory_calls *const calls = osc_calloc(n_steps, sizeof *calls);
    uint64_t n_many = 0;

    if (!calls)
        return OSC_ENOMEM;
    for (size_t n = 0; n < v->s->n_ranges; n++) {
        const osc_row row = {v->s->ranges[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (v->s->ranges[n].cause != OSC_IDLE_ALLOCATOR || !osc_advice_is_kept(a, c, i))
            continue;
        struct memory_calls *const own = &calls[has_steps ? c->step[i] - 1 : 0];
        own->n++;
        own->n_back += (osc_known_call(osc_row_name(a->t, c, i)) & OSC_CALL_FREE) != 0;
    }
    for (size_t k = 0; k < n_steps; k++)
        n_many +=
            calls[k].n >= CALLS_MANY && (uint64_t)calls[k].n_back * GIVEN_BACK >= calls[k].n;
    osc_free(calls);
    *has_many = 2 * n_many > a->b->n_kept;
    return OSC_OK;
}

static bool is_function(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i)
{
    (void)a;
    return c->kind[i] == OSC_KIND_PYTHON || c->kind[i] == OSC_KIND_MODULE ||
           c->kind[i] == OSC_KIND_FRAME;
}

/* Sum the own time of Python functions by name, and choose the one with most. */
static osc_status name_functions(const struct osc_idle_view *v, enum osc_idle cause,
                                 struct osc_advice_item *item)
{
    const struct osc_trace *const t = v->a->t;
    struct osc_name_sums sums = {0};
    osc_status st = OSC_OK;

    for (size_t n = 0; n < v->s->n_ranges && st == OSC_OK; n++) {
        const struct osc_idle_range *const r = &v->s->ranges[n];
        const osc_row row = {r->row};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t i = osc_row_place(row);

        if (r->cause != cause)
            continue;
        const int64_t ns = osc_ruler_length(&v->ruler, r->start_ns, r->end_ns);
        const osc_row around = osc_who_around(v->a, c, i, is_function);
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
    item->facts.most_ns = top.ns < item->impact_ns ? top.ns : item->impact_ns;
    osc_name_sums_fini(&sums);
    return st;
}

/* Whether row I of C, a kernel of communication, sends values of 16 bits. */
static bool sends_half(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    struct osc_str type;

    return osc_program_is_half(osc_row_name(t, c, i)) ||
           (osc_row_arg_str(t, c, i, OSC_ARG_KEY_DTYPE, &type) && osc_program_is_half(type));
}

/* The message of row I of C, in elements; -1: not known. */
static int64_t elements_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    int64_t n = -1;

    return osc_row_arg_int(t, c, i, OSC_ARG_KEY_IN_ELEMENTS, &n) ? n : -1;
}

/* Whether kernel LONGEST takes more than ALONE times as long as any other of its name that
 * sends as much, of which there are some. */
static bool is_alone(const struct osc_advice_base *a, osc_row longest)
{
    const struct osc_chunk *const l = osc_chunk_of(&a->t->events, longest);
    const uint32_t at = osc_row_place(longest);
    const int64_t least = elements_of(a->t, l, at);
    size_t n_like = 0;

    for (size_t n = 0; n < a->f->links.n_works; n++) {
        const osc_row row = {a->f->links.works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (row.v == longest.v || c->name[i] != l->name[at] || elements_of(a->t, c, i) < least)
            continue;
        if (c->dur_ns[i] >= l->dur_ns[at] / ALONE + (l->dur_ns[at] % ALONE != 0))
            return false;
        n_like++;
    }
    return n_like >= LIKE_ENOUGH;
}

/* Sum kernels of communication by the time that nothing hides, in SUMS; count those of kept
 * steps, and list in HALF when some sent values of 16 bits. */
static osc_status sum_communication(const struct osc_idle_view *v, struct osc_name_sums *sums,
                                    struct osc_intervals *half, struct osc_advice_item *item)
{
    const struct osc_advice_base *const a = v->a;
    const struct osc_links *const links = &a->f->links;
    osc_row longest = {0};
    osc_status st = OSC_OK;

    for (size_t n = 0; n < links->n_works && st == OSC_OK; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (c->kind[i] != OSC_KIND_KERNEL || !osc_is_comm_kernel(&a->f->classes, c, i))
            continue;
        const int64_t ns = osc_ruler_length(&v->ruler, c->ts_ns[i], osc_row_end(c, i));
        item->facts.n_collectives += osc_advice_is_kept(a, c, i);
        if (sends_half(a->t, c, i))
            osc_intervals_add(half, c->ts_ns[i], osc_row_end(c, i));
        if (ns > item->facts.longest_ns) {
            item->facts.longest_ns = ns;
            longest = row;
        }
        st = osc_name_sums_add(sums, (osc_sid){c->name[i]}, ns);
    }
    if (longest.v != 0 && !is_alone(a, longest))
        item->facts.longest_ns = 0;
    return st == OSC_OK ? osc_intervals_merge(half) : st;
}

/* Name the kernel of communication with most of the time that nothing hides; count the steps
 * that have any, and tell what the remedies depend on. */
static osc_status name_communication(const struct osc_idle_view *v, enum osc_idle cause,
                                     struct osc_advice_item *item)
{
    const struct osc_advice_base *const a = v->a;
    struct osc_name_sums sums = {0};
    struct osc_intervals all = {0}, half = {0}, bare = {0};

    for (uint32_t i = 0; i < a->b->n_steps; i++)
        item->count +=
            a->b->steps[i].is_kept && a->b->steps[i].cost_ns[OSC_CLASS_COMMUNICATION] > 0;
    item->facts.n_steps = (int64_t)a->b->n_kept * a->f->loads.n_devices;
    osc_status st =
        osc_intervals_intersect(&a->f->unions.of[OSC_CLASS_COMMUNICATION], &a->kept, &all);
    item->facts.communication_ns = osc_intervals_length(&all);
    if (st == OSC_OK)
        st = sum_communication(v, &sums, &half, item);
    if (st == OSC_OK)
        st = osc_intervals_intersect(&half, &v->s->of[cause], &bare);
    item->facts.half_ns = osc_intervals_length(&bare);
    const struct osc_name_sum top = osc_name_sums_top(&sums);
    item->subject = osc_trace_str(a->t, top.name);
    item->is_work = true;
    item->facts.most_ns = top.ns < item->impact_ns ? top.ns : item->impact_ns;
    osc_name_sums_fini(&sums);
    osc_intervals_fini(&all);
    osc_intervals_fini(&half);
    osc_intervals_fini(&bare);
    return st;
}

/* By cause: the rule, and what names who has most of it. */
static const struct {
    enum osc_advice_code code;
    osc_status (*name)(const struct osc_idle_view *v, enum osc_idle cause,
                       struct osc_advice_item *item);
} rules[OSC_IDLE_COUNT] = {
    [OSC_IDLE_COMMUNICATION] = {OSC_ADVICE_COMMUNICATION, name_communication},
    [OSC_IDLE_DATALOADER] = {OSC_ADVICE_DATA_LOADING, name_ranges},
    [OSC_IDLE_BLOCKED] = {OSC_ADVICE_SYNCHRONIZATION, name_ranges},
    [OSC_IDLE_ALLOCATOR] = {OSC_ADVICE_ALLOCATOR, name_ranges},
    [OSC_IDLE_SLOW_CALL] = {OSC_ADVICE_SLOW_CALL, name_ranges},
    [OSC_IDLE_OVERHEAD] = {OSC_ADVICE_OVERHEAD, name_ranges},
    [OSC_IDLE_OPTIMIZER] = {OSC_ADVICE_OPTIMIZER, name_ranges},
    [OSC_IDLE_LAUNCH] = {OSC_ADVICE_LAUNCH_BOUND, osc_idle_name_launches},
    [OSC_IDLE_PYTHON] = {OSC_ADVICE_IDLE_PYTHON, name_functions},
    [OSC_IDLE_UNRECORDED] = {OSC_ADVICE_IDLE_UNRECORDED, osc_idle_name_unrecorded},
    [OSC_IDLE_HANDOVER] = {OSC_ADVICE_HANDOVER, osc_idle_name_gaps},
    [OSC_IDLE_LATE] = {OSC_ADVICE_LATE_START, osc_idle_name_gaps},
};

osc_status osc_advice_idle_rules(const struct osc_advice_base *a, struct osc_advice_list *l)
{
    struct osc_idle_split s;
    struct osc_idle_view v = {.a = a, .s = &s};
    osc_status st = osc_idle_split_make(a, &s);

    for (unsigned k = 0; k < OSC_IDLE_COUNT && st == OSC_OK; k++) {
        struct osc_advice_item *const item = &l->of[rules[k].code];

        set_stake(&v, (enum osc_idle)k, item);
        /* Another backend is the cause, and has the time. */
        if (k == OSC_IDLE_COMMUNICATION && l->of[OSC_ADVICE_BACKEND].applies)
            item->applies = false;
        /* Full memory is the cause, and has the time. */
        if (k == OSC_IDLE_ALLOCATOR && l->of[OSC_ADVICE_MEMORY_LIMIT].applies) {
            item->applies = false;
            l->of[OSC_ADVICE_MEMORY_LIMIT].impact_ns = s.ns[k];
        }
        /* Idle time says nothing where the events that would fill it are not there. */
        if (a->is_thinned || (k == OSC_IDLE_UNRECORDED && !a->has_host))
            item->applies = false;
        if (!item->applies)
            continue;
        if (k == OSC_IDLE_BLOCKED)
            item->facts.queued_ns = s.queued_ns;
        if (k == OSC_IDLE_ALLOCATOR)
            st = look_at_allocator(&v, &item->facts.n_uncached);
        if (st == OSC_OK)
            st = osc_ruler_init(&v.ruler, &s.of[k]);
        if (st == OSC_OK)
            st = rules[k].name(&v, (enum osc_idle)k, item);
        osc_ruler_fini(&v.ruler);
    }
    osc_idle_split_fini(&s);
    return st;
}
