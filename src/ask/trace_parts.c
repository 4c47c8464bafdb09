/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/trace_parts.h"

#include <stdlib.h>
#include <string.h>

#include "ask/files/held.h"
#include "base/mem.h"
#include "base/sort.h"
#include "import/run.h"

bool osc_trace_parts_is_possible(struct osc_asked *const *asked, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!asked[i]->def->mapping)
            return false;
    return n > 0;
}

osc_status osc_trace_parts_init(struct osc_trace_parts *b, const struct osc_load *load,
                                const struct osc_view *view, struct osc_asked *const *asked,
                                size_t n)
{
    *b = (struct osc_trace_parts){
        .load = load, .view = view, .is_timed = view->has_from || view->has_to};
    b->answers = osc_calloc(n, sizeof *b->answers);
    if (!b->answers)
        return OSC_ENOMEM;
    for (; b->n_answers < n; b->n_answers++) {
        b->answers[b->n_answers].asked = asked[b->n_answers];
        b->is_timed = b->is_timed || osc_options_name_time(&asked[b->n_answers]->options);
    }
    return OSC_OK;
}

/* Discard what was visited, except the origins: the next visit shows whether they are right. */
static void restart(void *ctx)
{
    struct osc_trace_parts *const b = ctx;

    for (size_t i = 0; i < b->n_answers; i++)
        osc_gathering_fini(&b->answers[i].parts);
    for (uint32_t i = 0; i < b->n_ends; i++)
        osc_free(b->ends[i].message);
    b->n_ends = 0;
}

void osc_trace_parts_fini(struct osc_trace_parts *b)
{
    restart(b);
    for (size_t i = 0; i < b->n_answers; i++) {
        osc_strbuf_fini(&b->answers[i].question);
    }
    osc_free(b->answers);
    osc_free(b->ends);
    osc_free(b->origins);
    *b = (struct osc_trace_parts){0};
}

/* --- one file -------------------------------------------------------------------- */

/* The file that is being visited, its identity, and what was chosen of it. */
struct visited {
    struct osc_loaded loaded; /* this file alone; all members are borrowed */
    struct osc_identity id;
    struct osc_chosen chosen;
};

static bool is_rank_wanted(const struct osc_trace_parts *b, const struct visited *v)
{
    struct osc_identity alone = v->id, *const one = &alone;

    return osc_run_place(&one, 1) != OSC_OK || osc_list_has(b->view->ranks, alone.among.rank);
}

/* Choose in V what the view selects of a file, whatever its rank and span. */
static osc_status choose(const struct osc_trace_parts *b, struct visited *v,
                         struct osc_err *err)
{
    const struct osc_load *const o = b->load;
    struct osc_view view = *b->view;
    const struct osc_choice how = {
        .view = &view,
        .with_callers = o->with_callers,
        .is_late = o->selects_late,
        .forgets_facts = !b->keeps_traces,
        .n_threads = o->how->n_threads,
    };
    struct osc_trace *const t = v->loaded.traces[0];
    osc_status st = osc_trace_touch(t, o->how->n_threads, err);

    if (st != OSC_OK)
        return osc_loaded_fail(&v->loaded, t, st, "reading columns", err);
    view.ranks = NULL;
    view.spans = NULL;
    return osc_chosen_make(&v->chosen, &v->loaded, &how, err);
}

/* Append V's part of the answer to K to OUT, without rows if the file is not wanted. */
static osc_status map(struct osc_asked *k, const struct visited *v, bool is_wanted,
                      const struct osc_partial_question *q, struct osc_strbuf *out,
                      struct osc_err *err)
{
    struct osc_result none;

    if (!is_wanted) {
        osc_result_init(&none, k->def);
        const osc_status st =
            osc_partial_write(q, &none, v->loaded.traces[0], &v->id, out, err);
        osc_result_fini(&none);
        return st;
    }
    const osc_status st = osc_chosen_derive(&v->chosen, &v->loaded, osc_asked_facts(k),
                                            k->request.how.n_threads, err);
    return st == OSC_OK ? osc_query_map(&k->query, v->chosen.traces[0], q, &v->id, out, err)
                        : st;
}

/* Drop the texts of ID: they are the same in the parts of all answers. */
static void drop_texts(struct osc_identity *id)
{
    const struct osc_str none = {NULL, 0};

    id->path = id->source = OSC_STR("");
    id->boot_id = id->host = id->run_id = id->torch_version = none;
}

osc_status osc_trace_parts_ask(struct osc_partial_question *q, const struct osc_trace_parts *b,
                               struct osc_answer_parts *a, struct osc_err *err)
{
    *q = (struct osc_partial_question){
        .def = a->asked->def,
        .options = &a->asked->options,
        .is_timed = b->is_timed,
        .n_rows = osc_query_rows_of_each(&a->asked->query),
        .sort = a->asked->query.sort,
    };
    if (a->question.len == 0)
        osc_partial_ask(q, &a->question);
    if (a->question.status != OSC_OK)
        return osc_fail(err, a->question.status, "out of memory");
    q->asked = (struct osc_str){a->question.s, (uint32_t)a->question.len};
    return OSC_OK;
}

/* Add V's part to answer I of B. Only that of the first answer has the texts of the identity;
 * share_identities() gives them to the others. */
static osc_status ask(struct osc_trace_parts *b, size_t i, const struct visited *v,
                      bool is_wanted, struct osc_err *err)
{
    struct osc_answer_parts *const a = &b->answers[i];
    struct osc_partial_question q;
    struct visited own = *v;
    struct osc_strbuf bytes = {0};
    osc_status st = osc_trace_parts_ask(&q, b, a, err);

    if (st != OSC_OK)
        return st;
    if (i > 0)
        drop_texts(&own.id);
    st = map(a->asked, &own, is_wanted, &q, &bytes, err);

    if (st == OSC_OK)
        st = bytes.status;
    if (st == OSC_OK)
        st = osc_gather_add(&a->parts, (struct osc_str){bytes.s, (uint32_t)bytes.len}, &q, err);
    osc_strbuf_fini(&bytes);
    return st;
}

/* Whether after the failure ST no other file can be read and asked either. */
static bool is_final(osc_status st)
{
    return st == OSC_ENOMEM || st == OSC_ELIMIT || st == OSC_ECANCELED;
}

/* Store in END that a file failed with ST and the message of ERR. Returns ST if no other file
 * can be asked, or else OSC_OK. */
static osc_status store_failure(struct osc_trace_end *end, osc_status st,
                                const struct osc_err *err)
{
    const size_t size = strlen(err->message) + 1;

    if (st == OSC_OK || is_final(st))
        return st;
    end->status = st;
    end->message = osc_malloc(size);
    if (!end->message)
        return OSC_ENOMEM;
    memcpy(end->message, err->message, size);
    return OSC_OK;
}

static int by_file_and_part(const void *a, const void *b)
{
    const struct osc_origin_of *const x = a, *const y = b;

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

/* Give T, whose end is END, the origin that is known, or that it had after the previous visit.
 * Returns whether B can ask: times are not known at the first visit. */
static bool set_origin(const struct osc_trace_parts *b, struct osc_trace *t,
                       const struct osc_trace_end *end)
{
    const struct osc_trace_parts *const from = b->forked_from ? b->forked_from : b;
    const struct osc_origin_of *const all = b->load->origins ? b->load->origins : from->origins;
    const uint32_t n = b->load->origins ? b->load->n_origins : from->n_origins;
    const struct osc_origin_of key = {end->file, end->part, 0};

    if (!b->is_timed || n == 0)
        return !b->is_timed;
    const struct osc_origin_of *const found =
        bsearch(&key, all, n, sizeof key, by_file_and_part);
    t->origin_ns = found ? found->origin_ns : t->origin_ns;
    return true;
}

/* Add an end to B for T, trace PART of file I. NULL: out of memory. */
static struct osc_trace_end *add_end(struct osc_trace_parts *b, const struct osc_trace *t,
                                     uint32_t i, uint32_t part)
{
    if (osc_grow(&b->ends, &b->cap_ends, (size_t)b->n_ends + 1, sizeof *b->ends) != OSC_OK)
        return NULL;
    struct osc_trace_end *const end = &b->ends[b->n_ends];
    *end = (struct osc_trace_end){
        .file = i, .part = part, .status = OSC_OK, .rest = osc_rest_of(t)};
    return end;
}

/* Add V's parts to all answers of B; without rows if !CAN_ASK or V is not wanted. */
static osc_status ask_all(struct osc_trace_parts *b, struct visited *v, bool can_ask,
                          struct osc_err *err)
{
    struct osc_trace_end *const end = &b->ends[b->n_ends];
    const bool is_wanted = can_ask && is_rank_wanted(b, v);
    osc_status st = OSC_OK;

    v->id.number = b->n_ends++;
    if (is_wanted)
        st = store_failure(end, choose(b, v, err), err);
    end->is_without = end->status == OSC_EINVAL;
    for (size_t a = 0; a < b->n_answers && st == OSC_OK; a++) {
        const bool has_rows = is_wanted && end->status == OSC_OK && v->chosen.n_traces > 0;

        st = ask(b, a, v, has_rows, err);
        if (has_rows && st != OSC_OK && !is_final(st)) {
            st = store_failure(end, st, err);
            if (st == OSC_OK) /* its identity affects the places of the others */
                st = ask(b, a, v, false, err);
        }
    }
    osc_chosen_fini(&v->chosen);
    return osc_loaded_fail(&v->loaded, NULL, st, "making a table", err);
}

static osc_status visit(void *ctx, const struct osc_loaded *l, struct osc_trace *t, uint32_t i,
                        uint32_t part, struct osc_err *err)
{
    struct osc_trace_parts *const b = ctx;
    struct visited v = {.loaded = *l};

    const struct osc_trace_end *const end = add_end(b, t, i, part);

    if (!end)
        return osc_loaded_fail(l, t, OSC_ENOMEM, "making a table", err);
    v.loaded.traces = &t;
    v.loaded.n_traces = 1;
    const bool can_ask = set_origin(b, t, end);
    osc_run_identity(&v.id, t, l->files.all[i]);
    return ask_all(b, &v, can_ask, err);
}

osc_status osc_trace_parts_ask_kept(struct osc_trace_parts *b, const struct osc_loaded *l,
                                    struct osc_err *err)
{
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < l->n_traces && st == OSC_OK; i++) {
        struct osc_trace *t = l->traces[i];
        const struct osc_held *const h = osc_held_of(t);
        struct visited v = {.loaded = *l, .id = h->alone};

        if (!add_end(b, t, h->file, h->part))
            return osc_loaded_fail(l, t, OSC_ENOMEM, "making a table", err);
        v.loaded.traces = &t;
        v.loaded.n_traces = 1;
        v.id.path = osc_str_c(l->files.all[h->file]);
        if (h->is_placed)
            v.id.alone = h->place;
        st = ask_all(b, &v, true, err);
    }
    return st;
}

/* --- all of them ----------------------------------------------------------------- */

osc_status osc_trace_parts_origins(struct osc_trace_parts *b, struct osc_origin_of **origins,
                                   uint32_t *n)
{
    struct osc_gathering *const g = &b->answers[0].parts;
    const osc_status st = osc_gather_place(g, NULL, NULL, NULL);

    *n = b->n_ends;
    *origins = osc_calloc((size_t)b->n_ends + 1, sizeof **origins);
    if (!*origins)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < g->n_parts && st == OSC_OK; i++) {
        const struct osc_identity *const id = &g->parts[i].identity;
        const struct osc_trace_end *const end = &b->ends[id->number];

        (*origins)[id->number] =
            (struct osc_origin_of){end->file, end->part, id->among.origin_ns};
    }
    return st;
}

/* Set *IS_DONE to whether the files were asked with the origins that they have among all, and
 * keep these origins for the next visit. */
static osc_status find_origins(void *ctx, bool *is_done)
{
    struct osc_trace_parts *const b = ctx;
    const struct osc_gathering *const g = &b->answers[0].parts;
    struct osc_origin_of *origins = NULL;
    uint32_t n = 0;
    const osc_status st = osc_trace_parts_origins(b, &origins, &n);

    *is_done = b->n_origins > 0; /* nothing was asked at the first visit */
    for (uint32_t i = 0; i < g->n_parts && st == OSC_OK; i++) {
        const struct osc_identity *const id = &g->parts[i].identity;

        *is_done = *is_done && id->alone.origin_ns == origins[id->number].origin_ns;
    }
    osc_free(b->origins);
    b->origins = origins;
    b->n_origins = st == OSC_OK ? n : 0;
    return st;
}

/* --- on several threads -------------------------------------------------------------- */

static void *fork_one(void *ctx)
{
    const struct osc_trace_parts *const from = ctx;
    struct osc_trace_parts *const b = osc_calloc(1, sizeof *b);

    if (!b)
        return NULL;
    *b = (struct osc_trace_parts){.load = from->load,
                                  .view = from->view,
                                  .keeps_traces = from->keeps_traces,
                                  .is_timed = from->is_timed,
                                  .forked_from = from};
    b->answers = osc_calloc(from->n_answers, sizeof *b->answers);
    if (!b->answers) {
        osc_free(b);
        return NULL;
    }
    for (; b->n_answers < from->n_answers; b->n_answers++)
        b->answers[b->n_answers].asked = from->answers[b->n_answers].asked;
    return b;
}

static osc_status join_one(void *ctx, void *forked, bool is_kept)
{
    struct osc_trace_parts *const b = ctx, *const from = forked;
    osc_status st =
        osc_grow(&b->ends, &b->cap_ends, (size_t)b->n_ends + from->n_ends + 1, sizeof *b->ends);

    for (size_t a = 0; a < b->n_answers && is_kept && st == OSC_OK; a++)
        st = osc_gather_take(&b->answers[a].parts, &from->answers[a].parts);
    if (is_kept && st == OSC_OK) {
        for (uint32_t i = 0; i < from->n_ends; i++)
            b->ends[b->n_ends++] = from->ends[i];
        from->n_ends = 0; /* their messages are B's now */
    }
    osc_trace_parts_fini(from);
    osc_free(from);
    return is_kept ? st : OSC_OK;
}

struct osc_visitor osc_trace_parts_visitor(struct osc_trace_parts *b)
{
    return (struct osc_visitor){.visit = visit,
                                .fork = fork_one,
                                .join = join_one,
                                .restart = restart,
                                .end = b->is_timed && !b->load->origins ? find_origins : NULL,
                                .ctx = b};
}

/* --- the answer ------------------------------------------------------------------ */

/* The choice of files, and why a file that was asked for is missing. */
struct pick {
    const struct osc_trace_parts *b;
    struct osc_rank_span seen; /* of all files */
    uint32_t n_named;
    const struct osc_identity *last;   /* of those named, in order of rank and span */
    const struct osc_identity *failed; /* the first whose failure fails the whole question */
};

static bool is_before(const struct osc_identity *x, const struct osc_identity *y)
{
    const struct osc_placing *const p = &x->among, *const q = &y->among;

    if (p->rank != q->rank)
        return p->rank < q->rank;
    if (p->span != q->span)
        return p->span < q->span;
    return p->piece != q->piece ? p->piece < q->piece : x->number < y->number;
}

static bool is_kept(void *ctx, const struct osc_identity *id)
{
    struct pick *const p = ctx;
    const struct osc_view *const view = p->b->view;
    const osc_status st = p->b->ends[id->number].status;

    osc_rank_span_add(&p->seen, id->among.rank, id->among.span);
    if (!osc_list_has(view->ranks, id->among.rank) ||
        !osc_list_has(view->spans, id->among.span))
        return false;
    p->n_named++;
    if (!p->last || is_before(p->last, id))
        p->last = id;
    if (st != OSC_OK && !p->b->ends[id->number].is_without &&
        (!p->failed || is_before(id, p->failed)))
        p->failed = id;
    return st == OSC_OK;
}

/* Give the parts of A, an answer of B, their identities with texts. */
static void share_identities(const struct osc_trace_parts *b, struct osc_answer_parts *a)
{
    const struct osc_gathering *const first = &b->answers[0].parts;

    for (uint32_t i = 0; i < a->parts.n_parts; i++)
        a->parts.parts[i].identity = first->parts[i].identity;
}

osc_status osc_trace_parts_place(struct osc_trace_parts *b, const struct osc_asked *k,
                                 struct osc_asked_of *of, struct osc_err *err)
{
    struct pick p = {.b = b};
    const struct osc_identity *why = NULL;
    struct osc_answer_parts *a = b->answers;

    while (a->asked != k)
        a++;
    share_identities(b, a);
    osc_status st = osc_gather_place(&a->parts, is_kept, &p, err);
    if (st == OSC_OK && p.n_named == 0)
        return osc_rank_span_fail(&p.seen, err);
    of->parts = (const struct osc_partial *const *)a->parts.order;
    of->n_parts = a->parts.n_ordered;
    if (st == OSC_OK && (p.failed || of->n_parts == 0))
        why = p.failed ? p.failed : p.last;
    if (why)
        return osc_fail(err, b->ends[why->number].status, "%s", b->ends[why->number].message);
    return st;
}

void osc_trace_parts_forget(struct osc_trace_parts *b, const struct osc_asked *k)
{
    for (size_t i = 1; i < b->n_answers; i++) /* all others need the texts of the first */
        if (b->answers[i].asked == k)
            osc_gathering_fini(&b->answers[i].parts);
}

osc_status osc_trace_parts_digest(const struct osc_trace_parts *b, const struct osc_asked *k,
                                  struct osc_digest *d)
{
    struct osc_strbuf all = {0};

    for (uint32_t i = 0; i < k->query.n_parts; i++) {
        const struct osc_identity *const id = &k->query.parts[i]->identity;

        osc_rest_add(&all, &b->ends[id->number].rest, &id->among);
    }
    const osc_status st = all.status;
    if (st == OSC_OK)
        *d = osc_digest_of(all.s, all.len);
    osc_strbuf_fini(&all);
    return st;
}
