/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/set.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "analysis/table_registry.h"
#include "ask/files/budget.h"
#include "ask/join.h"
#include "ask/refresh.h"
#include "ask/set_state.h"
#include "ask/trace_parts.h"
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
    osc_trace_parts_fini(&set->parts);
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
    const bool asks_each = set->parts.n_answers > 0;
    struct osc_visitor visitor = osc_trace_parts_visitor(&set->parts);
    struct osc_load own = *o;
    struct osc_set_state *const s = set->now;

    if (o->joined)
        return osc_joined_load(o->joined, &s->loaded, &set->parts, o, err);
    visitor.takes_all = o->keeps_parts;
    own.paths = set->paths;
    own.visitor = asks_each ? &visitor : NULL;
    osc_status st = osc_load(&s->loaded, &own, err);
    if (st == OSC_OK && !s->loaded.is_visited)
        st = choose(s, o, err);
    return st == OSC_OK ? osc_loaded_fail(&s->loaded, NULL, keep_notes(set, s), "loading", err)
                        : st;
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
    if (st == OSC_OK && osc_trace_parts_is_possible(asked, n))
        st = osc_trace_parts_init(&set->parts, o, &set->only, asked, n);
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
    struct osc_asked_of of = {.parts = NULL};
    osc_status st = osc_asked_init(&k, &r, osc_renderer_find("csv"), err);

    if (st == OSC_OK)
        st = osc_set_load_to_ask(to, o, &all, 1, err);
    struct osc_set *const set = st == OSC_OK ? *to : NULL;
    if (set)
        set->load.visitor = &nobody;
    if (set && osc_set_loaded(set)->is_visited) {
        struct osc_mem_account *const before = osc_mem_enter(&set->account);
        st = osc_loaded_fail(&set->now->loaded, NULL,
                             osc_trace_parts_place(&set->parts, &k, &of, err), "making a table",
                             err);
        osc_trace_parts_fini(&set->parts);
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
        st = o.how->one_by_one ? open_one_by_one(set, &o, err)
                               : osc_set_load_to_ask(set, &o, NULL, 0, err);
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

osc_status osc_set_origins(struct osc_set *set, struct osc_origin_of **origins, uint32_t *n)
{
    return osc_trace_parts_origins(&set->parts, origins, n);
}

/* --- refreshing ------------------------------------------------------------------ */

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
    const struct osc_refreshing r = {&set->now->loaded, &set->load,
                                     osc_view_is_all(&set->only)};
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
