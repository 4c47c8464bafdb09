/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/part/view.h"

#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "derive/derive.h"
#include "derive/facts.h"
#include "derive/part/bystanders.h"
#include "derive/part/selected_steps.h"

#define WANTED 1u
#define SEEN   2u /* it contains selected rows, and so do its parents */
#define CALLER 4u

/* A view under construction. */
struct making {
    struct osc_trace *view;
    const struct osc_trace *base;
    const struct osc_facts *facts; /* of the base */
    struct osc_filter filter;
    unsigned n_threads;
    struct osc_mem_account *asker; /* may lose interest; pays for what follows */
    struct osc_mem_account *payer; /* of the view */
    uint8_t *wanted;               /* owned; by row number: 0 if the row is left out */
    uint32_t *n_wanted;            /* owned; by chunk of events */
    uint32_t *hits; /* owned; by arrow: number of its records that touch selected rows */
};

/* Whether nobody wants the view any more. */
static bool is_stopped(const struct making *m)
{
    return osc_mem_account_is_cancelled(m->asker);
}

/* --- which events ------------------------------------------------------------------- */

static void decide_chunk(void *ctx, uint32_t item)
{
    const struct making *const m = ctx;
    const struct osc_chunk *const c = m->base->events.chunks[item + 1];
    uint32_t n = 0;

    if (osc_filter_skips(&m->filter, c) || is_stopped(m))
        return;
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const bool is_wanted = osc_filter_wants(&m->filter, c, i);

        if (is_wanted)
            m->wanted[c->first_row + i] = WANTED;
        n += is_wanted;
    }
    m->n_wanted[c->index] = n;
}

static uint32_t number_of(const struct making *m, osc_row row)
{
    return osc_row_number(&m->base->events, row);
}

/*
 * Whether the row is a caller of the rows it contains. Ranges of category `python` are not:
 * time counts as theirs, and they would add time to a step from before its begin.
 */
static bool is_caller(const struct making *m, const struct osc_chunk *c, uint32_t i)
{
    return (m->facts->classes.forms[c->form[i]] & OSC_FORM_FUNCTION) != 0;
}

/* Mark the callers of row I of C. */
static void mark_callers(struct making *m, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_store *const s = &m->base->events;
    osc_row up = {c->parent[i]};

    while (up.v != 0 && !(m->wanted[number_of(m, up)] & SEEN)) {
        const struct osc_chunk *const above = osc_chunk_of(s, up);
        const uint32_t place = osc_row_place(up);
        uint8_t *const mark = &m->wanted[number_of(m, up)];

        if (is_caller(m, above, place)) {
            m->n_wanted[above->index] += (*mark & WANTED) == 0;
            *mark |= CALLER;
        }
        *mark |= SEEN;
        up.v = above->parent[place];
    }
}

/* Select the callers of selected rows as well. */
static void add_callers(struct making *m)
{
    const struct osc_store *const s = &m->base->events;

    for (uint32_t k = 1; k < s->n_chunks && !is_stopped(m); k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows && m->n_wanted[k] > 0; i++) {
            if (m->wanted[c->first_row + i] & WANTED)
                mark_callers(m, c, i);
        }
    }
}

/* Decide on every row while all of them are available. */
static osc_status decide(struct making *m)
{
    const struct osc_store *const s = &m->base->events;

    m->wanted = osc_calloc((size_t)s->n_rows + 1, 1);
    m->n_wanted = osc_calloc((size_t)s->n_chunks + 1, sizeof *m->n_wanted);
    if (!m->wanted || !m->n_wanted)
        return OSC_ENOMEM;
    if (s->n_chunks > 1)
        osc_parallel(m->n_threads, s->n_chunks - 1, decide_chunk, m);
    if (m->filter.s->with_callers)
        add_callers(m);
    return OSC_OK;
}

/* Store the ordinals of the selected steps in the view. */
static osc_status keep_ordinals(struct making *m)
{
    const struct osc_trace *const t = m->base;
    uint32_t *ordinals = osc_calloc((size_t)t->n_steps + 1, sizeof *ordinals);
    uint32_t n = 0;

    if (!ordinals)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const osc_row row = t->steps[i].row;

        if (row.v != 0 && (m->wanted[number_of(m, row)] & (WANTED | CALLER)))
            ordinals[n++] = t->steps[i].ordinal + m->filter.s->n_steps_before;
    }
    m->view->step_ordinals = ordinals;
    m->view->n_step_ordinals = n;
    return OSC_OK;
}

/* Store when the selected steps begin and end in the rest of the selection. */
static osc_status keep_bounds(struct making *m)
{
    const struct osc_trace *const t = m->base;
    struct osc_step_bound *bounds;
    struct osc_err err; /* the selection was checked before */
    uint32_t n = 0;

    if ((!m->filter.s->steps && t->n_step_bounds == 0) || m->view->n_step_ordinals == 0)
        return OSC_OK;
    const osc_status st = osc_selected_steps_bounds(t, m->filter.s, &bounds, &err);
    if (st != OSC_OK)
        return st;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const osc_row row = t->steps[i].row;

        if (row.v != 0 && (m->wanted[number_of(m, row)] & (WANTED | CALLER)))
            bounds[n++] = bounds[i];
    }
    m->view->step_bounds = bounds;
    m->view->n_step_bounds = n;
    return OSC_OK;
}

/* Store what else ran in the selected steps. */
static osc_status keep_bystanders(struct making *m)
{
    return osc_bystanders_find(m->base, m->filter.s, m->wanted, WANTED | CALLER, m->view);
}

/* --- which arrows ------------------------------------------------------------------- */

/* The innermost range that is open at AT_NS on TRACK, or none. */
static osc_row touched_by(const struct making *m, uint32_t track, int64_t at_ns)
{
    const struct osc_order *const o = &m->facts->order;
    const struct osc_store *const s = &m->base->events;
    uint32_t hint = 0;
    /* The place after the last row that starts by then. */
    const uint32_t place = osc_order_find(m->base, o, track, at_ns + 1, &hint);
    osc_row row = {place > o->first[track] ? o->rows[place - 1] : 0};

    while (row.v != 0 && osc_row_end(osc_chunk_of(s, row), osc_row_place(row)) < at_ns)
        row.v = osc_chunk_of(s, row)->parent[osc_row_place(row)];
    return row;
}

/* Whether the row that record I of an arrow touches is kept. */
static bool touches_wanted(const struct making *m, const struct osc_chunk *c, uint32_t i)
{
    const osc_row row = touched_by(m, c->track[i], c->ts_ns[i]);

    if (row.v != 0)
        return (m->wanted[number_of(m, row)] & WANTED) != 0;
    return osc_filter_wants_point(&m->filter, c->track[i], c->ts_ns[i]);
}

/*
 * Whether arrow records between FIRST_NS and LAST_NS can touch a selected row, or no row at a
 * selected time.
 */
static bool can_touch(const struct making *m, const struct osc_arrow_span *span)
{
    const struct osc_trace *const v = m->view;

    if (span->first_ns > span->last_ns)
        return false;
    if (osc_filter_wants_between(&m->filter, span->first_ns, span->last_ns))
        return true;
    return v->events.n_rows > 0 && span->first_ns <= v->max_end_ns &&
           span->last_ns >= v->min_ts_ns;
}

/* Count for each arrow the records that would be kept. */
static osc_status judge_arrows(struct making *m)
{
    const struct osc_arrows *const a = &m->facts->arrows;
    const struct osc_store *const s = &m->base->others;

    m->hits = osc_calloc((size_t)a->n + 1, sizeof *m->hits);
    if (!m->hits)
        return OSC_ENOMEM;
    for (uint32_t k = 1; k < s->n_chunks && !is_stopped(m); k++) {
        const struct osc_chunk *const c = s->chunks[k];

        if (!can_touch(m, &a->spans[k]))
            continue;
        for (uint32_t i = 0; i < c->n_rows; i++) {
            const uint32_t arrow = a->of_record[c->first_row + i];

            if (arrow != 0 && touches_wanted(m, c, i))
                m->hits[arrow - 1]++;
        }
    }
    return OSC_OK;
}

/* Whether record I of C, of the other store, is kept: an arrow is, if all its records are. */
static bool stays(const struct making *m, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_arrows *const a = &m->facts->arrows;
    const uint32_t arrow = a->of_record[c->first_row + i];

    return arrow == 0 || m->hits[arrow - 1] == a->n_records[arrow - 1];
}

static uint32_t count_others(const struct making *m, const struct osc_chunk *c)
{
    const struct osc_arrow_span *const span = &m->facts->arrows.spans[c->index];
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n_rows && (span->has_others || can_touch(m, span)); i++)
        n += stays(m, c, i);
    return n;
}

/* --- copies of rows ----------------------------------------------------------------- */

/* Bytes of a row's columns; each column starts at a multiple of eight rows. */
#define ROW_BYTES (2 * sizeof(int64_t) + 4 * sizeof(uint32_t) + 1)

/* Point the columns of TO, with N rows, to memory at AT, for each column that FROM has;
 * returns the end of the memory used. */
static char *lay_columns(struct osc_chunk *to, const struct osc_chunk *from, bool is_event,
                         uint32_t n, char *at)
{
    const size_t n_places = ((size_t)n + 7) / 8 * 8;
    int64_t *const times = (int64_t *)(void *)at;
    uint32_t *const words = (uint32_t *)(void *)(times + 2 * n_places);

    to->ts_ns = times;
    to->dur_ns = is_event || from->dur_ns ? times + n_places : NULL;
    to->name = words;
    to->form = words + n_places;
    to->track = words + 2 * n_places;
    to->arg_word = words + 3 * n_places;
    to->kind = from->kind ? (uint8_t *)(words + 4 * n_places) : NULL;
    return (char *)(words + 4 * n_places) + n_places;
}

/* Copy row I of FROM to the end of TO. Words owned by the chunk itself are copied as well. */
static osc_status copy_row(const struct osc_trace *t, struct osc_chunk *to,
                           const struct osc_chunk *from, uint32_t i)
{
    const uint32_t n = to->n_rows++;

    to->ts_ns[n] = from->ts_ns[i];
    if (to->dur_ns)
        to->dur_ns[n] = from->dur_ns[i];
    to->name[n] = from->name[i];
    to->form[n] = from->form[i];
    to->track[n] = from->track[i];
    to->arg_word[n] = from->arg_word[i];
    if (to->kind)
        to->kind[n] = from->kind[i];
    if (!(from->arg_word[i] & OSC_ARG_WORD_MORE))
        return OSC_OK;
    return osc_chunk_replace_words(to, n, osc_row_words(from, i),
                                   t->forms[from->form[i]].n_words);
}

static void widen(struct osc_chunk *c)
{
    c->min_ts_ns = INT64_MAX;
    c->max_end_ns = INT64_MIN;
    for (uint32_t i = 0; i < c->n_rows; i++) {
        c->min_ts_ns = c->ts_ns[i] < c->min_ts_ns ? c->ts_ns[i] : c->min_ts_ns;
        c->max_end_ns = osc_row_end(c, i) > c->max_end_ns ? osc_row_end(c, i) : c->max_end_ns;
    }
}

/* Append to a store of the view a chunk with room for N rows of FROM at *AT; NULL: out of
 * memory. */
static struct osc_chunk *new_chunk(struct making *m, bool is_event,
                                   const struct osc_chunk *from, uint32_t n, char **at)
{
    struct osc_chunk *const c = osc_calloc(1, sizeof *c);

    if (!c)
        return NULL;
    if (osc_store_append(is_event ? &m->view->events : &m->view->others, c) != OSC_OK) {
        osc_chunk_free(c);
        return NULL;
    }
    c->first_event = from->first_event;
    c->min_ts_ns = from->min_ts_ns;
    c->max_end_ns = from->max_end_ns;
    c->args = from->args;
    c->n_arg_words = from->n_arg_words;
    *at = lay_columns(c, from, is_event, n, *at);
    return c;
}

/* Allocate pages for N_ROWS rows in N_CHUNKS chunks of store number WHICH. */
static char *new_pages(struct osc_trace *view, unsigned which, size_t n_rows, size_t n_chunks)
{
    const size_t size = (n_rows + 8 * n_chunks) * ROW_BYTES;
    struct osc_pages *const pages = &view->pages[which];

    pages->p = osc_pages_alloc(size);
    pages->size = size;
    return pages->p;
}

static osc_status gather_events(struct making *m)
{
    const struct osc_store *const s = &m->base->events;
    size_t n_rows = 0, n_chunks = 0;
    osc_status st = OSC_OK;

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        n_rows += m->n_wanted[k];
        n_chunks += m->n_wanted[k] > 0;
    }
    char *at = new_pages(m->view, 0, n_rows, n_chunks);
    if (!at)
        return OSC_ENOMEM;
    for (uint32_t k = 1; k < s->n_chunks && st == OSC_OK && !is_stopped(m); k++) {
        const struct osc_chunk *const from = s->chunks[k];

        if (m->n_wanted[k] == 0)
            continue;
        struct osc_chunk *const c = new_chunk(m, true, from, m->n_wanted[k], &at);
        if (!c)
            return OSC_ENOMEM;
        for (uint32_t i = 0; i < from->n_rows && st == OSC_OK; i++) {
            if (m->wanted[from->first_row + i] & (WANTED | CALLER))
                st = copy_row(m->base, c, from, i);
        }
        widen(c);
    }
    osc_trace_recount(m->view);
    return st;
}

static osc_status gather_others(struct making *m)
{
    const struct osc_store *const s = &m->base->others;
    size_t n_rows = 0, n_chunks = 0;
    osc_status st = OSC_OK;

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        const uint32_t n = count_others(m, s->chunks[k]);

        n_rows += n;
        n_chunks += n > 0;
    }
    char *at = new_pages(m->view, 1, n_rows, n_chunks);
    if (!at)
        return OSC_ENOMEM;
    for (uint32_t k = 1; k < s->n_chunks && st == OSC_OK && !is_stopped(m); k++) {
        const struct osc_chunk *const from = s->chunks[k];
        const uint32_t n = count_others(m, from);

        if (n == 0)
            continue;
        struct osc_chunk *const c = new_chunk(m, false, from, n, &at);
        if (!c)
            return OSC_ENOMEM;
        for (uint32_t i = 0; i < from->n_rows && st == OSC_OK; i++) {
            if (stays(m, from, i))
                st = copy_row(m->base, c, from, i);
        }
        m->view->others.n_rows += c->n_rows;
    }
    return st;
}

/* --- all of it ---------------------------------------------------------------------- */

/* A copy of N elements of SIZE bytes at FROM; NULL: out of memory. */
static void *copy_of(const void *from, size_t n, size_t size)
{
    void *const to = osc_calloc(n + 1, size);

    if (to && n > 0)
        memcpy(to, from, n * size);
    return to;
}

/* Give the view everything of its base except rows, facts and their findings. */
static osc_status borrow(struct making *m)
{
    struct osc_trace *const view = m->view;
    const struct osc_trace *const base = m->base;

    *view = *base;
    view->base = base;
    view->original = NULL;
    view->is_selected = true;
    view->steps = NULL;
    view->step_ordinals = NULL;
    view->step_bounds = NULL;
    view->bystanders = NULL;
    view->collectives = NULL;
    view->n_steps = view->n_step_ordinals = view->n_step_bounds = view->n_bystanders = 0;
    view->n_collectives = 0;
    view->events = view->others = (struct osc_store){0};
    view->reserved_bytes = 0;
    view->check = NULL;
    view->unchecked = NULL;
    view->unchecked_free = NULL;
    view->facts = 0;
    view->derived = NULL;
    view->derived_free = NULL;
    view->lock = NULL;
    osc_derive_forget_findings(&view->findings);
    view->tracks = copy_of(base->tracks, base->n_tracks, sizeof *base->tracks);
    view->processes = copy_of(base->processes, base->n_processes, sizeof *base->processes);
    view->metas = copy_of(base->metas, base->n_metas, sizeof *base->metas);
    view->devices = copy_of(base->devices, base->n_devices, sizeof *base->devices);
    view->pages = osc_calloc(2, sizeof *view->pages);
    view->n_pages = view->pages ? 2 : 0;
    if (!view->tracks || !view->processes || !view->metas || !view->devices || !view->pages)
        return OSC_ENOMEM;
    return osc_trace_share(view);
}

/* Run MAKE, which fills the view, and charge its memory to the account of the base. */
static osc_status keep(struct making *m, osc_status (*make)(struct making *))
{
    if (is_stopped(m))
        return OSC_ECANCELED;
    (void)osc_mem_enter(m->payer);
    const osc_status st = make(m);
    (void)osc_mem_enter(m->asker);
    return st;
}

static osc_status make_view(struct making *m, const struct osc_selection *s,
                            struct osc_err *err)
{
    osc_status st = osc_filter_make(&m->filter, m->base, s, err);

    if (st == OSC_OK)
        st = keep(m, borrow);
    if (st == OSC_OK)
        st = decide(m);
    if (st == OSC_OK)
        st = keep(m, keep_ordinals);
    if (st == OSC_OK)
        st = keep(m, keep_bounds);
    if (st == OSC_OK)
        st = keep(m, keep_bystanders);
    if (st == OSC_OK)
        st = keep(m, gather_events);
    if (st == OSC_OK)
        st = judge_arrows(m);
    if (st == OSC_OK)
        st = keep(m, gather_others);
    return st == OSC_OK && is_stopped(m) ? OSC_ECANCELED : st;
}

osc_status osc_view_make(struct osc_trace *view, const struct osc_trace *base,
                         const struct osc_selection *s, unsigned n_threads, struct osc_err *err)
{
    struct making m = {
        .view = view, .base = base, .n_threads = n_threads, .asker = osc_mem_account_here()};

    m.payer = base->lock ? base->account : m.asker;
    *view = (struct osc_trace){0};
    osc_trace_read(base);
    m.facts = osc_trace_facts(base);
    const osc_status st = make_view(&m, s, err);
    osc_trace_read_end(base);
    if (st == OSC_ENOMEM)
        (void)osc_fail(err, st, "out of memory while selecting");
    (void)osc_mem_enter(m.payer);
    if (st != OSC_OK)
        osc_trace_fini(view);
    (void)osc_mem_enter(m.asker);
    osc_filter_fini(&m.filter);
    osc_free(m.wanted);
    osc_free(m.n_wanted);
    osc_free(m.hits);
    return st;
}
