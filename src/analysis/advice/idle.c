/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/idle.h"

#include "analysis/advice/own_time.h"
#include "base/mem.h"
#include "base/sort.h"

/* Whether a thread that S counts recorded anything but calls of a runtime. */
static bool has_more_than_calls(const struct osc_advice_base *a, const struct osc_idle_split *s)
{
    const struct osc_store *const events = &a->t->events;

    for (uint32_t k = 1; k < events->n_chunks; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (s->counts[c->track[i]] && c->dur_ns[i] > 0 &&
                !osc_kind_is_launch((enum osc_kind)c->kind[i]) &&
                osc_is_range(&a->f->classes, c, i) && !osc_is_on_device(&a->f->classes, c, i))
                return true;
        }
    }
    return false;
}

/* Mark the threads that count. */
static osc_status find_threads(const struct osc_advice_base *a, struct osc_idle_split *s)
{
    const struct osc_trace *const t = a->t;
    const struct osc_links *const links = &a->f->links;
    bool has_launches = false;

    s->counts = osc_calloc(t->n_tracks + 1, sizeof *s->counts);
    if (!s->counts)
        return OSC_ENOMEM;
    for (size_t n = 0; n < links->n_works; n++) {
        if (links->works[n].call == 0)
            continue;
        const osc_row row = {links->calls[links->works[n].call - 1].row};

        s->counts[osc_chunk_of(&t->events, row)->track[osc_row_place(row)]] = true;
        has_launches = true;
    }
    for (uint32_t i = 0; i < t->n_steps && has_launches; i++) {
        const osc_row row = t->steps[i].row;

        if (row.v != 0)
            s->counts[osc_chunk_of(&t->events, row)->track[osc_row_place(row)]] = true;
    }
    const bool are_all = !has_launches || !has_more_than_calls(a, s);
    for (uint32_t i = 0; i < t->n_tracks && are_all; i++)
        s->counts[i] = true;
    return OSC_OK;
}

static bool is_python(enum osc_kind kind)
{
    return kind == OSC_KIND_PYTHON || kind == OSC_KIND_MODULE || kind == OSC_KIND_FRAME;
}

/* Bits of each row, by its number: where Python, or an executor around it, runs. */
enum { IS_CALLED = 1, HAS_PYTHON = 2 };

/* Whether a scope called NAME runs the operators of TensorFlow, or a program of XLA. */
static bool is_executor(struct osc_str name)
{
    return osc_str_starts(name, OSC_STR("ExecutorState::Process")) ||
           osc_str_has(name, OSC_STR("Executable::Execute")) ||
           osc_str_has(name, OSC_STR("Executable_Execute"));
}

/*
 * Set *PLACES to the bits of the rows of A, or leave it NULL: only programs that XLA compiled
 * have ranges that Python or an executor calls and that launch, and no operators to tell them
 * by.
 */
static osc_status find_python(const struct osc_advice_base *a, uint8_t **places)
{
    const struct osc_store *const events = &a->t->events;
    const struct osc_order *const order = &a->f->order;

    if (!a->has_native)
        return OSC_OK;
    *places = osc_calloc((size_t)events->n_rows + 1, 1);
    if (!*places)
        return OSC_ENOMEM;
    for (uint32_t at = 0; at < 2 * order->n_rows; at++) {
        const bool is_down = at < order->n_rows; /* first from parents to children */
        const osc_row row = {order->rows[is_down ? at : 2 * order->n_rows - 1 - at]};
        const struct osc_chunk *const c = osc_chunk_of(events, row);
        const osc_row parent = {c->parent[osc_row_place(row)]};

        if (is_down && is_executor(osc_row_name(a->t, c, osc_row_place(row))))
            (*places)[osc_row_number(events, row)] |= IS_CALLED;
        if (parent.v == 0)
            continue;
        const struct osc_chunk *const p = osc_chunk_of(events, parent);
        uint8_t *const own = &(*places)[osc_row_number(events, row)];
        uint8_t *const around = &(*places)[osc_row_number(events, parent)];
        if (is_down &&
            (is_python((enum osc_kind)p->kind[osc_row_place(parent)]) || (*around & IS_CALLED)))
            *own |= IS_CALLED;
        if (!is_down &&
            (is_python((enum osc_kind)c->kind[osc_row_place(row)]) || (*own & HAS_PYTHON)))
            *around |= HAS_PYTHON;
    }
    return OSC_OK;
}

/* The cause of what ranges of KIND do, but for long ones; COUNT: none. */
static enum osc_idle cause_of(enum osc_kind kind)
{
    if (kind == OSC_KIND_DATALOADER)
        return OSC_IDLE_DATALOADER;
    if (kind == OSC_KIND_OVERHEAD)
        return OSC_IDLE_OVERHEAD;
    if (kind == OSC_KIND_OPTIMIZER)
        return OSC_IDLE_OPTIMIZER;
    if (kind == OSC_KIND_OPERATOR || kind == OSC_KIND_COMMUNICATION || osc_kind_is_launch(kind))
        return OSC_IDLE_LAUNCH;
    return is_python(kind) ? OSC_IDLE_PYTHON : OSC_IDLE_COUNT;
}

/* Add the time from START_NS to END_NS of row ROW, which has CAUSE. */
static osc_status add_range(struct osc_idle_split *s, uint32_t row, enum osc_idle cause,
                            int64_t start_ns, int64_t end_ns)
{
    osc_intervals_add(&s->ran[cause], start_ns, end_ns);
    if (cause == OSC_IDLE_LAUNCH)
        return OSC_OK;
    if (osc_grow(&s->ranges, &s->cap_ranges, s->n_ranges + 1, sizeof *s->ranges) != OSC_OK)
        return OSC_ENOMEM;
    s->ranges[s->n_ranges++] = (struct osc_idle_range){start_ns, end_ns, row, (uint8_t)cause};
    return OSC_OK;
}

/* Add the ranges of threads that count, as if none of them took long. */
static osc_status add_ranges(const struct osc_advice_base *a, struct osc_idle_split *s)
{
    const struct osc_store *const events = &a->t->events;
    uint8_t *places = NULL;
    osc_status st = find_python(a, &places);

    for (uint32_t k = 1; k < events->n_chunks && st == OSC_OK; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows && st == OSC_OK; i++) {
            enum osc_idle cause = cause_of((enum osc_kind)c->kind[i]);

            if (places && c->kind[i] == OSC_KIND_SCOPE && places[c->first_row + i] == IS_CALLED)
                cause = OSC_IDLE_LAUNCH;
            if (cause == OSC_IDLE_COUNT || c->dur_ns[i] <= 0 ||
                (cause != OSC_IDLE_OVERHEAD && !s->counts[c->track[i]]) ||
                !osc_is_range(&a->f->classes, c, i) || osc_is_on_device(&a->f->classes, c, i))
                continue;
            st = add_range(s, osc_row_at(c, i).v, cause, c->ts_ns[i], osc_row_end(c, i));
        }
    }
    osc_free(places);
    return st;
}

/* What a call is: BLOCKED, ALLOCATOR, SLOW_CALL or LAUNCH. */
static enum osc_idle cause_of_call(const struct osc_advice_base *a, size_t n)
{
    const osc_row row = {a->f->links.calls[n].row};
    const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
    const uint32_t i = osc_row_place(row);
    const uint16_t flags = a->f->classes.names[c->name[i]];

    if (a->is_sync[n])
        return OSC_IDLE_BLOCKED;
    if (flags & OSC_NAME_ALLOCATOR)
        return c->dur_ns[i] >= OSC_SET_UP_NS ? OSC_IDLE_SLOW_CALL : OSC_IDLE_ALLOCATOR;
    if (c->dur_ns[i] >= OSC_COMPILE_NS &&
        osc_str_has(osc_row_name(a->t, c, i), OSC_STR(OSC_COMPILE_WORD)))
        return OSC_IDLE_SLOW_CALL;
    return osc_kind_is_launch((enum osc_kind)c->kind[i]) && !(flags & OSC_NAME_GRAPH) &&
                   c->dur_ns[i] >= OSC_SLOW_CALL_NS
               ? OSC_IDLE_SLOW_CALL
               : OSC_IDLE_LAUNCH;
}

/* Add the calls of threads that count, if they wait, allocate or take long. */
static osc_status add_calls(const struct osc_advice_base *a, struct osc_idle_split *s)
{
    const struct osc_links *const links = &a->f->links;
    osc_status st = OSC_OK;

    for (size_t n = 0; n < links->n_calls && st == OSC_OK; n++) {
        const osc_row row = {links->calls[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);
        const enum osc_idle cause = cause_of_call(a, n);

        if (cause != OSC_IDLE_LAUNCH && c->dur_ns[i] > 0 && s->counts[c->track[i]])
            st = add_range(s, row.v, cause, c->ts_ns[i], osc_row_end(c, i));
    }
    return st;
}

/* Whether row I of C, an operator, reads a value of a tensor: it waits for the device. */
static bool reads_value(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_str name = osc_row_name(t, c, i);

    return osc_str_eq(name, OSC_STR("aten::_local_scalar_dense")) ||
           osc_str_eq(name, OSC_STR("aten::item"));
}

/* Add the long stretches in which operators of threads that count run alone. */
static osc_status add_stretches(const struct osc_advice_base *a, struct osc_idle_split *s)
{
    struct osc_stretches found;
    osc_status st = osc_stretches_find(a->t, s->counts, OSC_SLOW_CALL_NS, &found);

    for (size_t n = 0; n < found.n && st == OSC_OK; n++) {
        const osc_row row = {found.v[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);

        st = add_range(s, row.v,
                       reads_value(a->t, c, osc_row_place(row)) ? OSC_IDLE_BLOCKED
                                                                : OSC_IDLE_SLOW_CALL,
                       found.v[n].start_ns, found.v[n].end_ns);
    }
    osc_stretches_fini(&found);
    return st;
}

static int by_row(const void *a, const void *b)
{
    const struct osc_idle_range *const x = a, *const y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The parts of gaps after the call had returned that launched what ends the gap. */
struct cuts {
    struct osc_intervals near, far;
};

static void cut_gaps(const struct osc_advice_base *a, struct cuts *cuts)
{
    for (size_t g = 0; g < a->n_gaps; g++) {
        const struct osc_gap *const gap = &a->gaps[g];
        const uint32_t call = gap->work == 0 ? 0 : a->f->links.works[gap->work - 1].call;

        if (call == 0 || a->is_sync[call - 1])
            continue;
        const osc_row row = {a->f->links.calls[call - 1].row};
        int64_t at_ns = osc_row_end(osc_chunk_of(&a->t->events, row), osc_row_place(row));

        at_ns = at_ns > gap->start_ns ? at_ns : gap->start_ns;
        if (at_ns >= gap->end_ns)
            continue;
        if (gap->end_ns - at_ns > OSC_HANDOVER_NS) {
            osc_intervals_add(&cuts->near, at_ns, at_ns + OSC_HANDOVER_NS);
            osc_intervals_add(&cuts->far, at_ns + OSC_HANDOVER_NS, gap->end_ns);
        } else {
            osc_intervals_add(&cuts->near, at_ns, gap->end_ns);
        }
    }
}

/* Move from REST to OUT what WHEN covers. */
static osc_status take(struct osc_intervals *rest, const struct osc_intervals *when,
                       struct osc_intervals *out)
{
    struct osc_intervals left = {0};
    osc_status st = osc_intervals_intersect(rest, when, out);

    if (st == OSC_OK)
        st = osc_intervals_subtract(rest, when, &left);
    osc_intervals_fini(rest);
    *rest = left;
    return st;
}

/* Set REST to the kept time without work of devices but for communication. */
static osc_status find_stake(const struct osc_advice_base *a, struct osc_intervals *rest)
{
    const struct osc_intervals *const of = a->f->unions.of;
    struct osc_intervals work = {0};

    osc_intervals_concat(&work, &of[OSC_CLASS_KERNEL]);
    osc_intervals_concat(&work, &of[OSC_CLASS_MEMCPY]);
    osc_intervals_concat(&work, &of[OSC_CLASS_MEMSET]);
    osc_status st = osc_intervals_merge(&work);
    if (st == OSC_OK)
        st = osc_intervals_subtract(&a->kept, &work, rest);
    osc_intervals_fini(&work);
    return st;
}

/* Move what FAR covers of REST to BLOCKED and LATE. BLOCKED has nothing yet. */
static osc_status split_far(struct osc_intervals *rest, const struct osc_intervals *far,
                            struct osc_idle_split *s, struct osc_intervals *blocked)
{
    osc_status st = take(rest, far, &s->of[OSC_IDLE_LATE]);

    if (st == OSC_OK)
        st = osc_intervals_merge(&s->ran[OSC_IDLE_BLOCKED]);
    return st == OSC_OK ? take(&s->of[OSC_IDLE_LATE], &s->ran[OSC_IDLE_BLOCKED], blocked) : st;
}

/* Split REST, the time at stake. */
static osc_status split(const struct osc_advice_base *a, struct osc_intervals *rest,
                        struct osc_idle_split *s)
{
    struct osc_intervals blocked = {0};
    struct cuts cuts = {0};
    osc_status st =
        take(rest, &a->f->unions.of[OSC_CLASS_COMMUNICATION], &s->of[OSC_IDLE_COMMUNICATION]);

    cut_gaps(a, &cuts);
    if (st == OSC_OK)
        st = osc_intervals_merge(&cuts.near);
    if (st == OSC_OK)
        st = osc_intervals_merge(&cuts.far);
    if (st == OSC_OK)
        st = take(rest, &cuts.near, &s->of[OSC_IDLE_HANDOVER]);
    if (st == OSC_OK)
        st = split_far(rest, &cuts.far, s, &blocked);
    s->queued_ns = osc_intervals_length(&blocked);
    for (unsigned k = OSC_IDLE_DATALOADER; k <= OSC_IDLE_PYTHON && st == OSC_OK; k++) {
        st = osc_intervals_merge(&s->ran[k]);
        if (st == OSC_OK)
            st = take(rest, &s->ran[k], &s->of[k]);
    }
    s->of[OSC_IDLE_UNRECORDED] = *rest;
    *rest = (struct osc_intervals){0};
    osc_intervals_concat(&s->of[OSC_IDLE_BLOCKED], &blocked);
    if (st == OSC_OK)
        st = osc_intervals_merge(&s->of[OSC_IDLE_BLOCKED]);
    osc_intervals_fini(&cuts.near);
    osc_intervals_fini(&cuts.far);
    osc_intervals_fini(&blocked);
    return st;
}

osc_status osc_idle_split_make(const struct osc_advice_base *a, struct osc_idle_split *s)
{
    struct osc_intervals rest = {0};

    *s = (struct osc_idle_split){0};
    osc_status st = find_threads(a, s);
    if (st == OSC_OK)
        st = add_ranges(a, s);
    if (st == OSC_OK)
        st = add_calls(a, s);
    if (st == OSC_OK)
        st = add_stretches(a, s);
    osc_sort(s->ranges, s->n_ranges, sizeof *s->ranges, by_row);
    if (st == OSC_OK)
        st = find_stake(a, &rest);
    if (st == OSC_OK)
        st = split(a, &rest, s);
    for (unsigned k = 0; k < OSC_IDLE_COUNT && st == OSC_OK; k++)
        s->ns[k] = osc_intervals_length(&s->of[k]);
    osc_intervals_fini(&rest);
    return st;
}

void osc_idle_split_fini(struct osc_idle_split *s)
{
    for (unsigned k = 0; k < OSC_IDLE_COUNT; k++) {
        osc_intervals_fini(&s->of[k]);
        osc_intervals_fini(&s->ran[k]);
    }
    osc_free(s->counts);
    osc_free(s->ranges);
    *s = (struct osc_idle_split){0};
}
