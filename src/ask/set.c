/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/set.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "analysis/table_registry.h"
#include "ask/budget.h"
#include "ask/frame.h"
#include "ask/note.h"
#include "base/mem.h"

struct osc_set {
    atomic_uint n_holders;
    pthread_mutex_t lock; /* facts are derived as they are asked for */
    struct osc_loaded loaded;
    struct osc_arena arena; /* of what follows */
    const char **paths;
    size_t n_paths;
    struct osc_how how;
    struct osc_view only;
};

const char *osc_catalog_name(size_t i)
{
    return osc_tables[i] ? osc_tables[i]->name : NULL;
}

const char *osc_catalog_help(size_t i)
{
    return osc_tables[i] ? osc_tables[i]->help : NULL;
}

/* --- opening --------------------------------------------------------------------- */

static void free_set(struct osc_set *set)
{
    osc_loaded_fini(&set->loaded);
    osc_arena_fini(&set->arena);
    pthread_mutex_destroy(&set->lock);
    osc_free(set);
}

/* Make *TEXT, which may be NULL, one of the set's own. */
static bool own_text(struct osc_set *set, const char **text)
{
    *text = *text ? osc_arena_dup(&set->arena, *text, strlen(*text)) : NULL;
    return *text != NULL;
}

/* Keep what O says in SET. */
static osc_status keep(struct osc_set *set, const struct osc_load *o)
{
    const char **const texts[] = {&set->only.ranks,  &set->only.spans,  &set->only.process,
                                  &set->only.thread, &set->only.device, &set->only.steps};

    set->how = *o->how;
    set->how.only = NULL;
    set->only = *o->view;
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
    return OSC_OK;
}

osc_status osc_set_load(struct osc_set **to, const struct osc_load *o, struct osc_err *err)
{
    struct osc_set *const set = osc_calloc(1, sizeof *set);

    *to = NULL;
    if (!set)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    atomic_store_explicit(&set->n_holders, 1, memory_order_relaxed); /* nobody else has it */
    pthread_mutex_init(&set->lock, NULL);                            /* cannot fail on Linux */
    osc_status st = keep(set, o);
    if (st == OSC_OK) {
        struct osc_load own = *o;

        own.paths = set->paths; /* messages name them as long as the set lives */
        st = osc_load(&set->loaded, &own, err);
    } else {
        (void)osc_fail(err, st, "out of memory");
    }
    if (st == OSC_OK)
        *to = set;
    else
        free_set(set);
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
    };
    const struct osc_request r = {.how = *o.how, .view = *o.view};
    osc_status st = osc_request_check(&r, err);

    *set = NULL;
    if (st == OSC_OK)
        st = n > 0 ? osc_set_load(set, &o, err) : osc_fail(err, OSC_EINVAL, "which trace?");
    if (st != OSC_OK)
        osc_note_clean(err);
    return st;
}

struct osc_set *osc_set_hold(struct osc_set *set)
{
    if (set) /* who holds it gives it to itself: nothing to see before */
        atomic_fetch_add_explicit(&set->n_holders, 1, memory_order_relaxed);
    return set;
}

void osc_set_release(struct osc_set *set)
{
    /* Pairs with itself: what the last one frees nobody reads any more. */
    if (set && atomic_fetch_sub_explicit(&set->n_holders, 1, memory_order_acq_rel) == 1)
        free_set(set);
}

const char *osc_set_notes(const struct osc_set *set)
{
    return set->loaded.notes.len > 0 ? set->loaded.notes.s : "";
}

struct osc_loaded *osc_set_loaded(struct osc_set *set)
{
    return &set->loaded;
}

/* --- asking ---------------------------------------------------------------------- */

osc_status osc_set_run(struct osc_set *set, struct osc_asked *k, struct osc_err *err)
{
    pthread_mutex_lock(&set->lock);
    const osc_status st = osc_asked_run(k, &set->loaded, set->paths, set->n_paths, err);
    pthread_mutex_unlock(&set->lock);
    return st;
}

/* What ONLY says, unless V says otherwise. */
static struct osc_view join_views(const struct osc_view *only, const struct osc_view *v)
{
    struct osc_view j = *v;

    j.ranks = v->ranks ? v->ranks : only->ranks;
    j.spans = v->spans ? v->spans : only->spans;
    j.process = v->process ? v->process : only->process;
    j.thread = v->thread ? v->thread : only->thread;
    j.device = v->device ? v->device : only->device;
    j.steps = v->steps ? v->steps : only->steps;
    if (!v->has_from && only->has_from) {
        j.has_from = 1;
        j.from_ns = only->from_ns;
    }
    if (!v->has_to && only->has_to) {
        j.has_to = 1;
        j.to_ns = only->to_ns;
    }
    return j;
}

static bool is_all(const struct osc_view *v)
{
    return !v->ranks && !v->spans && !v->process && !v->thread && !v->device && !v->steps &&
           !v->has_from && !v->has_to;
}

/* What becomes of an answer. */
struct taker {
    const struct osc_layout *text; /* or NULL: columns, into */
    struct osc_frame **frame;
};

static osc_status take(const struct taker *taker, struct osc_set *set, struct osc_asked *k,
                       struct osc_err *err)
{
    osc_status st = osc_set_run(set, k, err);

    if (st == OSC_OK) {
        st = taker->text ? osc_asked_write(k, err) : osc_frame_make(taker->frame, k, err);
        st = osc_loaded_fail(&set->loaded, NULL, st, "making a table", err);
    }
    return st;
}

/* Answer K about what SET has not kept: read it again. */
static osc_status take_again(const struct taker *taker, struct osc_set *set,
                             struct osc_asked *k, struct osc_err *err)
{
    const struct osc_load o = {
        .paths = set->paths,
        .n_paths = set->n_paths,
        .how = &set->how,
        .view = &k->request.view,
        .selects_late = osc_asked_selects_late(k),
        .reserve = osc_budget_for_table(k->def, k->request.question.sort != NULL, false),
    };
    struct osc_set *own = NULL;
    osc_status st = osc_set_load(&own, &o, err);

    if (st == OSC_OK)
        st = take(taker, own, k, err);
    osc_asked_fini(k); /* it borrows the traces */
    osc_set_release(own);
    return st;
}

static osc_status ask(struct osc_set *set, const struct osc_view *view,
                      const struct osc_question *question, const struct taker *taker,
                      struct osc_err *err)
{
    static const struct osc_view all;
    struct osc_request r = {.how = set->how};
    struct osc_asked k = {0};
    struct osc_err own;

    err = err ? err : &own; /* what fails is told by it */
    err->message[0] = '\0';
    view = view ? view : &all;
    r.view = join_views(&set->only, view);
    if (question)
        r.question = *question;
    if (taker->text)
        r.text = *taker->text;
    osc_status st = osc_asked_init(&k, &r, taker->text ? NULL : osc_renderer_find("csv"), err);
    if (st == OSC_OK) {
        const bool is_there =
            is_all(view) && (is_all(&set->only) || !osc_asked_selects_late(&k));

        st = is_there ? take(taker, set, &k, err) : take_again(taker, set, &k, err);
    }
    osc_asked_fini(&k);
    if (st != OSC_OK && err->message[0] == '\0')
        (void)osc_fail(err, st, "%s", osc_status_text(st));
    if (st != OSC_OK)
        osc_note_clean(err);
    return st;
}

osc_status osc_ask(struct osc_set *set, const struct osc_view *view,
                   const struct osc_question *question, struct osc_frame **f,
                   struct osc_err *err)
{
    const struct taker taker = {.frame = f};

    *f = NULL;
    return ask(set, view, question, &taker, err);
}

osc_status osc_ask_text(struct osc_set *set, const struct osc_view *view,
                        const struct osc_question *question, const struct osc_layout *text,
                        struct osc_err *err)
{
    const struct taker taker = {.text = text};

    return ask(set, view, question, &taker, err);
}
