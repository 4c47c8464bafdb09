/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/set.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "analysis/table_registry.h"
#include "ask/by_rank.h"
#include "ask/cancel.h"
#include "ask/compose.h"
#include "ask/files/budget.h"
#include "ask/frame.h"
#include "ask/join.h"
#include "ask/refresh.h"
#include "ask/set_state.h"
#include "base/mem.h"
#include "base/note.h"

/* --- opening --------------------------------------------------------------------- */

static void free_set(struct osc_set *set)
{
    struct osc_set_notes_text *n =
        atomic_load_explicit(&set->notes, memory_order_relaxed); /* no other thread has it */

    osc_set_free_state(set, set->now);
    struct osc_mem_account *const before = osc_mem_enter(&set->account);
    for (struct osc_set_notes_text *next = NULL; n; n = next) {
        next = n->before;
        osc_free(n);
    }
    osc_by_rank_fini(&set->by_rank);
    osc_arena_fini(&set->arena);
    osc_mem_enter(before);
    pthread_mutex_destroy(&set->refreshing);
    pthread_mutex_destroy(&set->drawing);
    pthread_mutex_destroy(&set->naming);
    pthread_mutex_destroy(&set->lock);
    osc_free(set);
}

/* Replace *TEXT, which may be NULL, by a copy that the set owns. */
static bool own_text(struct osc_set *set, const char **text)
{
    *text = *text ? osc_arena_dup(&set->arena, *text, strlen(*text)) : NULL;
    return *text != NULL;
}

/* Copy O into SET and give it an empty state. */
static osc_status keep(struct osc_set *set, const struct osc_load *o)
{
    const char **const texts[] = {&set->only.ranks,  &set->only.spans,  &set->only.process,
                                  &set->only.thread, &set->only.device, &set->only.steps};

    set->how = *o->how;
    set->how.only = NULL;
    set->only = *o->view;
    set->load = *o;
    set->load.how = &set->how;
    set->load.view = &set->only;
    set->load.hear = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i] && !own_text(set, texts[i]))
            return OSC_ENOMEM;
    set->paths = osc_arena_calloc(&set->arena, o->n_paths + 1, sizeof *set->paths);
    if (!set->paths)
        return OSC_ENOMEM;
    for (; set->n_paths < o->n_paths; set->n_paths++) {
        set->paths[set->n_paths] = o->paths[set->n_paths];
        if (!own_text(set, &set->paths[set->n_paths]))
            return OSC_ENOMEM;
    }
    set->load.paths = set->paths; /* messages name them as long as the set lives */
    set->now = osc_calloc(1, sizeof *set->now);
    if (!set->now)
        return OSC_ENOMEM;
    set->now->n_users = 1;
    return OSC_OK;
}

/* Copy the notes of S to SET, unless they are the same as before. */
static osc_status keep_notes(struct osc_set *set, const struct osc_set_state *s)
{
    const struct osc_strbuf *const said = &s->loaded.notes;
    struct osc_set_notes_text *const before =
        atomic_load_explicit(&set->notes, memory_order_relaxed); /* only this thread writes */

    if (said->len == 0 ? !before || before->text[0] == '\0'
                       : before && strcmp(before->text, said->s) == 0)
        return OSC_OK;
    struct osc_set_notes_text *const n = osc_calloc(1, sizeof *n + said->len + 1);
    if (!n)
        return OSC_ENOMEM;
    memcpy(n->text, said->s ? said->s : "", said->len);
    n->before = before;
    /* pairs with osc_set_notes() */
    atomic_store_explicit(&set->notes, n, memory_order_release);
    return OSC_OK;
}

/* Choose in S the view for which O has loaded it. */
static osc_status choose(struct osc_set_state *s, const struct osc_load *o, struct osc_err *err)
{
    const struct osc_choice how = {
        .view = o->view,
        .with_callers = o->with_callers,
        .is_late = o->selects_late,
        .forgets_facts = true,
        .n_threads = o->how->n_threads,
    };

    return osc_chosen_make(&s->chosen, &s->loaded, &how, err);
}

/* Make LOCK one that fails if its own holder locks it again. None of these calls can fail on
 * Linux. */
static void init_refreshing(pthread_mutex_t *lock)
{
    pthread_mutexattr_t how;

    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(lock, &how);
    pthread_mutexattr_destroy(&how);
}

/* Load O as the first state of SET, file by file if SET has questions to ask of each. */
static osc_status load(struct osc_set *set, const struct osc_load *o, struct osc_err *err)
{
    const bool is_by_rank = set->by_rank.n_answers > 0;
    struct osc_visitor visitor = osc_by_rank_visitor(&set->by_rank);
    struct osc_load own = *o;
    struct osc_set_state *const s = set->now;

    if (o->joined)
        return osc_joined_load(o->joined, &s->loaded, &set->by_rank, o, err);
    visitor.takes_all = o->keeps_parts;
    own.paths = set->paths;
    own.visitor = is_by_rank ? &visitor : NULL;
    osc_status st = osc_load(&s->loaded, &own, err);
    if (st == OSC_OK && !s->loaded.is_visited)
        st = choose(s, o, err);
    return st == OSC_OK ? osc_loaded_fail(&s->loaded, NULL, keep_notes(set, s), "loading", err)
                        : st;
}

osc_status osc_set_load(struct osc_set **set, const struct osc_load *o, struct osc_err *err)
{
    return osc_set_load_to_ask(set, o, NULL, 0, err);
}

osc_status osc_set_load_to_ask(struct osc_set **to, const struct osc_load *o,
                               struct osc_asked *const *asked, size_t n, struct osc_err *err)
{
    struct osc_set *const set = osc_calloc(1, sizeof *set);

    *to = NULL;
    if (!set)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    atomic_store_explicit(&set->n_holders, 1, memory_order_relaxed); /* nobody else has it */
    pthread_mutex_init(&set->lock, NULL);                            /* cannot fail on Linux */
    set->account.parent = o->asker;
    pthread_mutex_init(&set->drawing, NULL);
    pthread_mutex_init(&set->naming, NULL);
    init_refreshing(&set->refreshing);
    struct osc_mem_account *const before = osc_mem_enter(&set->account);
    osc_status st = keep(set, o);
    if (st == OSC_OK && osc_by_rank_is_possible(asked, n))
        st = osc_by_rank_init(&set->by_rank, o, &set->only, asked, n);
    if (st == OSC_OK) {
        atomic_store_explicit(&set->account.limit, osc_budget_limit(o->how->max_memory_bytes),
                              memory_order_relaxed); /* nobody else has it */
        st = load(set, o, err);
    } else {
        (void)osc_fail(err, st, "out of memory");
    }
    osc_mem_enter(before);
    if (st == OSC_OK)
        *to = set;
    else
        free_set(set);
    return st;
}

/* The visitor that is used to refresh a set that keeps no traces. */
static osc_status see_nothing(void *ctx, const struct osc_loaded *l, struct osc_trace *t,
                              uint32_t i, uint32_t part, struct osc_err *err)
{
    (void)ctx, (void)l, (void)t, (void)i, (void)part, (void)err;
    return OSC_OK;
}

static void forget_nothing(void *ctx)
{
    (void)ctx;
}

static const struct osc_visitor nobody = {.visit = see_nothing, .restart = forget_nothing};

/* Read the files of O one by one, only to learn their identities and whether they have what is
 * selected. */
static osc_status open_one_by_one(struct osc_set **to, const struct osc_load *o,
                                  struct osc_err *err)
{
    const struct osc_request r = {
        .how = *o->how, .view = *o->view, .question = {.table = osc_table_tracks.name}};
    struct osc_asked k = {0}, *const all = &k;
    osc_status st = osc_asked_init(&k, &r, osc_renderer_find("csv"), err);

    if (st == OSC_OK)
        st = osc_set_load_to_ask(to, o, &all, 1, err);
    struct osc_set *const set = st == OSC_OK ? *to : NULL;
    if (set)
        set->load.visitor = &nobody;
    if (set && osc_set_loaded(set)->is_visited) {
        st = osc_set_run(set, &k, err);
        struct osc_mem_account *const before = osc_mem_enter(&set->account);
        osc_by_rank_fini(&set->by_rank);
        osc_mem_enter(before);
        if (st != OSC_OK) {
            *to = NULL;
            free_set(set);
        }
    }
    osc_asked_fini(&k);
    return st;
}

osc_status osc_set_open(struct osc_set **set, const char *const *paths, size_t n,
                        const struct osc_how *how, struct osc_err *err)
{
    static const struct osc_how any_how;
    static const struct osc_view all;
    const struct osc_load o = {
        .paths = paths,
        .n_paths = n,
        .how = how ? how : &any_how,
        .view = how && how->only ? how->only : &all,
        .reserve = osc_budget_for_frames(),
        .has_digests = true,
    };
    const struct osc_request r = {.how = *o.how, .view = *o.view};
    osc_status st = osc_request_check(&r, err);

    *set = NULL;
    if (st == OSC_OK && n == 0)
        st = osc_fail(err, OSC_EINVAL, "which trace?");
    if (st == OSC_OK)
        st = o.how->one_by_one ? open_one_by_one(set, &o, err) : osc_set_load(set, &o, err);
    if (st != OSC_OK)
        osc_note_clean(err);
    return st;
}

struct osc_set *osc_set_hold(struct osc_set *set)
{
    if (set) /* relaxed: the caller already has access through its own reference */
        atomic_fetch_add_explicit(&set->n_holders, 1, memory_order_relaxed);
    return set;
}

void osc_set_release(struct osc_set *set)
{
    /* Pairs with itself: all reads by other holders happen before the last one frees it. */
    if (set && atomic_fetch_sub_explicit(&set->n_holders, 1, memory_order_acq_rel) == 1)
        free_set(set);
}

const char *osc_set_notes(const struct osc_set *set)
{
    /* pairs with the release in keep_notes() */
    const struct osc_set_notes_text *const n =
        atomic_load_explicit(&set->notes, memory_order_acquire);

    return n ? n->text : "";
}

const struct osc_loaded *osc_set_loaded(const struct osc_set *set)
{
    return &set->now->loaded;
}

const struct osc_chosen *osc_set_chosen(const struct osc_set *set)
{
    return &set->now->chosen;
}

osc_status osc_set_origins(const struct osc_set *set, struct osc_origin_of **origins,
                           uint32_t *n)
{
    return osc_by_rank_origins(&set->by_rank, origins, n);
}

/* --- refreshing ------------------------------------------------------------------ */

static bool is_all(const struct osc_view *v)
{
    return !v->ranks && !v->spans && !v->process && !v->thread && !v->device && !v->steps &&
           !v->has_from && !v->has_to;
}

/* Make S, which is loaded, the present state of SET. */
static void publish(struct osc_set *set, struct osc_set_state *s)
{
    s->n_users = 1;
    pthread_mutex_lock(&set->lock);
    struct osc_set_state *const before = set->now;
    set->now = s;
    pthread_mutex_unlock(&set->lock);
    osc_set_unuse_state(set, before);
}

/* osc_set_refresh() in the account of SET, with the lock for refreshes held. */
static osc_status refresh(struct osc_set *set, struct osc_changes *changes, struct osc_err *err)
{
    struct osc_set_state *const s = osc_calloc(1, sizeof *s);
    bool is_same = false;

    if (!s)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    const struct osc_refreshing r = {&set->now->loaded, &set->load, is_all(&set->only)};
    osc_status st = osc_refresh(&s->loaded, &r, changes, &is_same, err);
    if (st == OSC_OK && !is_same && !s->loaded.is_visited)
        st = choose(s, &set->load, err);
    if (st == OSC_OK && !is_same && keep_notes(set, s) != OSC_OK)
        st = osc_fail(err, OSC_ENOMEM, "out of memory");
    if (st == OSC_OK && !is_same)
        publish(set, s);
    else
        osc_set_free_state(set, s);
    return st;
}

osc_status osc_set_refresh(struct osc_set *set, struct osc_changes *changes,
                           struct osc_err *err)
{
    err = err ? err : &(struct osc_err){0};
    changes = changes ? changes : &(struct osc_changes){0};
    *changes = (struct osc_changes){0};
    if (pthread_mutex_lock(&set->refreshing) != 0)
        return osc_fail(err, OSC_EINVAL, "the set is being refreshed by this thread");
    struct osc_mem_account *const before = osc_mem_enter(&set->account);
    const osc_status st = osc_mem_reason(refresh(set, changes, err));
    osc_mem_forget_refusals();
    osc_mem_enter(before);
    pthread_mutex_unlock(&set->refreshing);
    if (st != OSC_OK) {
        *changes = (struct osc_changes){0};
        osc_note_clean(err);
    }
    return st;
}

/* --- asking ---------------------------------------------------------------------- */

/* What a question is asked of. */
struct asked_of {
    struct osc_set *set;
    struct osc_set_state *state; /* used */
    const struct osc_chosen *chosen;
};

static osc_status keep_nothing(void *ctx, const struct osc_asked *k)
{
    (void)ctx, (void)k;
    return OSC_OK;
}

/* See compose.h. */
static osc_status digest(void *set, const struct osc_asked *k, const struct osc_table_def *def,
                         struct osc_result *to, struct osc_err *err)
{
    const struct osc_set_digesting how = {.def = def,
                                          .view = &k->request.view,
                                          .question = &k->request.question,
                                          .keep = keep_nothing};
    struct osc_digest files;

    return osc_set_digest(set, &how, to, &files, err);
}

static osc_status run(const struct asked_of *whom, struct osc_asked *k, struct osc_err *err)
{
    const struct osc_asked_of of = {&whom->state->loaded, whom->chosen, whom->set->paths,
                                    whom->set->n_paths};

    if (k->def->composition)
        return osc_compose_run(k, &of, &(struct osc_composing){digest, whom->set}, err);
    if (!of.loaded->is_visited)
        return osc_asked_run(k, &of, err);
    struct osc_mem_account *const asker = osc_mem_enter(&whom->set->account);
    const osc_status st = osc_by_rank_place(&whom->set->by_rank, k, err);
    osc_mem_enter(asker);
    return st == OSC_OK ? osc_asked_answer(k, &of, err)
                        : osc_loaded_fail(of.loaded, NULL, st, "making a table", err);
}

osc_status osc_set_run(struct osc_set *set, struct osc_asked *k, struct osc_err *err)
{
    const struct asked_of whom = {set, set->now, &set->now->chosen};
    const osc_status st = run(&whom, k, err);
    struct osc_mem_account *const before = osc_mem_enter(&set->account);

    osc_by_rank_forget(&set->by_rank, k);
    osc_mem_enter(before);
    return st;
}

/* Where an answer goes: one of these. */
struct recipient {
    const struct osc_layout *layout;           /* as text */
    struct osc_frame **frame;                  /* as columns */
    struct osc_window *window;                 /* with frame: only these rows; or NULL */
    struct osc_strbuf *parts;                  /* as parts, to be joined elsewhere */
    const struct osc_set_digesting *digesting; /* or rows, to digest */
    struct osc_result *digest;
    struct osc_digest *files;
    const struct osc_set_using *with; /* or the traces themselves */
};

osc_status osc_set_put_parts(const struct osc_set *set, const struct osc_request *r,
                             struct osc_strbuf *out)
{
    return osc_join_put(out, r, &set->load, &set->now->loaded, &set->by_rank);
}

/* Append the parts of the answer to K of the traces that WHOM keeps to OUT. */
static osc_status answer_in_parts(struct osc_strbuf *out, const struct asked_of *whom,
                                  struct osc_asked *k, struct osc_err *err)
{
    const struct osc_set *const set = whom->set;
    const struct osc_load load = {.how = &set->how, .selects_late = osc_asked_selects_late(k)};
    struct osc_by_rank b;
    osc_status st = osc_by_rank_init(&b, &load, &k->request.view, &k, 1);

    b.keeps_traces = true;
    if (st == OSC_OK)
        st = osc_by_rank_ask_kept(&b, &whom->state->loaded, err);
    if (st == OSC_OK)
        st = osc_join_put(out, &k->request, &set->load, &whom->state->loaded, &b);
    osc_by_rank_fini(&b);
    return osc_loaded_fail(&whom->state->loaded, NULL, st, "making parts", err);
}

/* Let WITH work with the traces of WHOM. */
static osc_status use_traces(const struct osc_set_using *with, const struct asked_of *whom,
                             struct osc_err *err)
{
    const struct osc_chosen *const c = whom->chosen;
    osc_status st =
        osc_chosen_derive(c, &whom->state->loaded, with->facts, whom->set->how.n_threads, err);

    for (uint32_t i = 0; i < c->n_traces && st == OSC_OK; i++)
        osc_trace_read(c->traces[i]);
    if (st != OSC_OK)
        return st;
    st = with->use(with->ctx, c, err);
    for (uint32_t i = 0; i < c->n_traces; i++)
        osc_trace_read_end(c->traces[i]);
    return st;
}

static osc_status answer_from(const struct recipient *recipient, const struct asked_of *whom,
                              struct osc_asked *k, struct osc_err *err)
{
    const struct osc_loaded *const l = &whom->state->loaded;
    struct osc_digest files;

    if (recipient->with)
        return osc_loaded_fail(l, NULL, use_traces(recipient->with, whom, err),
                               "reading traces", err);
    osc_status st = run(whom, k, err);

    if (st == OSC_OK && recipient->layout)
        st = osc_asked_write(k, err);
    else if (st == OSC_OK)
        st = l->is_visited ? osc_by_rank_digest(&whom->set->by_rank, k, &files)
                           : osc_chosen_digest(whom->chosen, l, &files);
    if (st == OSC_OK && recipient->digest)
        st = recipient->digesting->keep(recipient->digesting->ctx, k);
    if (st == OSC_OK && recipient->digest) {
        osc_result_move(recipient->digest, &k->answer.blocks[0].result);
        *recipient->files = files;
    } else if (st == OSC_OK && !recipient->layout) {
        st = osc_frame_make(recipient->frame, k, &files, err);
    }
    return osc_loaded_fail(l, NULL, st, "making a table", err);
}

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

/* Get the last view of WHOM and count one more user; NULL if its key is not KEY. */
static struct osc_set_seen *find_seen(const struct asked_of *whom, const struct osc_strbuf *key)
{
    struct osc_set_seen *found = NULL;

    pthread_mutex_lock(&whom->set->lock);
    struct osc_set_seen *const last = whom->state->last;
    if (last && last->key.len == key->len && memcmp(last->key.s, key->s, key->len) == 0) {
        found = last;
        found->n_users++;
    }
    pthread_mutex_unlock(&whom->set->lock);
    return found;
}

/* Make the view HOW of WHOM. It becomes the last view and has two users: its state and the
 * caller. */
static osc_status make_seen(struct osc_set_seen **made, const struct asked_of *whom,
                            const struct osc_strbuf *key, const struct osc_choice *how,
                            struct osc_err *err)
{
    struct osc_set *const set = whom->set;
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
        st = osc_chosen_make(&s->chosen, &whom->state->loaded, how, err);
    osc_mem_enter(paying);
    if (st != OSC_OK) {
        osc_set_free_seen(set, s);
        return st;
    }
    s->n_users = 2;
    pthread_mutex_lock(&set->lock);
    before = unuse(whom->state->last);
    whom->state->last = s;
    pthread_mutex_unlock(&set->lock);
    osc_set_free_seen(set, before);
    *made = s;
    return OSC_OK;
}

/* Answer K about a view of WHOM, whose set has all that the view needs. */
static osc_status answer_view(const struct recipient *recipient, const struct asked_of *whom,
                              struct osc_asked *k, struct osc_err *err)
{
    struct osc_set *const set = whom->set;
    const struct osc_choice how = {
        .view = &k->request.view,
        .is_late = osc_asked_selects_late(k),
        .n_threads = k->request.how.n_threads,
        .asker = osc_mem_account_here(),
    };
    struct osc_strbuf key = {0};
    struct osc_set_seen *seen = NULL;
    osc_status st = OSC_OK;

    add_key(&key, how.view, how.is_late);
    st = key.status;
    if (st == OSC_OK)
        seen = find_seen(whom, &key);
    if (st == OSC_OK && !seen)
        st = make_seen(&seen, whom, &key, &how, err);
    osc_strbuf_fini(&key);
    if (st != OSC_OK)
        return st;
    const struct asked_of of_view = {set, whom->state, &seen->chosen};
    st = answer_from(recipient, &of_view, k, err);
    osc_asked_fini(k); /* it borrows the view */
    pthread_mutex_lock(&set->lock);
    seen = unuse(seen);
    pthread_mutex_unlock(&set->lock);
    osc_set_free_seen(set, seen);
    return st;
}

/* Answer K about a view for which SET lacks traces or rows: read the files again. */
static osc_status answer_anew(const struct recipient *recipient, struct osc_set *set,
                              struct osc_asked *k, struct osc_err *err)
{
    const struct osc_load o = {
        .paths = set->paths,
        .n_paths = set->n_paths,
        .how = &set->how,
        .view = &k->request.view,
        .selects_late = osc_asked_selects_late(k),
        .reserve = osc_budget_for_table(k->def, k->request.question.sort != NULL, false),
        .has_digests = true,
        .asker = osc_mem_account_here(),
        .keeps_parts = recipient->parts != NULL,
    };
    struct osc_set *own = NULL;
    osc_status st = osc_set_load_to_ask(&own, &o, &k, 1, err);

    if (st == OSC_OK && own && recipient->parts) {
        st = osc_loaded_fail(&own->now->loaded, NULL,
                             osc_set_put_parts(own, &k->request, recipient->parts),
                             "making parts", err);
    } else if (st == OSC_OK && own) {
        const struct asked_of whom = {own, own->now, &own->now->chosen};

        st = answer_from(recipient, &whom, k, err);
    }
    osc_asked_fini(k); /* it borrows the traces */
    osc_set_release(own);
    return st;
}

/* Whether S, of SET, suffices for any view with the ranks and spans of V. */
static bool has_traces(const struct osc_set *set, const struct osc_set_state *s,
                       const struct osc_view *v)
{
    return osc_list_within(v->ranks, set->only.ranks) &&
           osc_list_within(v->spans, set->only.spans) && !s->loaded.is_windowed;
}

/* Answer K from the traces of SET, or from files that are read again. */
static osc_status answer(const struct recipient *recipient, struct osc_set *set,
                         bool is_all_asked, struct osc_asked *k, struct osc_err *err)
{
    struct osc_set_state *const s = osc_set_use_state(set);
    const struct asked_of whom = {set, s, &s->chosen};
    const bool is_late = osc_asked_selects_late(k), is_kept = !s->loaded.is_visited;
    osc_status st = OSC_OK;

    if (is_kept && recipient->parts && has_traces(set, s, &k->request.view))
        st = answer_in_parts(recipient->parts, &whom, k, err);
    else if (is_kept && !recipient->parts && is_all_asked && (is_all(&set->only) || !is_late))
        st = answer_from(recipient, &whom, k, err);
    else if (is_kept && !recipient->parts && has_traces(set, s, &k->request.view))
        st = answer_view(recipient, &whom, k, err);
    else if (recipient->with)
        st = osc_fail(err, OSC_EINVAL, "the set does not keep the traces");
    else
        st = answer_anew(recipient, set, k, err);
    osc_asked_fini(k); /* it borrows the traces */
    osc_set_unuse_state(set, s);
    return st;
}

static osc_status init_digest(struct osc_asked *k, const struct osc_set_digesting *how,
                              const struct osc_request *r, struct osc_err *err)
{
    struct osc_request own = *r;

    own.question = (struct osc_question){.limit = -1, .merge = 1};
    const osc_status st =
        osc_asked_init_table(k, how->def, &own, osc_renderer_find("csv"), err);
    if (how->question)
        osc_request_follow(how->question, how->def, &k->options);
    return st;
}

static osc_status ask(struct osc_set *set, const struct osc_view *view,
                      const struct osc_question *question, const struct recipient *recipient,
                      struct osc_err *err)
{
    static const struct osc_view all;
    static const struct osc_question any;
    struct osc_request r = {.how = set->how, .question = question ? *question : any};
    struct osc_mem_account account = {.parent = &set->account,
                                      .limit = (size_t)r.question.max_memory_bytes};
    struct osc_cancel_entry entry = {.account = &account};
    struct osc_asked k = {0};
    struct osc_err own;

    err = err ? err : &own; /* failures are reported through it */
    err->message[0] = '\0';
    r.view = osc_view_join(&set->only, view ? view : &all);
    if (recipient->layout)
        r.text = *recipient->layout;
    else if (recipient->parts)
        r.text.format = "csv"; /* with all that programs get */
    struct osc_mem_account *const before = osc_mem_enter(&account);
    osc_cancel_join(r.question.cancel, &entry);
    osc_status st =
        recipient->digesting
            ? init_digest(&k, recipient->digesting, &r, err)
            : osc_asked_init(&k, &r, recipient->layout ? NULL : osc_renderer_find("csv"), err);
    k.window = recipient->window;
    if (st == OSC_OK && recipient->parts && !k.def->mapping)
        st = osc_fail(err, OSC_EINVAL, "%s has no parts: %s", k.def->name,
                      osc_table_why_whole(k.def));
    if (st == OSC_OK)
        st = answer(recipient, set, !view || is_all(view), &k, err);
    osc_asked_fini(&k);
    const osc_status reason = osc_mem_reason(st);
    if (st != OSC_OK && (err->message[0] == '\0' || reason == OSC_ECANCELED))
        (void)osc_fail(err, reason, "%s", osc_status_text(reason));
    if (st != OSC_OK)
        osc_note_clean(err);
    osc_cancel_leave(r.question.cancel, &entry);
    osc_mem_enter(before);
    osc_mem_account_end(&account); /* frames outlive it */
    return reason;
}

osc_status osc_ask(struct osc_set *set, const struct osc_view *view,
                   const struct osc_question *question, struct osc_frame **f,
                   struct osc_err *err)
{
    return osc_set_ask_window(set, view, question, NULL, f, err);
}

osc_status osc_set_ask_window(struct osc_set *set, const struct osc_view *view,
                              const struct osc_question *question, struct osc_window *window,
                              struct osc_frame **f, struct osc_err *err)
{
    const struct recipient recipient = {.frame = f, .window = window};

    *f = NULL;
    return ask(set, view, question, &recipient, err);
}

osc_status osc_ask_text(struct osc_set *set, const struct osc_view *view,
                        const struct osc_question *question, const struct osc_layout *layout,
                        struct osc_err *err)
{
    return ask(set, view, question, &(struct recipient){.layout = layout}, err);
}

osc_status osc_ask_part(struct osc_set *set, const struct osc_view *view,
                        const struct osc_question *question,
                        int (*write)(void *ctx, const char *s, size_t len), void *ctx,
                        struct osc_err *err)
{
    struct osc_strbuf parts = {0};
    const struct recipient recipient = {.parts = &parts};
    osc_status st = ask(set, view, question, &recipient, err);

    if (st == OSC_OK && write(ctx, parts.s, parts.len) != 0)
        st = osc_fail(err, OSC_EIO, "the part could not be written");
    osc_strbuf_fini(&parts);
    return st;
}

osc_status osc_set_frame(struct osc_set *set, struct osc_asked *k, struct osc_frame **f,
                         struct osc_err *err)
{
    const struct recipient recipient = {.frame = f};
    const struct asked_of whom = {set, set->now, &set->now->chosen};

    return answer_from(&recipient, &whom, k, err);
}

osc_status osc_set_digest(struct osc_set *set, const struct osc_set_digesting *how,
                          struct osc_result *digest, struct osc_digest *files,
                          struct osc_err *err)
{
    const struct recipient recipient = {.digesting = how, .digest = digest, .files = files};

    return ask(set, how->view, how->question, &recipient, err);
}

osc_status osc_set_use(struct osc_set *set, const struct osc_view *view,
                       const struct osc_set_using *with, struct osc_cancel *cancel,
                       struct osc_err *err)
{
    const struct osc_question question = {
        .table = osc_table_operators.name, .limit = -1, .cancel = cancel};

    return ask(set, view, &question, &(struct recipient){.with = with}, err);
}
