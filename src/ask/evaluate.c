/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/evaluate.h"

#include <string.h>

#include "ask/cancel.h"
#include "ask/files/budget.h"
#include "ask/join.h"
#include "ask/set_state.h"
#include "ask/trace_parts.h"
#include "base/mem.h"
#include "base/note.h"

/* The way of one question. */
struct evaluation {
    struct osc_asked *k;
    struct osc_set *set; /* that answers: the one that was asked, or own */
    struct osc_set_state *state;
    const struct osc_chosen *chosen;
    struct osc_set *own;       /* of files that were read again for K; or NULL */
    struct osc_set_seen *seen; /* used; a view of the state; or NULL */
};

/* --- views that are kept ---------------------------------------------------------- */

/* Append a key that identifies the view V and whether its table selects rows itself
 * (IS_LATE). */
static void add_key(struct osc_strbuf *out, const struct osc_view *v, bool is_late)
{
    const char *const texts[] = {v->ranks,  v->spans,  v->process,
                                 v->thread, v->device, v->steps};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        osc_strbuf_addc(out, texts[i] ? '=' : '-');
        osc_strbuf_add(out, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) + 1 : 0);
    }
    osc_strbuf_addf(out, "%d %lld %d %lld %d", v->has_from != 0, (long long)v->from_ns,
                    v->has_to != 0, (long long)v->to_ns, is_late);
}

/* Count one user of S less, under the lock. Returns S for the caller to free if it was the
 * last, or else NULL. */
static struct osc_set_seen *unuse(struct osc_set_seen *s)
{
    return s && --s->n_users == 0 ? s : NULL;
}

/* Get the last view of the state of E and count one more user; NULL if its key is not KEY. */
static struct osc_set_seen *find_seen(const struct evaluation *e, const struct osc_strbuf *key)
{
    struct osc_set_seen *found = NULL;

    pthread_mutex_lock(&e->set->lock);
    struct osc_set_seen *const last = e->state->last;
    if (last && last->key.len == key->len && memcmp(last->key.s, key->s, key->len) == 0) {
        found = last;
        found->n_users++;
    }
    pthread_mutex_unlock(&e->set->lock);
    return found;
}

/* Make the view HOW for E. It becomes the last view and has two users: its state and E. */
static osc_status make_seen(struct evaluation *e, const struct osc_strbuf *key,
                            const struct osc_choice *how, struct osc_err *err)
{
    struct osc_set *const set = e->set;
    struct osc_mem_account *const paying =
        osc_mem_enter(&set->account); /* the view outlives the question */
    struct osc_set_seen *const s = osc_calloc(1, sizeof *s);
    struct osc_set_seen *before = NULL;
    osc_status st = s ? OSC_OK : OSC_ENOMEM;

    if (st == OSC_OK) {
        osc_strbuf_add(&s->key, key->s, key->len);
        st = s->key.status;
    }
    if (st == OSC_OK)
        st = osc_chosen_make(&s->chosen, &e->state->loaded, how, err);
    osc_mem_enter(paying);
    if (st != OSC_OK) {
        osc_set_free_seen(set, s);
        return st;
    }
    s->n_users = 2;
    pthread_mutex_lock(&set->lock);
    before = unuse(e->state->last);
    e->state->last = s;
    pthread_mutex_unlock(&set->lock);
    osc_set_free_seen(set, before);
    e->seen = s;
    return OSC_OK;
}

/* --- plan -------------------------------------------------------------------------- */

/* Whether the state of E suffices for any view with the ranks and spans of V. */
static bool has_traces(const struct evaluation *e, const struct osc_view *v)
{
    const struct osc_view *const only = &e->set->only;

    return osc_list_within(v->ranks, only->ranks) && osc_list_within(v->spans, only->spans) &&
           !e->state->loaded.is_windowed;
}

/* Let E answer from a view of the traces that are kept. */
static osc_status plan_view(struct evaluation *e, struct osc_err *err)
{
    const struct osc_choice how = {
        .view = &e->k->request.view,
        .is_late = osc_asked_selects_late(e->k),
        .n_threads = e->k->request.how.n_threads,
        .asker = osc_mem_account_here(),
    };
    struct osc_strbuf key = {0};

    add_key(&key, how.view, how.is_late);
    osc_status st = key.status;
    if (st == OSC_OK)
        e->seen = find_seen(e, &key);
    if (st == OSC_OK && !e->seen)
        st = make_seen(e, &key, &how, err);
    osc_strbuf_fini(&key);
    if (st == OSC_OK)
        e->chosen = &e->seen->chosen;
    return st;
}

/* Let E answer from the files, which are read again: the set lacks traces or rows. */
static osc_status plan_files(struct evaluation *e, bool keeps_parts, struct osc_err *err)
{
    const struct osc_asked *const k = e->k;
    const struct osc_load o = {
        .paths = e->set->paths,
        .n_paths = e->set->n_paths,
        .how = &e->set->how,
        .view = &k->request.view,
        .selects_late = osc_asked_selects_late(k),
        .reserve = osc_budget_for_table(k->def, k->request.question.sort != NULL, false),
        .has_digests = true,
        .asker = osc_mem_account_here(),
        .keeps_parts = keeps_parts,
    };
    const osc_status st = osc_set_load_to_ask(&e->own, &o, &e->k, 1, err);

    if (st != OSC_OK)
        return st;
    e->set = e->own;
    e->state = e->own->now;
    e->chosen = &e->state->chosen;
    return OSC_OK;
}

/*
 * Decide which traces answer E for the sink TO: all that the set was opened with, if the
 * question has no view of its own (HAS_VIEW); another view of them; or the files. Parts are
 * made of whole traces, of which each selects its rows.
 */
static osc_status plan(struct evaluation *e, const struct osc_sink *to, bool has_view,
                       struct osc_err *err)
{
    const bool is_kept = !e->state->loaded.is_visited, in_parts = to->takes == OSC_SINK_PARTS;

    if (is_kept && !in_parts && !has_view &&
        (osc_view_is_all(&e->set->only) || !osc_asked_selects_late(e->k)))
        return OSC_OK;
    if (is_kept && has_traces(e, &e->k->request.view))
        return in_parts ? OSC_OK : plan_view(e, err);
    if (to->takes == OSC_SINK_TRACES)
        return osc_fail(err, OSC_EINVAL, "the set does not keep the traces");
    return plan_files(e, in_parts, err);
}

/* --- rows ---------------------------------------------------------------------------- */

static osc_status take_digest(void *rows, const struct osc_evaluated *e, struct osc_err *err)
{
    (void)err;
    osc_result_move(rows, &e->asked->answer.blocks[0].result);
    return OSC_OK;
}

/* Make the rows of E, whose table is made of the answers to others, of those in ALL. */
static osc_status compose(const struct evaluation *e, const struct osc_result *const *all,
                          const struct osc_asked_of *of, struct osc_err *err)
{
    struct osc_asked *const k = e->k;
    struct osc_result rows;

    osc_result_init(&rows, k->def);
    k->query.ready = &rows;
    osc_status st = osc_asked_name(k, of);
    if (st == OSC_OK)
        st = k->def->composition->compose(all, &k->options, &rows, err);
    if (st == OSC_OK)
        st = osc_asked_answer(k, of, err);
    k->query.ready = NULL;
    osc_result_fini(&rows);
    return st;
}

/* Ask for the tables that the one of E is made of, and make its rows. */
static osc_status ask_others(const struct evaluation *e, const struct osc_asked_of *of,
                             struct osc_err *err)
{
    const struct osc_table_def *const *const tables = e->k->def->composition->tables;
    struct osc_asking a = {.view = &e->k->request.view, .question = &e->k->request.question};
    size_t n = 0, n_made = 0;

    while (tables[n])
        n++;
    struct osc_result *const made = osc_calloc(n + 1, sizeof *made);
    const struct osc_result **const all = osc_calloc(n + 1, sizeof(void *));
    osc_status st = made && all ? OSC_OK : OSC_ENOMEM;

    for (; n_made < n && st == OSC_OK; n_made++) {
        const struct osc_sink sink = {.take = take_digest, .ctx = &made[n_made]};

        osc_result_init(&made[n_made], tables[n_made]);
        all[n_made] = &made[n_made];
        a.digest = tables[n_made];
        st = osc_evaluate(e->set, &a, &sink, err);
    }
    if (st == OSC_OK)
        st = compose(e, all, of, err);
    while (n_made > 0)
        osc_result_fini(&made[--n_made]);
    osc_free(made);
    osc_free(all);
    return st;
}

/* Give OF the parts of the answer of E, placed: the traces themselves, with their facts, or
 * what was made of each file. */
static osc_status gather(const struct evaluation *e, struct osc_asked_of *of,
                         struct osc_err *err)
{
    struct osc_asked *const k = e->k;

    of->parts = e->chosen->order;
    of->n_parts = e->chosen->n_traces;
    if (k->def->composition)
        return OSC_OK;
    if (!of->loaded->is_visited)
        return osc_chosen_derive(e->chosen, of->loaded, osc_asked_facts(k),
                                 k->request.how.n_threads, err);
    struct osc_mem_account *const asker = osc_mem_enter(&e->set->account);
    const osc_status st = osc_trace_parts_place(&e->set->parts, k, of, err);
    osc_mem_enter(asker);
    return st;
}

/* Make the rows of E. */
static osc_status finish(const struct evaluation *e, struct osc_err *err)
{
    struct osc_asked_of of = {
        .loaded = &e->state->loaded, .paths = e->set->paths, .n_paths = e->set->n_paths};
    const osc_status st = gather(e, &of, err);

    if (st != OSC_OK)
        return st;
    return e->k->def->composition ? ask_others(e, &of, err) : osc_asked_answer(e->k, &of, err);
}

/* --- sinks --------------------------------------------------------------------------- */

/* What E has for sinks. */
static struct osc_evaluated evaluated(const struct evaluation *e)
{
    return (struct osc_evaluated){.asked = e->k,
                                  .chosen = e->chosen,
                                  .loaded = &e->state->loaded,
                                  .load = &e->set->load,
                                  .parts = &e->set->parts};
}

static osc_status give_rows(const struct evaluation *e, const struct osc_sink *to,
                            struct osc_err *err)
{
    struct osc_evaluated all = evaluated(e);
    osc_status st = finish(e, err);

    if (st == OSC_OK && to)
        st = all.loaded->is_visited ? osc_trace_parts_digest(all.parts, e->k, &all.files)
                                    : osc_chosen_digest(e->chosen, all.loaded, &all.files);
    if (st == OSC_OK && to)
        st = to->take(to->ctx, &all, err);
    return osc_loaded_fail(all.loaded, NULL, st, "making a table", err);
}

/* Give the parts of the answer of E to TO: those of the files, or of the traces that are
 * kept. */
static osc_status give_parts(const struct evaluation *e, const struct osc_sink *to,
                             struct osc_err *err)
{
    const struct osc_load load = {.how = &e->set->how,
                                  .selects_late = osc_asked_selects_late(e->k)};
    struct osc_evaluated all = evaluated(e);
    struct osc_trace_parts kept = {.n_answers = 0};
    osc_status st = OSC_OK;

    if (!all.loaded->is_visited) {
        st = osc_trace_parts_init(&kept, &load, &e->k->request.view, &e->k, 1);
        kept.keeps_traces = true;
        if (st == OSC_OK)
            st = osc_trace_parts_ask_kept(&kept, all.loaded, err);
        all.parts = &kept;
    }
    if (st == OSC_OK)
        st = to->take(to->ctx, &all, err);
    osc_trace_parts_fini(&kept);
    return osc_loaded_fail(all.loaded, NULL, st, "making parts", err);
}

/* Let TO work with the traces of E. */
static osc_status give_traces(const struct evaluation *e, const struct osc_sink *to,
                              struct osc_err *err)
{
    const struct osc_evaluated all = evaluated(e);
    const struct osc_chosen *const c = e->chosen;
    osc_status st =
        osc_chosen_derive(c, all.loaded, to->facts, e->k->request.how.n_threads, err);

    for (uint32_t i = 0; i < c->n_traces && st == OSC_OK; i++)
        osc_trace_read(c->traces[i]);
    if (st == OSC_OK) {
        st = to->take(to->ctx, &all, err);
        for (uint32_t i = 0; i < c->n_traces; i++)
            osc_trace_read_end(c->traces[i]);
    }
    return osc_loaded_fail(all.loaded, NULL, st, "reading traces", err);
}

/* Let TO take what it takes of E; NULL: rows, which stay in the question. */
static osc_status give(const struct evaluation *e, const struct osc_sink *to,
                       struct osc_err *err)
{
    switch (to ? to->takes : OSC_SINK_ROWS) {
    case OSC_SINK_PARTS:
        return give_parts(e, to, err);
    case OSC_SINK_TRACES:
        return give_traces(e, to, err);
    case OSC_SINK_ROWS:
        break;
    }
    return give_rows(e, to, err);
}

/* --- all of it ----------------------------------------------------------------------- */

/* Answer K, a question about SET, for the sink TO. */
static osc_status answer(struct osc_set *set, struct osc_asked *k, const struct osc_sink *to,
                         bool has_view, struct osc_err *err)
{
    struct osc_set_state *const s = osc_set_use_state(set);
    struct evaluation e = {.k = k, .set = set, .state = s, .chosen = &s->chosen};
    osc_status st = plan(&e, to, has_view, err);

    if (st == OSC_OK)
        st = give(&e, to, err);
    osc_asked_fini(k); /* it borrows the traces */
    if (e.seen) {
        pthread_mutex_lock(&set->lock);
        struct osc_set_seen *const last = unuse(e.seen);
        pthread_mutex_unlock(&set->lock);
        osc_set_free_seen(set, last);
    }
    osc_set_release(e.own);
    osc_set_unuse_state(set, s);
    return st;
}

/* Make K of A, about the view of R. */
static osc_status init(struct osc_asked *k, const struct osc_asking *a, struct osc_request *r,
                       struct osc_err *err)
{
    const struct osc_renderer *const form = a->layout ? NULL : osc_renderer_find("csv");

    if (!a->digest)
        return osc_asked_init(k, r, form, err);
    r->question = (struct osc_question){.limit = -1, .merge = 1};
    const osc_status st = osc_asked_init_table(k, a->digest, r, form, err);
    if (a->question)
        osc_request_follow(a->question, a->digest, &k->options);
    return st;
}

osc_status osc_evaluate(struct osc_set *set, const struct osc_asking *a,
                        const struct osc_sink *to, struct osc_err *err)
{
    static const struct osc_view all;
    static const struct osc_question any;
    const struct osc_view *const view = a->view ? a->view : &all;
    const struct osc_question *const q = a->question ? a->question : &any;
    struct osc_request r = {
        .how = set->how, .view = osc_view_join(&set->only, view), .question = *q};
    struct osc_mem_account account = {.parent = &set->account,
                                      .limit = (size_t)q->max_memory_bytes};
    struct osc_cancel_entry entry = {.account = &account};
    struct osc_asked k = {0};
    struct osc_err own;

    err = err ? err : &own; /* failures are reported through it */
    err->message[0] = '\0';
    if (a->layout)
        r.text = *a->layout;
    else if (to->takes == OSC_SINK_PARTS)
        r.text.format = "csv"; /* with all that programs get */
    struct osc_mem_account *const before = osc_mem_enter(&account);
    osc_cancel_join(q->cancel, &entry);
    osc_status st = init(&k, a, &r, err);
    if (st == OSC_OK && to->takes == OSC_SINK_PARTS && !k.def->mapping)
        st = osc_fail(err, OSC_EINVAL, "%s has no parts: %s", k.def->name,
                      osc_table_why_whole(k.def));
    if (st == OSC_OK)
        st = answer(set, &k, to, !osc_view_is_all(view), err);
    osc_asked_fini(&k);
    const osc_status reason = osc_mem_reason(st);
    if (st != OSC_OK && (err->message[0] == '\0' || reason == OSC_ECANCELED))
        (void)osc_fail(err, reason, "%s", osc_status_text(reason));
    if (st != OSC_OK)
        osc_note_clean(err);
    osc_cancel_leave(q->cancel, &entry);
    osc_mem_enter(before);
    osc_mem_account_end(&account); /* frames outlive it */
    return reason;
}

osc_status osc_evaluate_opened(struct osc_set *set, struct osc_asked *k,
                               const struct osc_sink *to, struct osc_err *err)
{
    const struct evaluation e = {
        .k = k, .set = set, .state = set->now, .chosen = &set->now->chosen};
    const osc_status st = give(&e, to, err);
    struct osc_mem_account *const before = osc_mem_enter(&set->account);

    osc_trace_parts_forget(&set->parts, k);
    osc_mem_enter(before);
    return st;
}

/* --- what programs ask --------------------------------------------------------------- */

static osc_status take_frame(void *ctx, const struct osc_evaluated *e, struct osc_err *err)
{
    const struct osc_frame_sink *const to = ctx;

    return osc_frame_make(to->frame, e->asked, to->window, &e->files, err);
}

struct osc_sink osc_sink_frame(struct osc_frame_sink *to)
{
    *to->frame = NULL;
    return (struct osc_sink){.take = take_frame, .ctx = to};
}

osc_status osc_ask(struct osc_set *set, const struct osc_view *view,
                   const struct osc_question *question, struct osc_frame **f,
                   struct osc_err *err)
{
    struct osc_frame_sink frame = {.frame = f};
    const struct osc_sink sink = osc_sink_frame(&frame);

    return osc_evaluate(set, &(struct osc_asking){view, question, NULL, NULL}, &sink, err);
}

static osc_status take_text(void *ctx, const struct osc_evaluated *e, struct osc_err *err)
{
    (void)ctx;
    return osc_asked_write(e->asked, err);
}

osc_status osc_ask_text(struct osc_set *set, const struct osc_view *view,
                        const struct osc_question *question, const struct osc_layout *layout,
                        struct osc_err *err)
{
    const struct osc_sink sink = {.take = take_text};

    return osc_evaluate(set, &(struct osc_asking){view, question, layout, NULL}, &sink, err);
}

static osc_status take_parts(void *bytes, const struct osc_evaluated *e, struct osc_err *err)
{
    (void)err;
    return osc_join_put(bytes, &e->asked->request, e->load, e->loaded, e->parts);
}

struct osc_sink osc_sink_parts(struct osc_strbuf *to)
{
    return (struct osc_sink){OSC_SINK_PARTS, .take = take_parts, .ctx = to};
}

osc_status osc_ask_part(struct osc_set *set, const struct osc_view *view,
                        const struct osc_question *question,
                        int (*write)(void *ctx, const char *s, size_t len), void *ctx,
                        struct osc_err *err)
{
    struct osc_strbuf bytes = {0};
    const struct osc_sink sink = osc_sink_parts(&bytes);
    osc_status st =
        osc_evaluate(set, &(struct osc_asking){view, question, NULL, NULL}, &sink, err);

    if (st == OSC_OK && write(ctx, bytes.s, bytes.len) != 0)
        st = osc_fail(err, OSC_EIO, "the part could not be written");
    osc_strbuf_fini(&bytes);
    return st;
}
