/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/split.h"

#include "analysis/advice/split_names.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/wide.h"
#include "derive/facts.h"

/* The time of a step on its thread, without that of steps before it. */
struct window {
    int64_t from_ns, to_ns;
    uint32_t step;
};

/* An outermost operator. */
struct top {
    int64_t start_ns, end_ns;
    uint32_t name, window, bits;
    bool is_loop; /* part of a sequence of names that repeats */
    bool is_tiny;
    bool has_gap; /* the time before it counts as its own */
};

/* A range that runs. */
struct live {
    int64_t end_ns;
    enum osc_split_class class;
};

/* A Python function that runs. */
struct frame {
    int64_t end_ns;
    uint32_t function;
};

/* A Python function, by its id in function_names. */
struct function {
    int64_t step_ns; /* own time in the step of the moment */
    bool is_engine;
};

/* The walk over one thread. */
struct walk {
    const struct osc_trace *t;
    const struct osc_facts *f;
    const struct osc_breakdown *b;
    struct osc_split *s;
    struct osc_split_cache cache;
    struct osc_intervals blocked_set; /* time of the causes before OPTIMIZER */
    struct osc_ruler blocked;
    struct window *windows; /* owned */
    size_t n_windows, cap_windows, at_window;
    struct top *tops; /* owned */
    size_t n_tops, cap_tops, at_top;
    struct live *heap; /* owned; the first ends first */
    size_t n_heap, cap_heap;
    struct frame *frames; /* owned; in order of start; may hold some that have ended */
    size_t n_frames, cap_frames;
    struct function *functions; /* owned; by id - 1 */
    size_t n_functions, cap_functions;
    uint32_t *touched; /* owned; ids with time in this step */
    size_t n_touched, cap_touched;
    uint32_t n_live[OSC_SPLIT_CLASSES];
    int64_t now_ns;
};

/* --- outermost operators --------------------------------------------------- */

/* Whether row I of C counts for the split, with its class and end. */
static osc_status look_at(struct walk *w, const struct osc_chunk *c, uint32_t i,
                          enum osc_split_class *class)
{
    *class = OSC_SPLIT_NOTHING;
    if (c->dur_ns[i] <= 0)
        return OSC_OK;
    return osc_split_class_of(&w->cache, w->t, &w->f->classes, c, i, class);
}

/* List the outermost operators of TRACK, and return their time in *ALL_NS. */
static osc_status find_tops(struct walk *w, uint32_t track, int64_t *all_ns)
{
    const struct osc_order *const o = &w->f->order;
    int64_t end_ns = INT64_MIN, outside_ns = INT64_MIN;

    w->n_tops = 0;
    *all_ns = 0;
    for (uint32_t at = o->first[track]; at < o->first[track + 1]; at++) {
        const osc_row row = {o->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(&w->t->events, row);
        const uint32_t i = osc_row_place(row);
        const int64_t start_ns = c->ts_ns[i];
        struct top top = {
            .start_ns = start_ns, .end_ns = osc_row_end(c, i), .name = c->name[i]};
        enum osc_split_class class;

        if (look_at(w, c, i, &class) != OSC_OK)
            return OSC_ENOMEM;
        if ((class == OSC_SPLIT_DATALOADER || class == OSC_SPLIT_OPTIMIZER) &&
            top.end_ns > outside_ns)
            outside_ns = top.end_ns;
        if (!osc_split_is_operator(class) || start_ns < end_ns || start_ns < outside_ns)
            continue;
        if (osc_split_name_of(&w->cache, w->t, c, i, &top.bits) != OSC_OK ||
            osc_grow(&w->tops, &w->cap_tops, w->n_tops + 1, sizeof *w->tops) != OSC_OK)
            return OSC_ENOMEM;
        w->tops[w->n_tops++] = top;
        end_ns = top.end_ns;
        *all_ns += top.end_ns - top.start_ns;
    }
    return OSC_OK;
}

/* Keep the outermost operators that begin in a window. */
static void place_tops(struct walk *w)
{
    size_t n = 0, at = 0;

    for (size_t j = 0; j < w->n_tops; j++) {
        struct top top = w->tops[j];

        while (at < w->n_windows && w->windows[at].to_ns <= top.start_ns)
            at++;
        if (at == w->n_windows || w->windows[at].from_ns > top.start_ns)
            continue;
        top.window = (uint32_t)at;
        w->tops[n++] = top;
    }
    w->n_tops = n;
}

/* Mark the operators of loops: for each length of a turn, count how long the names repeat. */
static void find_loops(struct walk *w)
{
    size_t n_same[OSC_LOOP_TURN + 1] = {0};

    for (size_t j = 0; j < w->n_tops; j++) {
        for (size_t turn = 1; turn <= OSC_LOOP_TURN && turn <= j; turn++) {
            const struct top *const before = &w->tops[j - turn];
            const size_t least =
                turn * OSC_LOOP_TURNS > OSC_LOOP_CALLS ? turn * OSC_LOOP_TURNS : OSC_LOOP_CALLS;

            if (w->tops[j].name != before->name || w->tops[j].window != before->window) {
                n_same[turn] = 0;
                continue;
            }
            const size_t n = ++n_same[turn] + turn; /* with the first turn */
            for (size_t k = n == least ? j + 1 - n : j; n >= least && k <= j; k++)
                w->tops[k].is_loop = true;
        }
    }
}

/* Whether OP makes a tensor that is a copy, rather than filling one. */
static bool is_new_copy(const struct top *op)
{
    return (op->bits & (OSC_SPLIT_IS_COPY | OSC_SPLIT_IS_FILL)) == OSC_SPLIT_IS_COPY;
}

/* Mark what is tiny, and count copies of copies. */
static osc_status judge_tops(struct walk *w)
{
    const struct top *before = NULL; /* the last one that is no view */
    osc_status st = OSC_OK;

    find_loops(w);
    for (size_t j = 0; j < w->n_tops && st == OSC_OK; j++) {
        struct top *const top = &w->tops[j];
        struct osc_split_step *const step = &w->s->steps[w->windows[top->window].step];

        step->n_operators++;
        top->is_tiny = top->is_loop && top->end_ns - top->start_ns < OSC_TINY_NS;
        if (top->is_tiny) {
            step->n_tiny++;
            if (!(top->bits & OSC_SPLIT_IS_BACKWARD))
                st = osc_name_sums_add(&w->s->tiny, (osc_sid){top->name}, 1);
            top->has_gap = j > 0 && top[-1].is_tiny && top[-1].window == top->window &&
                           top->start_ns - top[-1].end_ns <= OSC_TINY_GAP_NS;
        }
        if (top->bits & OSC_SPLIT_IS_VIEW)
            continue;
        if (is_new_copy(top) && before && before->window == top->window)
            step->n_chained += is_new_copy(before);
        before = top;
    }
    return st;
}

/* --- moments --------------------------------------------------------------- */

static bool is_in_window(const struct walk *w)
{
    return w->at_window < w->n_windows && w->windows[w->at_window].from_ns <= w->now_ns &&
           w->now_ns < w->windows[w->at_window].to_ns;
}

static struct osc_split_step *step_now(const struct walk *w)
{
    return &w->s->steps[w->windows[w->at_window].step];
}

/* The outermost operator that runs or comes next; NULL: none. */
static const struct top *top_now(struct walk *w)
{
    while (w->at_top < w->n_tops && w->tops[w->at_top].end_ns <= w->now_ns)
        w->at_top++;
    return w->at_top < w->n_tops ? &w->tops[w->at_top] : NULL;
}

/* The cause of the time from NOW on, to the next start or end of a range. */
static enum osc_cause cause_now(struct walk *w)
{
    if (w->n_live[OSC_SPLIT_OPTIMIZER] > 0)
        return OSC_CAUSE_OPTIMIZER;
    if (w->n_live[OSC_SPLIT_SYNC] > 0)
        return OSC_CAUSE_SYNC;
    if (w->n_live[OSC_SPLIT_COPY] > 0)
        return OSC_CAUSE_COPY;
    if (w->n_live[OSC_SPLIT_DOUBLE] > 0)
        return OSC_CAUSE_DOUBLE;
    if (w->n_live[OSC_SPLIT_SLOW_CONV] > 0)
        return OSC_CAUSE_SLOW_CONV;
    const struct top *const top = top_now(w);
    if (w->n_live[OSC_SPLIT_OPERATOR] > 0)
        return top && top->is_tiny && top->start_ns <= w->now_ns ? OSC_CAUSE_TINY
                                                                 : OSC_CAUSE_OPERATOR;
    if (top && top->has_gap && top[-1].end_ns <= w->now_ns)
        return OSC_CAUSE_TINY;
    if (w->n_live[OSC_SPLIT_FUNCTION] > 0)
        return OSC_CAUSE_PYTHON;
    return w->n_live[OSC_SPLIT_NOTE] > 0 ? OSC_CAUSE_NOTED : OSC_CAUSE_OTHER;
}

/* Add NS to the function that began last. */
static osc_status add_function(struct walk *w, int64_t ns)
{
    while (w->n_frames > 0 && w->frames[w->n_frames - 1].end_ns <= w->now_ns)
        w->n_frames--;
    const uint32_t id = w->n_frames > 0 ? w->frames[w->n_frames - 1].function : 0;
    if (id == 0 || ns == 0)
        return OSC_OK;
    if (w->functions[id - 1].step_ns == 0) {
        if (osc_grow(&w->touched, &w->cap_touched, w->n_touched + 1, sizeof *w->touched) !=
            OSC_OK)
            return OSC_ENOMEM;
        w->touched[w->n_touched++] = id;
    }
    w->functions[id - 1].step_ns += ns;
    return OSC_OK;
}

/* End the window of the moment. */
static osc_status end_window(struct walk *w)
{
    struct osc_split_step *const step = step_now(w);
    osc_status st = OSC_OK;

    for (size_t k = 0; k < w->n_touched; k++) {
        struct function *const f = &w->functions[w->touched[k] - 1];

        if (!f->is_engine && f->step_ns > step->longest_ns)
            step->longest_ns = f->step_ns;
        if (!f->is_engine && st == OSC_OK)
            st = osc_name_sums_add(&w->s->functions, (osc_sid){w->touched[k]}, f->step_ns);
        f->step_ns = 0;
    }
    w->n_touched = 0;
    w->at_window++;
    return st;
}

/* Give the time from NOW to TO_NS, in which the same ranges run, to its cause. */
static osc_status advance(struct walk *w, int64_t to_ns)
{
    osc_status st = OSC_OK;

    while (w->at_window < w->n_windows && st == OSC_OK) {
        const struct window *const v = &w->windows[w->at_window];
        const int64_t from_ns = w->now_ns > v->from_ns ? w->now_ns : v->from_ns;
        const int64_t until_ns = to_ns < v->to_ns ? to_ns : v->to_ns;

        if (from_ns < until_ns) {
            const int64_t ns =
                until_ns - from_ns -
                (w->blocked_set.n > 0 ? osc_ruler_length(&w->blocked, from_ns, until_ns) : 0);
            const enum osc_cause cause = cause_now(w);

            step_now(w)->ns[cause] += ns;
            if (cause == OSC_CAUSE_PYTHON)
                st = add_function(w, ns);
        }
        if (to_ns < v->to_ns || st != OSC_OK)
            break;
        st = end_window(w);
    }
    w->now_ns = to_ns;
    return st;
}

/* --- ranges that run --------------------------------------------------------- */

static osc_status push(struct walk *w, int64_t end_ns, enum osc_split_class class)
{
    if (osc_grow(&w->heap, &w->cap_heap, w->n_heap + 1, sizeof *w->heap) != OSC_OK)
        return OSC_ENOMEM;
    size_t at = w->n_heap++;
    for (; at > 0 && w->heap[(at - 1) / 2].end_ns > end_ns; at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = (struct live){end_ns, class};
    w->n_live[class]++;
    return OSC_OK;
}

static void pop(struct walk *w)
{
    const struct live last = w->heap[--w->n_heap];
    size_t at = 0;

    w->n_live[w->heap[0].class]--;
    for (size_t next = 1; next < w->n_heap; next = 2 * at + 1) {
        if (next + 1 < w->n_heap && w->heap[next + 1].end_ns < w->heap[next].end_ns)
            next++;
        if (w->heap[next].end_ns >= last.end_ns)
            break;
        w->heap[at] = w->heap[next];
        at = next;
    }
    w->heap[at] = last;
}

/* End what ends until AT_NS, then go there. */
static osc_status go_to(struct walk *w, int64_t at_ns)
{
    osc_status st = OSC_OK;

    while (w->n_heap > 0 && w->heap[0].end_ns <= at_ns && st == OSC_OK) {
        st = advance(w, w->heap[0].end_ns);
        pop(w);
    }
    return st == OSC_OK ? advance(w, at_ns) : st;
}

/* Begin the function in row I of C, of which BITS says more. */
static osc_status begin_function(struct walk *w, const struct osc_chunk *c, uint32_t i,
                                 uint32_t bits)
{
    osc_sid id;

    if (osc_intern_add(&w->s->function_names,
                       osc_split_without_address(osc_row_name(w->t, c, i)), &id) != OSC_OK ||
        osc_grow(&w->functions, &w->cap_functions, (size_t)id.v + 1, sizeof *w->functions) !=
            OSC_OK ||
        osc_grow(&w->frames, &w->cap_frames, w->n_frames + 1, sizeof *w->frames) != OSC_OK)
        return OSC_ENOMEM;
    if (id.v > w->n_functions)
        w->functions[w->n_functions++] =
            (struct function){.is_engine = (bits & OSC_SPLIT_IS_ENGINE) != 0};
    w->frames[w->n_frames++] = (struct frame){osc_row_end(c, i), id.v};
    if (!is_in_window(w))
        return OSC_OK;
    struct osc_split_step *const step = step_now(w);
    step->n_frames++;
    if (w->n_live[OSC_SPLIT_OPTIMIZER] > 0) {
        step->has_single |= (bits & OSC_SPLIT_IS_SINGLE) != 0;
        step->has_default |= (bits & OSC_SPLIT_IS_DEFAULT) != 0;
    }
    return OSC_OK;
}

/* Count what begins with row I of C in a step. */
static osc_status count(struct walk *w, const struct osc_chunk *c, uint32_t i,
                        enum osc_split_class class, uint32_t bits)
{
    struct osc_split_step *const step = step_now(w);
    const osc_sid name = {c->name[i]};
    const bool is_special = w->n_live[OSC_SPLIT_SYNC] + w->n_live[OSC_SPLIT_COPY] > 0;

    if (w->n_live[OSC_SPLIT_DATALOADER] > 0)
        return OSC_OK;
    if (w->n_live[OSC_SPLIT_OPTIMIZER] > 0) {
        step->n_in_optimizer += osc_split_is_operator(class);
        step->has_foreach |= (bits & OSC_SPLIT_IS_FOREACH) != 0;
        return OSC_OK;
    }
    if (class == OSC_SPLIT_OPTIMIZER)
        return osc_name_sums_add(&w->s->optimizers, name, c->dur_ns[i]);
    if (class == OSC_SPLIT_SYNC && w->n_live[OSC_SPLIT_SYNC] == 0) {
        const struct top *const top = top_now(w);

        step->n_syncs++;
        step->n_in_loops += top && top->is_loop && top->start_ns <= w->now_ns;
        return osc_name_sums_add(&w->s->syncs, name, 1);
    }
    if (class == OSC_SPLIT_COPY && !is_special) {
        step->n_copies++;
        return osc_name_sums_add(&w->s->copies, name, c->dur_ns[i]);
    }
    if (class == OSC_SPLIT_DOUBLE && !is_special && w->n_live[OSC_SPLIT_DOUBLE] == 0) {
        step->n_doubles++;
        return osc_name_sums_add(&w->s->doubles, name, c->dur_ns[i]);
    }
    if (class == OSC_SPLIT_SLOW_CONV && !is_special && w->n_live[OSC_SPLIT_SLOW_CONV] == 0) {
        step->n_slow_convs++;
        return osc_name_sums_add(&w->s->slow_convs, name, c->dur_ns[i]);
    }
    return OSC_OK;
}

/* Walk the ranges of TRACK, whose windows and outermost operators are known. */
static osc_status walk_track(struct walk *w, uint32_t track)
{
    const struct osc_order *const o = &w->f->order;
    const int64_t last_ns = w->n_windows > 0 ? w->windows[w->n_windows - 1].to_ns : INT64_MIN;
    osc_status st = OSC_OK;

    w->n_heap = w->n_frames = w->at_window = w->at_top = 0;
    w->now_ns = INT64_MIN;
    for (unsigned k = 0; k < OSC_SPLIT_CLASSES; k++)
        w->n_live[k] = 0;
    for (uint32_t at = o->first[track]; at < o->first[track + 1] && st == OSC_OK; at++) {
        const osc_row row = {o->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(&w->t->events, row);
        const uint32_t i = osc_row_place(row);
        enum osc_split_class class;
        uint32_t bits;

        if (c->ts_ns[i] >= last_ns)
            break;
        st = look_at(w, c, i, &class);
        if (st != OSC_OK || class == OSC_SPLIT_NOTHING)
            continue;
        st = go_to(w, c->ts_ns[i]);
        if (st == OSC_OK)
            st = osc_split_name_of(&w->cache, w->t, c, i, &bits);
        if (st == OSC_OK && is_in_window(w))
            st = count(w, c, i, class, bits);
        if (st == OSC_OK && class == OSC_SPLIT_FUNCTION)
            st = begin_function(w, c, i, bits);
        if (st == OSC_OK)
            st = push(w, osc_row_end(c, i), class);
    }
    return st == OSC_OK && w->n_windows > 0 ? go_to(w, last_ns) : st;
}

/* --- steps ------------------------------------------------------------------- */

/* Add the time of STEP that no step before it has. */
static osc_status add_window(struct walk *w, uint32_t step)
{
    const struct osc_step_cost *const s = &w->b->steps[step];
    int64_t from_ns = s->start_ns;

    if (w->n_windows > 0 && w->windows[w->n_windows - 1].to_ns > from_ns)
        from_ns = w->windows[w->n_windows - 1].to_ns;
    if (from_ns >= s->end_ns)
        return OSC_OK;
    if (osc_grow(&w->windows, &w->cap_windows, w->n_windows + 1, sizeof *w->windows) != OSC_OK)
        return OSC_ENOMEM;
    w->windows[w->n_windows++] = (struct window){from_ns, s->end_ns, step};
    return OSC_OK;
}

/* Split the steps of the windows, which are on TRACK. */
static osc_status split_track(struct walk *w, uint32_t track)
{
    int64_t all_ns;
    osc_status st = find_tops(w, track, &all_ns);

    if (st == OSC_OK) {
        place_tops(w);
        st = judge_tops(w);
    }
    return st == OSC_OK ? walk_track(w, track) : st;
}

/* The track with the most time in outermost operators, the first one of several. */
static osc_status find_main_track(struct walk *w, uint32_t *track)
{
    const struct osc_order *const o = &w->f->order;
    int64_t most_ns = -1;

    *track = 0;
    for (uint32_t k = 0; k < o->n_tracks; k++) {
        const uint32_t one = o->tracks[k];
        int64_t ns;

        if (find_tops(w, one, &ns) != OSC_OK)
            return OSC_ENOMEM;
        if (ns > most_ns ||
            (ns == most_ns && w->t->tracks[one].order < w->t->tracks[*track].order)) {
            most_ns = ns;
            *track = one;
        }
    }
    return OSC_OK;
}

static osc_status split_steps(struct walk *w)
{
    const struct osc_trace *const t = w->t;
    uint8_t *const is_done = osc_calloc((size_t)t->n_steps + 1, 1);
    osc_status st = is_done ? OSC_OK : OSC_ENOMEM;

    for (uint32_t i = 0; i < t->n_steps && st == OSC_OK; i++) {
        uint32_t track = t->steps[i].track.v;

        if (is_done[i] || !w->b->steps[i].is_kept)
            continue;
        w->n_windows = 0;
        for (uint32_t k = i; k < t->n_steps && st == OSC_OK; k++) {
            if (!w->b->steps[k].is_kept || t->steps[k].track.v != track)
                continue;
            is_done[k] = 1;
            st = add_window(w, k);
        }
        if (st == OSC_OK && t->steps[i].row.v == 0)
            st = find_main_track(w, &track);
        if (st == OSC_OK)
            st = split_track(w, track);
    }
    osc_free(is_done);
    return st;
}

/* Take the causes of the breakdown from it, and give SLOW its part of slow steps. */
static void share_step(const struct osc_breakdown *b, uint32_t i, struct osc_split_step *s)
{
    const struct osc_step_cost *const cost = &b->steps[i];
    const int64_t length_ns = cost->end_ns - cost->start_ns;
    int64_t rest_ns = length_ns, excess_ns = length_ns - b->median_twice_ns / 2;

    s->ns[OSC_CAUSE_COMMUNICATION] = cost->cost_ns[OSC_CLASS_COMMUNICATION];
    s->ns[OSC_CAUSE_DATALOADER] = cost->cost_ns[OSC_CLASS_DATALOADER];
    for (unsigned k = 0; k < OSC_CAUSE_OPTIMIZER; k++)
        rest_ns -= s->ns[k];
    if (!cost->is_outlier || excess_ns <= 0 || rest_ns <= 0)
        return;
    excess_ns = excess_ns < rest_ns ? excess_ns : rest_ns;
    for (unsigned k = OSC_CAUSE_OPTIMIZER; k < OSC_CAUSE_SLOW; k++)
        s->ns[k] = (int64_t)((osc_wide)s->ns[k] * (rest_ns - excess_ns) / rest_ns);
    s->ns[OSC_CAUSE_SLOW] = excess_ns;
}

osc_status osc_split_make(const struct osc_trace *t, const struct osc_breakdown *b,
                          struct osc_split *s)
{
    const struct osc_facts *const f = osc_trace_facts(t);
    struct walk w = {.t = t, .f = f, .b = b, .s = s};
    osc_status st;

    *s = (struct osc_split){.n_steps = t->n_steps};
    s->function_names.arena = &s->arena;
    s->function_names.seed = osc_hash_seed();
    s->steps = osc_calloc((size_t)t->n_steps + 1, sizeof *s->steps);
    osc_intervals_concat(&w.blocked_set, &f->unions.of[OSC_CLASS_COMMUNICATION]);
    osc_intervals_concat(&w.blocked_set, &f->unions.of[OSC_CLASS_DATALOADER]);
    st = osc_intervals_merge(&w.blocked_set);
    if (st == OSC_OK)
        st = s->steps ? osc_ruler_init(&w.blocked, &w.blocked_set) : OSC_ENOMEM;
    if (st == OSC_OK)
        st = split_steps(&w);
    for (uint32_t i = 0; i < t->n_steps && st == OSC_OK; i++) {
        if (b->steps[i].is_kept)
            share_step(b, i, &s->steps[i]);
    }
    osc_split_cache_fini(&w.cache);
    osc_ruler_fini(&w.blocked);
    osc_intervals_fini(&w.blocked_set);
    osc_free(w.windows);
    osc_free(w.tops);
    osc_free(w.heap);
    osc_free(w.frames);
    osc_free(w.functions);
    osc_free(w.touched);
    return st;
}

void osc_split_fini(struct osc_split *s)
{
    osc_free(s->steps);
    osc_name_sums_fini(&s->optimizers);
    osc_name_sums_fini(&s->copies);
    osc_name_sums_fini(&s->doubles);
    osc_name_sums_fini(&s->slow_convs);
    osc_name_sums_fini(&s->syncs);
    osc_name_sums_fini(&s->tiny);
    osc_name_sums_fini(&s->functions);
    osc_intern_fini(&s->function_names);
    osc_arena_fini(&s->arena);
    *s = (struct osc_split){0};
}
