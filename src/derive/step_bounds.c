/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/step_bounds.h"

#include "base/mem.h"

/* The extent of a step's device work. */
struct extent {
    int64_t first_ns, last_ns; /* least start and largest end; unused without work */
};

/* Steps that are measured, and the work by which they are. */
struct measuring {
    const struct osc_trace *t;
    const struct osc_links *links;
    const struct osc_step_map *map;
    struct osc_step_bound *bounds; /* by step */
    uint32_t *n_works;             /* by step */
    struct extent *extents;        /* owned; by step */
};

/* The step (index + 1) that contains the call that launched WORK; 0: none. */
static uint32_t step_of(const struct measuring *m, const struct osc_work *work)
{
    const struct osc_trace *const t = m->t;
    const bool is_own = m->map->are_of_device;

    if (work->call == 0 && !is_own)
        return 0;
    const osc_row row = {is_own ? work->row : m->links->calls[work->call - 1].row};
    const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
    const uint32_t i = osc_row_place(row);

    return osc_step_around(t, m->map, osc_step_group_of(m->map, t->tracks[c->track[i]].process),
                           c->ts_ns[i], osc_row_end(c, i));
}

/* Count each step's device work and find its extent. */
static void find_extents(const struct measuring *m)
{
    for (size_t n = 0; n < m->links->n_works; n++) {
        const osc_row row = {m->links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&m->t->events, row);
        const int64_t start_ns = c->ts_ns[osc_row_place(row)];
        const int64_t end_ns = osc_row_end(c, osc_row_place(row));
        const uint32_t step = step_of(m, &m->links->works[n]);

        if (step == 0)
            continue;
        struct extent *const e = &m->extents[step - 1];
        uint32_t *const n_works = &m->n_works[step - 1];
        e->first_ns = *n_works == 0 || start_ns < e->first_ns ? start_ns : e->first_ns;
        e->last_ns = *n_works == 0 || end_ns > e->last_ns ? end_ns : e->last_ns;
        (*n_works)++;
    }
}

/* The latest end, before FIRST_NS, of device work that belongs to no step; at least LEAST_NS.
 */
static int64_t end_of_earlier(const struct measuring *m, int64_t first_ns, int64_t least_ns)
{
    for (size_t n = 0; n < m->links->n_works; n++) {
        const osc_row row = {m->links->works[n].row};
        const int64_t end_ns =
            osc_row_end(osc_chunk_of(&m->t->events, row), osc_row_place(row));

        if (end_ns > least_ns && end_ns < first_ns && step_of(m, &m->links->works[n]) == 0)
            least_ns = end_ns;
    }
    return least_ns;
}

/* Apply the tail rule to the N steps OF a process. Some step has device work. */
static void drop_tail(const struct measuring *m, const uint32_t *of, uint32_t n)
{
    uint32_t last = n - 1;

    if (n < 2)
        return;
    while (m->n_works[of[last]] == 0)
        m->bounds[of[last--]].is_tail = true;
    /* 0.8 * n[k - 1] > n[k], in integers */
    if (last > 0 &&
        UINT64_C(8) * m->n_works[of[last - 1]] > UINT64_C(10) * m->n_works[of[last]])
        m->bounds[of[last]].is_tail = true;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool has_works(const uint32_t *n_works, const uint32_t *of, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        if (n_works[of[k]] > 0)
            return true;
    }
    return false;
}

/* Extend the N steps OF a process, some of which have device work, by it; each begins when the
 * one before it ends. */
static void chain_steps(const struct measuring *m, const uint32_t *of, uint32_t n)
{
    bool is_device = true; /* the device was busy until PREVIOUS_NS */
    int64_t previous_ns = m->bounds[of[0]].start_ns;
    if (m->n_works[of[0]] > 0)
        previous_ns = end_of_earlier(m, m->extents[of[0]].first_ns, previous_ns);
    for (uint32_t k = 0; k < n; k++) {
        struct osc_step_bound *const s = &m->bounds[of[k]];
        const int64_t host_end_ns = s->end_ns;

        s->is_behind_device = previous_ns > s->start_ns && is_device;
        s->start_ns = larger(previous_ns, s->start_ns);
        s->end_ns = larger(s->end_ns, s->start_ns);
        if (m->n_works[of[k]] > 0)
            s->end_ns = larger(s->end_ns, m->extents[of[k]].last_ns);
        if (s->end_ns > previous_ns)
            is_device = s->end_ns > host_end_ns;
        previous_ns = s->end_ns;
    }
}

/* How many processes MAP tells apart; its steps of process P, *N of them. */
static uint32_t count_processes(const struct osc_step_map *map)
{
    return map->first ? map->n_processes : 1;
}

static const uint32_t *steps_of(const struct osc_step_map *map, uint32_t p, uint32_t *n)
{
    *n = map->first ? map->first[p + 1] - map->first[p] : map->n;
    return &map->steps[map->first ? map->first[p] : 0];
}

osc_status osc_step_bounds_measure(const struct osc_trace *t, const struct osc_links *links,
                                   const struct osc_step_map *map,
                                   struct osc_step_bound *bounds, uint32_t *n_works)
{
    struct measuring m = {t, links, map, bounds, n_works, NULL};
    const uint32_t n_processes = count_processes(map);

    m.extents = osc_calloc((size_t)t->n_steps + 1, sizeof *m.extents);
    if (!m.extents)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        bounds[i] = (struct osc_step_bound){.host_ns = t->steps[i].start_ns,
                                            .start_ns = t->steps[i].start_ns,
                                            .end_ns = t->steps[i].end_ns};
        n_works[i] = 0;
    }
    find_extents(&m);
    for (uint32_t p = 0; p < n_processes; p++) {
        uint32_t n;
        const uint32_t *const of = steps_of(map, p, &n);

        if (n == 0 || !has_works(n_works, of, n))
            continue;
        chain_steps(&m, of, n);
        drop_tail(&m, of, n);
    }
    osc_free(m.extents);
    return OSC_OK;
}

/* Whether operators tell which steps of process P are empty. */
static bool needs_operators(const struct osc_step_map *map, uint32_t p, const uint32_t *n_works)
{
    uint32_t n;
    const uint32_t *const of = steps_of(map, p, &n);

    return n > 1 && !map->are_of_device && !has_works(n_works, of, n);
}

bool osc_step_bounds_need_operators(const struct osc_step_map *map, const uint32_t *n_works,
                                    const uint8_t *is_asked)
{
    for (uint32_t p = 0; p < count_processes(map); p++) {
        uint32_t n;
        const uint32_t *const of = steps_of(map, p, &n);

        if (needs_operators(map, p, n_works) && (!is_asked || is_asked[of[n - 1]]))
            return true;
    }
    return false;
}

/* Set LAST_NS, by process of MAP, to the largest end of an operator that may lie in its steps.
 */
static void find_last_operators(const struct osc_trace *t,
                                const struct osc_step_operators *operators,
                                const struct osc_step_map *map, int64_t *last_ns)
{
    int64_t of_others_ns = INT64_MIN; /* of processes without steps */

    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (c->kind[i] != OSC_KIND_OPERATOR || !osc_is_range(operators->classes, c, i) ||
                osc_is_on_device(operators->classes, c, i) ||
                (operators->wants && !operators->wants(operators->ctx, c, i)))
                continue;
            const uint32_t process = t->tracks[c->track[i]].process;
            const bool has_steps =
                !map->first ||
                (process < map->n_processes && map->first[process + 1] > map->first[process]);
            int64_t *const of = has_steps ? &last_ns[map->first ? process : 0] : &of_others_ns;

            *of = larger(*of, osc_row_end(c, i));
        }
    }
    for (uint32_t p = 0; p < count_processes(map); p++)
        last_ns[p] = larger(last_ns[p], of_others_ns);
}

osc_status osc_step_bounds_mark_empty(const struct osc_trace *t,
                                      const struct osc_step_operators *operators,
                                      const struct osc_step_map *map, const uint32_t *n_works,
                                      struct osc_step_bound *bounds)
{
    const uint32_t n_processes = count_processes(map);

    if (!osc_step_bounds_need_operators(map, n_works, NULL))
        return OSC_OK;
    int64_t *const last_ns = osc_calloc((size_t)n_processes + 1, sizeof *last_ns);
    if (!last_ns)
        return OSC_ENOMEM;
    for (uint32_t p = 0; p < n_processes; p++)
        last_ns[p] = INT64_MIN;
    find_last_operators(t, operators, map, last_ns);
    for (uint32_t p = 0; p < n_processes; p++) {
        uint32_t n;
        const uint32_t *const of = steps_of(map, p, &n);

        if (needs_operators(map, p, n_works))
            bounds[of[n - 1]].is_empty = bounds[of[n - 2]].host_ns < last_ns[p] &&
                                         bounds[of[n - 1]].host_ns >= last_ns[p];
    }
    osc_free(last_ns);
    return OSC_OK;
}

/*
 * Replace BOUNDS by those that T carries. Both are in the order of the annotations, so a step
 * is found by the start of its own. If T has a step that they lack, they are of another trace.
 */
static void use_carried(const struct osc_trace *t, struct osc_step_bound *bounds)
{
    uint32_t k = 0;

    for (int is_known = 0; is_known < 2; is_known++) {
        k = 0;
        for (uint32_t i = 0; i < t->n_steps; i++, k++) {
            while (k < t->n_step_bounds && t->step_bounds[k].host_ns < t->steps[i].start_ns)
                k++;
            if (k == t->n_step_bounds || t->step_bounds[k].host_ns != t->steps[i].start_ns)
                return;
            if (is_known)
                bounds[i] = t->step_bounds[k];
        }
    }
}

osc_status osc_step_bounds_make(const struct osc_trace *t, const struct osc_classes *classes,
                                const struct osc_links *links, const struct osc_step_map *map,
                                struct osc_step_bounds *b)
{
    osc_status st = OSC_ENOMEM;

    *b = (struct osc_step_bounds){0};
    b->of = osc_calloc((size_t)t->n_steps + 1, sizeof *b->of);
    b->n_works = osc_calloc((size_t)t->n_steps + 1, sizeof *b->n_works);
    if (b->of && b->n_works)
        st = osc_step_bounds_measure(t, links, map, b->of, b->n_works);
    if (st == OSC_OK && t->n_step_bounds == 0)
        st = osc_step_bounds_mark_empty(t, &(struct osc_step_operators){.classes = classes},
                                        map, b->n_works, b->of);
    if (st == OSC_OK && t->n_step_bounds > 0)
        use_carried(t, b->of);
    if (st != OSC_OK)
        osc_step_bounds_fini(b);
    return st;
}

void osc_step_bounds_fini(struct osc_step_bounds *b)
{
    osc_free(b->of);
    osc_free(b->n_works);
    *b = (struct osc_step_bounds){0};
}
