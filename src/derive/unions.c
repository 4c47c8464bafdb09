/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/unions.h"

#include "base/mem.h"
#include "base/thread.h"
#include "derive/args.h"

/* Tracks are distributed in at most this many parts, each with a list per class. */
#define PARTS_MAX 64u

/* How a form determines the class of its rows, if not by a class directly. */
enum { ASK_KERNEL = OSC_CLASS_COUNT + 1, ASK_HOST, ASK_KIND };

struct work {
    const struct osc_trace *t;
    const struct osc_order *order;
    struct osc_classing classing; /* owned */
    uint32_t n_parts;
    struct osc_intervals *sets; /* owned; per part and class */
};

/* The class of a host range by its kind alone. Steps are none of what runs in them, unless
 * STEP_RUNS. */
static inline enum osc_class class_of_kind(enum osc_kind kind, bool step_runs)
{
    if (kind == OSC_KIND_STEP && !step_runs)
        return OSC_CLASS_COUNT;
    return kind == OSC_KIND_DATALOADER ? OSC_CLASS_DATALOADER : OSC_CLASS_CPU_EXEC;
}

/* The class of row I of C, a finished operator, annotation or `python` range of the host. The
 * plugin knows no iterations: to it they are annotations like others. */
static enum osc_class host_class(const struct osc_classing *k, const struct osc_chunk *c,
                                 uint32_t i)
{
    const enum osc_class class =
        class_of_kind((enum osc_kind)c->kind[i], k->compat_tb && k->t->has_iterations);
    const uint16_t asked = k->compat_tb ? OSC_NAME_COMM_TB : OSC_NAME_COMM_HOST;

    if (class != OSC_CLASS_CPU_EXEC || !(k->c->names[c->name[i]] & asked))
        return class;
    return OSC_CLASS_COMMUNICATION;
}

/* What finished rows of FORM, which has FLAGS, count towards. */
static uint8_t class_of_form(const struct osc_form *form, uint8_t flags, uint8_t ask_host)
{
    const enum osc_kind kind = (enum osc_kind)form->kind;

    if (!(flags & OSC_FORM_RANGE))
        return OSC_CLASS_COUNT;
    if (flags & OSC_FORM_OPERATOR)
        return ask_host;
    if (flags & OSC_FORM_CALL)
        return OSC_CLASS_RUNTIME;
    if (kind == OSC_KIND_KERNEL)
        return ASK_KERNEL;
    if (kind == OSC_KIND_MEMCPY)
        return OSC_CLASS_MEMCPY;
    if (kind == OSC_KIND_MEMSET)
        return OSC_CLASS_MEMSET;
    if (flags & (OSC_FORM_ON_DEVICE | OSC_FORM_FUNCTION))
        return OSC_CLASS_COUNT;
    /* Scopes whose recorder knew what they are; elsewhere the names of labels tell it. */
    if (kind == OSC_KIND_DATALOADER)
        return OSC_CLASS_DATALOADER;
    if (kind == OSC_KIND_COMMUNICATION)
        return ask_host == ASK_HOST ? OSC_CLASS_COMMUNICATION : OSC_CLASS_CPU_EXEC;
    if (kind == OSC_KIND_OPTIMIZER)
        return OSC_CLASS_CPU_EXEC;
    return osc_kind_is_label(kind) || kind == OSC_KIND_PYTHON ? ask_host : OSC_CLASS_COUNT;
}

/* The class of row I of chunk C, a finished range whose form has CLASS, or OSC_CLASS_COUNT if
 * it counts towards none. */
static inline enum osc_class class_of(const struct osc_classing *k, const struct osc_chunk *c,
                                      uint32_t i, unsigned class)
{
    if (class == ASK_KIND)
        return class_of_kind((enum osc_kind)c->kind[i], false);
    if (class == ASK_HOST)
        return host_class(k, c, i);
    if (class == ASK_KERNEL) {
        const bool is_comm =
            k->compat_tb ? osc_idmap_get(&k->collectives,
                                         (uint64_t)osc_args_external_id(k->t, c, i)) != 0
                         : osc_is_comm_kernel(k->c, c, i);

        return is_comm ? OSC_CLASS_COMMUNICATION : OSC_CLASS_KERNEL;
    }
    return (enum osc_class) class;
}

enum osc_class osc_class_of(const struct osc_classing *k, const struct osc_chunk *c, uint32_t i)
{
    return osc_is_range(k->c, c, i) ? class_of(k, c, i, k->by_form[c->form[i]])
                                    : OSC_CLASS_COUNT;
}

/* Ranges of a track are sorted by start: most lie in the last interval of their class. */
static void collect_track(const struct work *w, uint32_t track, struct osc_intervals *sets)
{
    const struct osc_order *const o = w->order;
    const struct osc_store *const s = &w->t->events;
    const uint8_t *const by_form = w->classing.by_form;
    int64_t last_ns[OSC_CLASS_COUNT]; /* everything before this was added */

    for (unsigned k = 0; k < OSC_CLASS_COUNT; k++)
        last_ns[k] = INT64_MIN;
    for (uint32_t at = o->first[track]; at < o->first[track + 1]; at++) {
        const osc_row row = {o->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(s, row);
        const uint32_t i = osc_row_place(row);
        const unsigned asked = by_form[c->form[i]];

        if (asked == OSC_CLASS_COUNT)
            continue;
        const enum osc_class class = class_of(&w->classing, c, i, asked);
        const int64_t end_ns = c->ts_ns[i] + c->dur_ns[i];
        if (class == OSC_CLASS_COUNT || end_ns <= last_ns[class])
            continue;
        osc_intervals_add(&sets[class], c->ts_ns[i], end_ns);
        last_ns[class] = end_ns;
    }
}

static void collect_part(void *ctx, uint32_t p)
{
    const struct work *const w = ctx;

    for (uint32_t item = p; item < w->order->n_tracks; item += w->n_parts)
        collect_track(w, w->order->tracks[item], w->sets + (size_t)p * OSC_CLASS_COUNT);
}

struct gather {
    const struct work *w;
    struct osc_unions *u;
    unsigned rule; /* by which what the trace carries is chosen; 0: none of it is */
    osc_status statuses[OSC_CLASS_COUNT];
};

/* Whether what T carries of other parts of its recording counts. The plugin's only step of a
 * trace with iterations is not one of those to which it belongs. */
static bool counts_beside(const struct osc_trace *t, bool compat_tb)
{
    return !compat_tb || !t->has_iterations;
}

/* Add what T carries of CLASS by RULE. */
static void add_bystanders(const struct osc_trace *t, uint32_t class, unsigned rule,
                           struct osc_intervals *all)
{
    for (uint32_t n = 0; n < t->n_bystanders; n++) {
        const struct osc_bystander *const b = &t->bystanders[n];

        if (b->class == class && (b->rules & rule))
            osc_intervals_add(all, b->start_ns, b->end_ns);
    }
}

/* Merge all lists of one class. */
static void gather_class(void *ctx, uint32_t class)
{
    struct gather *const g = ctx;
    struct osc_intervals *const all = &g->u->of[class];

    for (size_t p = 0; p < g->w->n_parts; p++) {
        struct osc_intervals *const list = &g->w->sets[p * OSC_CLASS_COUNT + class];

        if (all->n > 0 || all->status != OSC_OK || list->n == 0) {
            osc_intervals_concat(all, list);
        } else {
            osc_intervals_fini(all);
            *all = *list; /* the first may be the only one */
            *list = (struct osc_intervals){0};
        }
    }
    if (g->rule != 0)
        add_bystanders(g->w->t, class, g->rule, all);
    g->statuses[class] = osc_intervals_merge(all);
}

static osc_status add_collective(struct osc_classing *k, int64_t id)
{
    uint32_t *const place = id == 0 ? NULL : osc_idmap_put(&k->collectives, (uint64_t)id);

    if (place)
        *place = 1;
    return id == 0 || place ? OSC_OK : OSC_ENOMEM;
}

/* Find the external ids of the plugin's collectives, also of those that the trace lacks. */
static osc_status find_collectives(struct osc_classing *k)
{
    osc_status st = OSC_OK;

    if (!k->wants && counts_beside(k->t, true)) { /* nobody knows of which rows these are */
        for (uint32_t n = 0; n < k->t->n_collectives && st == OSC_OK; n++)
            st = add_collective(k, k->t->collectives[n]);
    }
    for (uint32_t at = 0; at < k->order->n_rows && st == OSC_OK; at++) {
        const osc_row row = {k->order->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(&k->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (!(k->c->names[c->name[i]] & OSC_NAME_COMM_TB))
            continue;
        const enum osc_class class = class_of(k, c, i, k->by_form[c->form[i]]);
        if ((class != OSC_CLASS_COMMUNICATION && class != OSC_CLASS_CPU_EXEC) ||
            (k->wants && !k->wants(k->ctx, c, i)))
            continue;
        st = add_collective(k, osc_args_external_id(k->t, c, i));
    }
    return st;
}

osc_status osc_classing_make(struct osc_classing *k)
{
    /* In a trace with device communication, names of host ranges are not used. */
    const uint8_t ask_host = k->compat_tb || !k->has_comm_kernels ? ASK_HOST : ASK_KIND;
    osc_status st = OSC_OK;

    k->by_form = osc_calloc((size_t)k->t->n_forms + 1, sizeof *k->by_form);
    if (!k->by_form)
        return OSC_ENOMEM;
    for (uint32_t f = 0; f < k->t->n_forms; f++)
        k->by_form[f] = class_of_form(&k->t->forms[f], k->c->forms[f], ask_host);
    if (k->compat_tb)
        st = find_collectives(k);
    if (st != OSC_OK)
        osc_classing_fini(k);
    return st;
}

void osc_classing_fini(struct osc_classing *k)
{
    osc_idmap_fini(&k->collectives);
    osc_free(k->by_form);
    k->by_form = NULL;
}

osc_status osc_unions_make(const struct osc_trace *t, const struct osc_classes *c,
                           const struct osc_order *order, bool compat_tb, unsigned n_threads,
                           struct osc_unions *u)
{
    struct work w = {
        .t = t,
        .order = order,
        .classing = {.t = t,
                     .c = c,
                     .order = order,
                     .compat_tb = compat_tb,
                     .has_comm_kernels = c->has_device_comm || t->has_comm_kernels},
        .n_parts = order->n_tracks < PARTS_MAX ? order->n_tracks : PARTS_MAX};
    const size_t n_lists = (size_t)w.n_parts * OSC_CLASS_COUNT;
    struct gather g = {.w = &w, .u = u};
    osc_status st = OSC_ENOMEM;

    *u = (struct osc_unions){0};
    if (counts_beside(t, compat_tb))
        g.rule = compat_tb ? OSC_BYSTANDER_TB : OSC_BYSTANDER_USUAL;
    w.sets = osc_calloc(n_lists + 1, sizeof *w.sets);
    if (w.sets)
        st = osc_classing_make(&w.classing);
    if (st == OSC_OK) {
        osc_parallel(n_threads, w.n_parts, collect_part, &w);
        osc_parallel(n_threads, OSC_CLASS_COUNT, gather_class, &g);
        for (unsigned k = 0; k < OSC_CLASS_COUNT; k++) {
            if (g.statuses[k] != OSC_OK)
                st = g.statuses[k];
        }
    }
    for (size_t l = 0; w.sets && l < n_lists; l++)
        osc_intervals_fini(&w.sets[l]);
    osc_free(w.sets);
    osc_classing_fini(&w.classing);
    if (st != OSC_OK)
        osc_unions_fini(u);
    return st;
}

void osc_unions_fini(struct osc_unions *u)
{
    for (unsigned k = 0; k < OSC_CLASS_COUNT; k++)
        osc_intervals_fini(&u->of[k]);
}
