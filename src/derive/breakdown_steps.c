/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "derive/facts.h"

/* The extent of a step's device work. */
struct extent {
    int64_t first_ns, last_ns; /* least start and largest end; unused without work */
};

/* The step (index + 1) that contains the call that launched WORK; 0: none. */
static uint32_t step_of(const struct osc_trace *t, const struct osc_facts *f,
                        const struct osc_work *work)
{
    const bool is_own = f->step_map.are_of_device;

    if (work->call == 0 && !is_own)
        return 0;
    const osc_row row = {is_own ? work->row : f->links.calls[work->call - 1].row};
    const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
    const uint32_t i = osc_row_place(row);

    return osc_step_around(t, &f->step_map,
                           osc_step_group_of(&f->step_map, t->tracks[c->track[i]].process),
                           c->ts_ns[i], osc_row_end(c, i));
}

/* Count each step's device work and find its extent. */
static void find_extents(const struct osc_trace *t, const struct osc_facts *f,
                         struct osc_breakdown *b, struct extent *extents)
{
    for (size_t n = 0; n < f->links.n_works; n++) {
        const osc_row row = {f->links.works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const int64_t start_ns = c->ts_ns[osc_row_place(row)];
        const int64_t end_ns = osc_row_end(c, osc_row_place(row));
        const uint32_t step = step_of(t, f, &f->links.works[n]);

        if (step == 0)
            continue;
        struct extent *const e = &extents[step - 1];
        uint32_t *const n_works = &b->steps[step - 1].n_works;
        e->first_ns = *n_works == 0 || start_ns < e->first_ns ? start_ns : e->first_ns;
        e->last_ns = *n_works == 0 || end_ns > e->last_ns ? end_ns : e->last_ns;
        (*n_works)++;
    }
}

/* The latest end, before FIRST_NS, of device work that belongs to no step; at least LEAST_NS.
 */
static int64_t end_of_earlier(const struct osc_trace *t, const struct osc_facts *f,
                              int64_t first_ns, int64_t least_ns)
{
    for (size_t n = 0; n < f->links.n_works; n++) {
        const osc_row row = {f->links.works[n].row};
        const int64_t end_ns = osc_row_end(osc_chunk_of(&t->events, row), osc_row_place(row));

        if (end_ns > least_ns && end_ns < first_ns && step_of(t, f, &f->links.works[n]) == 0)
            least_ns = end_ns;
    }
    return least_ns;
}

/* Apply the tail rule to the N steps OF a process. Some step has device work. */
static void drop_tail(struct osc_breakdown *b, const uint32_t *of, uint32_t n)
{
    uint32_t last = n - 1;

    if (n < 2)
        return;
    while (b->steps[of[last]].n_works == 0)
        b->steps[of[last--]].is_tail = true;
    /* 0.8 * n[k - 1] > n[k], in integers */
    if (last > 0 && UINT64_C(8) * b->steps[of[last - 1]].n_works >
                        UINT64_C(10) * b->steps[of[last]].n_works)
        b->steps[of[last]].is_tail = true;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool has_works(const struct osc_breakdown *b, const uint32_t *of, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        if (b->steps[of[k]].n_works > 0)
            return true;
    }
    return false;
}

/* Extend the N steps OF a process, some of which have device work, by it; each begins when the
 * one before it ends. */
static void chain_steps(const struct osc_trace *t, const struct osc_facts *f,
                        struct osc_breakdown *b, const struct extent *extents,
                        const uint32_t *of, uint32_t n)
{
    bool is_device = true; /* the device was busy until PREVIOUS_NS */
    int64_t previous_ns = t->steps[of[0]].start_ns;
    if (b->steps[of[0]].n_works > 0)
        previous_ns = end_of_earlier(t, f, extents[of[0]].first_ns, previous_ns);
    for (uint32_t k = 0; k < n; k++) {
        struct osc_step_cost *const s = &b->steps[of[k]];
        const int64_t host_end_ns = s->end_ns;

        s->is_behind_device = previous_ns > s->start_ns && is_device;
        s->start_ns = larger(previous_ns, s->start_ns);
        s->end_ns = larger(s->end_ns, s->start_ns);
        if (s->n_works > 0)
            s->end_ns = larger(s->end_ns, extents[of[k]].last_ns);
        if (s->end_ns > previous_ns)
            is_device = s->end_ns > host_end_ns;
        previous_ns = s->end_ns;
    }
}

/* Measure the annotated steps by RULES, in each process. */
static osc_status extend_steps(const struct osc_trace *t, const struct osc_facts *f,
                               const struct osc_step_rules *rules, struct osc_breakdown *b)
{
    const struct osc_step_map *const map = &f->step_map;
    const uint32_t n_processes = map->first ? map->n_processes : 1;
    struct extent *extents = osc_calloc((size_t)b->n_steps + 1, sizeof *extents);

    if (!extents)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < b->n_steps; i++)
        b->steps[i] = (struct osc_step_cost){.start_ns = t->steps[i].start_ns,
                                             .end_ns = t->steps[i].end_ns};
    find_extents(t, f, b, extents);
    for (uint32_t p = 0; p < n_processes; p++) {
        const uint32_t n = map->first ? map->first[p + 1] - map->first[p] : map->n;
        const uint32_t *const of = n > 0 ? &map->steps[map->first ? map->first[p] : 0] : NULL;

        if (!has_works(b, of, n))
            continue;
        if (!rules->is_annotation)
            chain_steps(t, f, b, extents, of, n);
        drop_tail(b, of, n);
    }
    for (uint32_t i = 0; i < b->n_steps; i++)
        b->steps[i].is_kept = rules->keeps_all || !b->steps[i].is_tail;
    osc_free(extents);
    return OSC_OK;
}

bool osc_priority_parse(const char *text, uint8_t order[OSC_CLASS_COUNT])
{
    static const char *const names[OSC_CLASS_COUNT] = {
#define CLASS_NAME(name, text) text,
        OSC_CLASS_LIST(CLASS_NAME)
#undef CLASS_NAME
    };
    unsigned n = 0, seen = 0, k;

    while (*text) {
        const size_t len = strcspn(text, ",");

        for (k = 0; k < OSC_CLASS_COUNT; k++) {
            if (strlen(names[k]) == len && memcmp(names[k], text, len) == 0)
                break;
        }
        if (k == OSC_CLASS_COUNT || (seen >> k & 1))
            return false;
        seen |= 1u << k;
        order[n++] = (uint8_t)k;
        text += len;
        if (*text == ',' && *++text == '\0')
            return false;
    }
    for (k = 0; k < OSC_CLASS_COUNT; k++) {
        if (!(seen >> k & 1))
            order[n++] = (uint8_t)k;
    }
    return true;
}

/* Store as cost KIND of each step how much of it lies in SET. */
static osc_status measure(struct osc_breakdown *b, unsigned kind,
                          const struct osc_intervals *set)
{
    struct osc_ruler ruler = {0};
    const osc_status st = osc_ruler_init(&ruler, set);

    for (uint32_t i = 0; st == OSC_OK && i < b->n_steps; i++)
        b->steps[i].cost_ns[kind] =
            osc_ruler_length(&ruler, b->steps[i].start_ns, b->steps[i].end_ns);
    osc_ruler_fini(&ruler);
    return st;
}

/* The costs of S are the free time before each class in ORDER, and after the last one. Make
 * them the differences, which belong to these classes. */
static void make_costs(struct osc_step_cost *s, const uint8_t *order)
{
    int64_t free_ns[OSC_COST_COUNT];

    memcpy(free_ns, s->cost_ns, sizeof free_ns);
    for (unsigned k = 0; k < OSC_CLASS_COUNT; k++)
        s->cost_ns[order[k]] = free_ns[k] - free_ns[k + 1];
    s->cost_ns[OSC_COST_OTHER] = free_ns[OSC_CLASS_COUNT];
}

/* Each class, in turn as ORDER has them, gets the free time that it covers. */
static osc_status share_out(struct osc_breakdown *b, const struct osc_unions *u,
                            const uint8_t *order)
{
    struct osc_intervals free_time = {0}, rest = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < b->n_steps; i++) {
        if (b->steps[i].start_ns < b->steps[i].end_ns)
            osc_intervals_add(&free_time, b->steps[i].start_ns, b->steps[i].end_ns);
    }
    st = osc_intervals_merge(&free_time);
    if (st == OSC_OK)
        st = measure(b, 0, &free_time);
    for (unsigned k = 0; k < OSC_CLASS_COUNT && st == OSC_OK; k++) {
        const struct osc_intervals *const of = &u->of[order[k]];

        if (of->n == 0) {
            for (uint32_t i = 0; i < b->n_steps; i++)
                b->steps[i].cost_ns[k + 1] = b->steps[i].cost_ns[k];
            continue;
        }
        st = osc_intervals_subtract(&free_time, of, &rest);
        const struct osc_intervals swap = free_time;
        free_time = rest;
        rest = swap; /* to reuse its memory */
        if (st == OSC_OK)
            st = measure(b, k + 1, &free_time);
    }
    osc_intervals_fini(&free_time);
    osc_intervals_fini(&rest);
    for (uint32_t i = 0; i < b->n_steps; i++)
        make_costs(&b->steps[i], order);
    return st;
}

/* Find how much of the kept steps each class covers, for itself. */
static osc_status measure_gross(struct osc_breakdown *b, const struct osc_unions *u)
{
    osc_status st = OSC_OK;

    for (unsigned k = 0; k < OSC_CLASS_COUNT && st == OSC_OK; k++) {
        struct osc_ruler ruler = {0};

        st = osc_ruler_init(&ruler, &u->of[k]);
        for (uint32_t i = 0; st == OSC_OK && i < b->n_steps; i++) {
            if (b->steps[i].is_kept)
                b->gross_ns[k] +=
                    osc_ruler_length(&ruler, b->steps[i].start_ns, b->steps[i].end_ns);
        }
        osc_ruler_fini(&ruler);
    }
    return st;
}

/* With fewer kept steps none stands out: their median and noise are not known. */
enum { STEPS_ENOUGH = 8 };

static int by_value(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return (a > b) - (a < b);
}

/* Twice the median of V; sorts V. N is not 0. */
static int64_t median_twice(int64_t *v, size_t n)
{
    osc_sort(v, n, sizeof *v, by_value);
    return v[(n - 1) / 2] + v[n / 2];
}

/*
 * Whether a step is far from the median: beyond the noise of the steps, and by more than a
 * tenth. To be exact, DISTANCE is doubled, MAD is four times as large, and MIDDLE is doubled.
 */
static bool is_far(int64_t distance, int64_t mad, int64_t middle)
{
    return 2 * distance > 3 * mad && distance > middle / 10;
}

/* Mark kept steps that are far from the median. */
static osc_status mark_outliers(struct osc_breakdown *b)
{
    int64_t *v = osc_malloc(((size_t)b->n_steps + 1) * sizeof *v);
    size_t n = 0;

    if (!v)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < b->n_steps; i++) {
        if (b->steps[i].is_kept)
            v[n++] = b->steps[i].end_ns - b->steps[i].start_ns;
    }
    b->n_kept = (uint32_t)n;
    const int64_t middle = n == 0 ? 0 : median_twice(v, n);
    b->median_twice_ns = middle;
    for (size_t i = 0; i < n; i++)
        v[i] = llabs(2 * v[i] - middle);
    const int64_t mad = n == 0 ? 0 : median_twice(v, n);
    for (uint32_t i = 0; i < b->n_steps; i++) {
        struct osc_step_cost *const s = &b->steps[i];

        s->is_outlier = n >= STEPS_ENOUGH && s->is_kept &&
                        is_far(llabs(2 * (s->end_ns - s->start_ns) - middle), mad, middle);
    }
    osc_free(v);
    return OSC_OK;
}

static void find_window(struct osc_breakdown *b)
{
    bool is_first = true;

    for (uint32_t i = 0; i < b->n_steps; i++) {
        if (!b->steps[i].is_kept)
            continue;
        if (is_first || b->steps[i].start_ns < b->window_start_ns)
            b->window_start_ns = b->steps[i].start_ns;
        if (is_first || b->steps[i].end_ns > b->window_end_ns)
            b->window_end_ns = b->steps[i].end_ns;
        is_first = false;
    }
}

/* The plugin knows no iterations, and no steps without operators: all operators of T count as
 * one step. */
static osc_status extend_whole(const struct osc_trace *t, const struct osc_facts *f,
                               const struct osc_step_rules *rules, struct osc_breakdown *b)
{
    struct osc_trace one = *t;
    struct osc_facts with_one = *f;
    uint32_t first = 0;

    b->is_whole = true;
    b->n_steps = osc_steps_whole(t, &f->classes, &b->whole);
    one.steps = &b->whole;
    one.n_steps = b->n_steps;
    with_one.step_map =
        (struct osc_step_map){.steps = &first, .latest_ns = &b->whole.end_ns, .n = b->n_steps};
    return b->n_steps > 0 ? extend_steps(&one, &with_one, rules, b) : OSC_OK;
}

osc_status osc_breakdown_make(const struct osc_trace *t, const struct osc_step_rules *rules,
                              unsigned n_threads, struct osc_breakdown *b)
{
    const struct osc_facts *const f = osc_trace_facts(t);
    const bool is_one = rules->compat_tb && (t->has_iterations || f->step_map.is_of_work);
    struct osc_unions compat = {0};
    const struct osc_unions *const unions = rules->compat_tb ? &compat : &f->unions;
    uint8_t order[OSC_CLASS_COUNT];
    osc_status st = OSC_EINVAL;

    *b = (struct osc_breakdown){.n_steps = t->n_steps};
    if (osc_priority_parse(rules->priority ? rules->priority : "", order)) {
        b->steps = osc_calloc((size_t)t->n_steps + 1, sizeof *b->steps);
        st = b->steps ? OSC_OK : OSC_ENOMEM;
    }
    if (st == OSC_OK)
        st = is_one ? extend_whole(t, f, rules, b) : extend_steps(t, f, rules, b);
    if (st == OSC_OK && rules->compat_tb)
        st = osc_unions_make(t, &f->classes, &f->order, true, n_threads, &compat);
    if (st == OSC_OK)
        st = share_out(b, unions, order);
    if (st == OSC_OK)
        st = measure_gross(b, unions);
    if (st == OSC_OK)
        st = mark_outliers(b);
    if (st == OSC_OK)
        find_window(b);
    osc_unions_fini(&compat);
    if (st != OSC_OK)
        osc_breakdown_fini(b);
    return st;
}

void osc_breakdown_fini(struct osc_breakdown *b)
{
    osc_free(b->steps);
    *b = (struct osc_breakdown){0};
}

osc_status osc_breakdown_get(const struct osc_trace *t, const struct osc_step_rules *rules,
                             unsigned n_threads, struct osc_breakdown *own,
                             const struct osc_breakdown **b)
{
    const bool is_own =
        rules->compat_tb || rules->is_annotation || rules->keeps_all || rules->priority;

    *b = is_own ? own : &osc_trace_facts(t)->breakdown;
    return is_own ? osc_breakdown_make(t, rules, n_threads, own) : OSC_OK;
}
