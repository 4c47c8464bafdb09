/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_rows.h"

#include <stdio.h>

#include "import/build/pairs.h"
#include "import/records/copies.h"
#include "import/records/deferred.h"
#include "import/records/records_args.h"
#include "import/records/records_facts.h"
#include "import/records/records_links.h"
#include "import/records/strays.h"
#include "model/known_names.h"

/* --- rows ---------------------------------------------------------------- */

/* Append the row R with the arguments in ARGS from FIRST_SLOT and FIRST_WORD on. */
static void put_record(struct osc_records_rows *rows, const struct osc_records_thread *t,
                       struct osc_record *r, const struct osc_arguments *args,
                       size_t first_slot, size_t first_word)
{
    r->track = t->track;
    r->slots = args->slots + first_slot;
    r->n_slots = (uint32_t)(args->n_slots - first_slot);
    r->words = args->words + first_word;
    r->has_args = r->n_slots > 0 && !r->slots[0].is_member; /* either all are members or none */
    osc_build_record(rows->builder, r);
}

/* The same for a row without arguments, whose form is known. */
static inline void put_row(struct osc_records_rows *rows, const struct osc_records_thread *t,
                           osc_form_id form, osc_sid name, int64_t ts_ns, int64_t dur_ns)
{
    osc_build_append(
        rows->builder, &rows->builder->events,
        &(struct osc_row_values){
            .ts_ns = ts_ns, .dur_ns = dur_ns, .name = name, .form = form, .track = t->track});
}

static inline bool is_begin(uint8_t kind)
{
    return (uint8_t)(kind - OSC_RECORD_BEGIN) < OSC_SCOPE_KIND_COUNT;
}

static inline bool is_complete(uint8_t kind)
{
    return (uint8_t)(kind - OSC_RECORD_COMPLETE) < OSC_SCOPE_KIND_COUNT;
}

/* Whether NAME is the name of instants that report a failed allocation. */
static inline bool is_oom(const struct osc_records_rows *rows, osc_sid name)
{
    return name.v == rows->name_oom.v;
}

/* Make a row of the held record of T, which has a category or arguments; all of them have been
 * read. */
static void release_with_args(struct osc_records_rows *rows, struct osc_records_thread *t)
{
    const struct osc_records_held h = t->held;

    if (h.late > 0) {
        osc_deferred_args(rows, h.late - 1, &t->args);
    } else {
        struct osc_record r = {
            .name = h.name, .category = h.category, .ts_ns = h.ts_ns, .dur_ns = h.dur_ns};

        if (is_begin(h.kind)) {
            r.shape = OSC_SHAPE_BEGIN;
            r.kind = (uint8_t)osc_records_kind(h.kind - OSC_RECORD_BEGIN);
        } else if (is_complete(h.kind)) {
            r.shape = OSC_SHAPE_RANGE;
            r.kind = (uint8_t)osc_records_kind(h.kind - OSC_RECORD_COMPLETE);
        } else {
            r.shape = OSC_SHAPE_INSTANT;
            r.kind = is_oom(rows, h.name) ? OSC_KIND_OOM : OSC_KIND_INSTANT;
        }
        put_record(rows, t, &r, &t->args, 0, 0);
    }
    t->args.n_slots = t->args.n_words = 0;
}

/* The form of rows of SHAPE and KIND, with the N_SLOTS arguments SLOTS. */
static osc_form_id form_of(struct osc_records_rows *rows, enum osc_form_shape shape,
                           enum osc_kind kind, struct osc_slot *slots, uint32_t n_slots)
{
    struct osc_record r = {.shape = (uint8_t)shape,
                           .kind = (uint8_t)kind,
                           .slots = slots,
                           .n_slots = n_slots,
                           .has_args = n_slots > 0};

    return osc_build_form(rows->builder, &r);
}

/* Append the callers of T's held function to its other arguments. */
static void add_callers(struct osc_records_rows *rows, struct osc_records_thread *t)
{
    if (t->held.callers.v == 0)
        return;
    osc_arguments_string(rows->builder, &t->args,
                         rows->builder->loading->keys[OSC_ARG_KEY_CALL_STACK], t->held.callers);
    t->held.callers.v = 0;
}

/* Make a row of T's held Python function, whose only argument is its callers. */
static inline void put_called(struct osc_records_rows *rows, const struct osc_records_thread *t)
{
    struct osc_columns *c = &rows->builder->events;

    if (__builtin_expect(rows->called.v == 0, 0)) { /* files without them have no such form */
        struct osc_slot stack = {.key = rows->builder->loading->keys[OSC_ARG_KEY_CALL_STACK],
                                 .type = OSC_ARG_STRING};

        rows->called = form_of(rows, OSC_SHAPE_BEGIN, OSC_KIND_PYTHON, &stack, 1);
    }
    if (c->cap_args == c->n_args && !osc_build_more_words(rows->builder, c, 1))
        return;
    c->args[c->n_args] = t->held.callers.v;
    osc_build_append(rows->builder, c,
                     &(struct osc_row_values){.ts_ns = t->held.ts_ns,
                                              .dur_ns = t->held.dur_ns,
                                              .name = t->held.name,
                                              .form = rows->called,
                                              .track = t->track,
                                              .n_words = 1});
}

/* Store where the row of the begin of T's innermost scope is, unless it has none. */
static inline void store_row(const struct osc_builder *b, struct osc_records_thread *t)
{
    if (b->status != OSC_OK || b->loading->keep.is_on)
        return;
    struct osc_records_open *const innermost = &t->open[t->depth - 1];

    innermost->chunk = b->events.chunk;
    innermost->row = b->events.chunk->n_rows - 1;
}

/* Make a row of the record that T holds: it was held until now because arguments may have
 * followed. Without any, its form is one of a few that are known beforehand, which most rows
 * are. */
static inline void release(struct osc_records_rows *rows, struct osc_records_thread *t)
{
    const struct osc_records_held *h = &t->held;

    if (h->kind == 0)
        return;
    if (t->args.n_slots > 0 || h->category.v != 0 || rows->builder->loading->keep.is_on) {
        add_callers(rows, t);
        release_with_args(rows, t);
    } else if (h->callers.v != 0) {
        put_called(rows, t);
    } else if (h->late == 0) {
        const osc_form_id form = is_begin(h->kind) ? rows->begins[h->kind - OSC_RECORD_BEGIN]
                                 : is_complete(h->kind)
                                     ? rows->completes[h->kind - OSC_RECORD_COMPLETE]
                                 : is_oom(rows, h->name) ? rows->oom
                                                         : rows->instant;
        put_row(rows, t, form, h->name, h->ts_ns, h->dur_ns);
    }
    if (is_begin(h->kind))
        store_row(rows->builder, t);
    t->held.kind = 0;
}

static inline void hold(struct osc_records_rows *rows, struct osc_records_thread *t,
                        uint8_t kind, uint32_t name, int64_t ts_ns, int64_t dur_ns)
{
    t->held = (struct osc_records_held){.kind = kind,
                                        .name = osc_records_name(rows->names, name),
                                        .ts_ns = ts_ns,
                                        .dur_ns = dur_ns};
    t->held.category = osc_records_category(rows->names, name);
}

/* --- ends ---------------------------------------------------------------- */

/* Where to add arguments of the innermost scope of T while its begin is not held. */
static struct osc_arguments *wait_for_end(struct osc_records_rows *rows,
                                          struct osc_records_thread *t)
{
    if (t->depth == 0)
        return NULL;
    if (t->n_scopes == 0 || t->scopes[t->n_scopes - 1].depth != t->depth) {
        const osc_status st =
            osc_build_grow(&t->scopes, &t->cap_scopes, t->n_scopes + 1, sizeof *t->scopes);
        if (st != OSC_OK) {
            rows->builder->status = st;
            return NULL;
        }
        t->scopes[t->n_scopes++] = (struct osc_records_waiting){
            .depth = t->depth, .n_slots = t->waiting.n_slots, .n_words = t->waiting.n_words};
    }
    return &t->waiting;
}

/* Let the row of SCOPE of T, which ends and has copies, name them. */
static void name_copies(struct osc_records_rows *rows, struct osc_records_thread *t,
                        const struct osc_records_open *scope)
{
    struct osc_arguments *const args = wait_for_end(rows, t);

    if (args)
        osc_copies_tell(rows, args, scope->marked);
}

/* End the innermost scope of T at TS_NS; OSC_NO_TIME: it stays open. The end becomes a row of
 * its own if arguments waited for it or if the row of the begin is unknown. */
static void end_scope(struct osc_records_rows *rows, struct osc_records_thread *t,
                      int64_t ts_ns)
{
    const struct osc_records_open *begin = t->depth > 0 ? &t->open[t->depth - 1] : NULL;

    if (begin && __builtin_expect(begin->marked != 0, 0))
        name_copies(rows, t, begin);
    const struct osc_records_waiting *w = t->n_scopes > 0 ? &t->scopes[t->n_scopes - 1] : NULL;
    if (w && w->depth == t->depth) {
        struct osc_record r = {.shape = OSC_SHAPE_END, .ts_ns = ts_ns};

        put_record(rows, t, &r, &t->waiting, w->n_slots, w->n_words);
        t->waiting.n_slots = w->n_slots;
        t->waiting.n_words = w->n_words;
        t->n_scopes--;
    } else if (begin && begin->chunk && ts_ns != OSC_NO_TIME) {
        osc_pairs_close(&rows->builder->findings, begin->chunk, begin->row, ts_ns);
    } else if (!rows->is_scout &&
               rows->builder->status == OSC_OK) { /* a scout keeps no rows of begins */
        osc_build_append(
            rows->builder, &rows->builder->others,
            &(struct osc_row_values){.ts_ns = ts_ns,
                                     .dur_ns = osc_build_events_so_far(rows->builder),
                                     .form = rows->end,
                                     .track = t->track});
    }
    t->depth -= t->depth > 0;
}

/* The same while some of T have ended that are not the innermost: with it end those around it
 * that had. Those that did before a scope in them are counted. */
static void end_with_ended(struct osc_records_rows *rows, struct osc_records_thread *t,
                           int64_t ts_ns)
{
    int64_t latest_ns = 0;

    for (bool goes_on = true; goes_on;) {
        const struct osc_records_open *const scope = &t->open[t->depth - 1];
        const int64_t end_ns = scope->has_ended ? scope->ended_ns : ts_ns;

        latest_ns = scope->latest_ns > latest_ns ? scope->latest_ns : latest_ns;
        if (scope->has_ended && !scope->is_counted && latest_ns > end_ns)
            osc_findings_add(&rows->builder->findings, OSC_FINDING_misplaced_end, OSC_NO_OFFSET,
                             end_ns);
        t->n_ended -= scope->has_ended;
        latest_ns = end_ns == OSC_NO_TIME ? INT64_MAX : end_ns > latest_ns ? end_ns : latest_ns;
        end_scope(rows, t, end_ns);
        goes_on = t->depth > 0 && t->open[t->depth - 1].has_ended;
    }
    if (t->depth > 0 && latest_ns > t->open[t->depth - 1].latest_ns)
        t->open[t->depth - 1].latest_ns = latest_ns;
}

/* End the innermost scope of T at TS_NS, and what has ended around it. */
static inline void end_innermost(struct osc_records_rows *rows, struct osc_records_thread *t,
                                 int64_t ts_ns)
{
    if (__builtin_expect(t->n_ended > 0, 0))
        end_with_ended(rows, t, ts_ns);
    else
        end_scope(rows, t, ts_ns);
}

/* End the scope of TOKEN at TS_NS, which T says. Unless it is the innermost, its row ends
 * later.
 */
static void end_of(struct osc_records_rows *rows, struct osc_records_thread *t, uint32_t token,
                   int64_t ts_ns)
{
    if (osc_strays_is_innermost(t, token))
        end_innermost(rows, t, ts_ns);
    else
        osc_strays_add(rows, t, token, ts_ns);
}

/* End all open scopes of T at END_NS; OSC_NO_TIME: unknown when, they stay open. */
static void end_open(struct osc_records_rows *rows, struct osc_records_thread *t,
                     int64_t end_ns)
{
    release(rows, t);
    while (t->depth > 0 && rows->builder->status == OSC_OK)
        end_innermost(rows, t, end_ns);
    t->n_ended = 0;
    t->waiting.n_slots = t->waiting.n_words = t->n_scopes = 0;
}

/* --- arguments ----------------------------------------------------------- */

/* The innermost Python function in T has returned, but scopes that began in it are still
 * open: they get its caller. */
static void read_return(const struct osc_records_rows *rows, struct osc_records_thread *t)
{
    const uint32_t caller = t->depth > 0 ? t->open[t->depth - 1].caller : 0;

    for (uint32_t i = t->depth; caller > 0 && i-- > 0 && t->open[i].caller == caller;)
        t->open[i].caller = osc_records_callers_parent(&rows->callers, caller);
}

/* Read P if it is one of PyTorch's marks, which look like arguments; false: it is none. */
static bool read_torch(struct osc_records_rows *rows, struct osc_records_thread *t,
                       const struct osc_packed *p)
{
    const osc_sid key = osc_records_name(rows->names, p->id);

    if (key.v == rows->key_torch_thread.v) {
        t->torch_thread = p->value;
        rows->is_torch = true;
        return true;
    }
    if (key.v == rows->key_returned.v) {
        read_return(rows, t);
        return true;
    }
    return false;
}

/* Whether P, which follows a record that is not a scope, still belongs to PyTorch's scope
 * around it: PyTorch's recorder cannot know which record was the last. */
static bool is_of_scope(struct osc_records_rows *rows, const struct osc_records_thread *t,
                        const struct osc_packed *p)
{
    const osc_sid *const keys = rows->builder->loading->keys;

    if (t->torch_thread == 0 ||
        (p->kind != OSC_RECORD_ARG_I64 && p->kind != OSC_RECORD_ARG_BOOL))
        return false;
    const osc_sid key = osc_records_name(rows->names, p->id);
    return key.v == keys[OSC_ARG_KEY_IS_ASYNC].v ||
           key.v == keys[OSC_ARG_KEY_SEQUENCE_NUMBER].v ||
           key.v == keys[OSC_ARG_KEY_FWD_THREAD].v;
}

/* An argument belongs to the record before it if T holds that, else to the scope whose end is
 * awaited. Some of torch's say what other rows need, and are no arguments. */
static void read_arg(struct osc_records_rows *rows, struct osc_records_thread *t,
                     const struct osc_packed *p)
{
    struct osc_arguments *args = &t->args;

    if (p->kind == OSC_RECORD_ARG_I64 && read_torch(rows, t, p))
        return;
    if (t->held.kind == 0 || (!is_begin(t->held.kind) && is_of_scope(rows, t, p)))
        args = wait_for_end(rows, t);
    else
        add_callers(rows, t);
    if (!args)
        return;
    if (p->kind == OSC_RECORD_ARG_STACK)
        osc_records_args_stack(rows->builder, &rows->stacks, args, p);
    else
        osc_records_args_read(rows->builder, rows->names, args, p);
}

/* Whether SCOPE, which may be NULL, is a call of a runtime or driver. */
static bool is_call(const struct osc_records_open *scope)
{
    return scope && (scope->kind == OSC_SCOPE_RUNTIME || scope->kind == OSC_SCOPE_DRIVER);
}

/* The start of the innermost scope of T, whose depth is not 0; AT_NS if it is not known. */
static int64_t start_of_innermost(const struct osc_records_thread *t, int64_t at_ns)
{
    const struct osc_records_open *const open = &t->open[t->depth - 1];

    if (is_begin(t->held.kind))
        return t->held.ts_ns;
    return open->chunk ? open->chunk->ts_ns[open->row] : at_ns;
}

/* Read the number of the work that the innermost scope launched. A call has the number of its
 * first launch; each other launch becomes a call of its own. */
static void read_launch(struct osc_records_rows *rows, struct osc_records_thread *t,
                        uint32_t thread, const struct osc_packed *p)
{
    const uint64_t correlation = p->words[0];
    struct osc_records_open *const scope = t->depth > 0 ? &t->open[t->depth - 1] : NULL;
    const int64_t at_ns = osc_records_clock_ns(rows->clock, p->ticks);
    const bool is_first = scope && !scope->has_launched;

    if (is_first) {
        struct osc_arguments *args = is_begin(t->held.kind) ? &t->args : wait_for_end(rows, t);

        scope->has_launched = true;
        if (args == &t->args)
            add_callers(rows, t);
        if (args)
            osc_arguments_int(rows->builder, args, rows->key_correlation, (int64_t)correlation);
    }
    struct osc_records_launch launch = {.at = {t->track, at_ns},
                                        .range = osc_copies_range(rows, t)};
    if (is_first && is_call(scope)) {
        launch.at.ts_ns = start_of_innermost(t, at_ns);
        osc_deferred_launch(rows, correlation, launch);
        return;
    }
    osc_deferred_launch(rows, correlation, launch);
    const struct osc_records_item call = {
        .ts_ns = at_ns, .thread = thread, .kind = OSC_RECORD_LAUNCH};
    (void)osc_deferred_add(rows, &call, &correlation, 1);
}

/* Open the scope in T that P begins, which is held. */
static inline void push_scope(struct osc_records_rows *rows, struct osc_records_thread *t,
                              const struct osc_packed *p)
{
    const uint8_t kind = p->kind - OSC_RECORD_BEGIN;

    uint32_t caller = t->depth > 0 ? t->open[t->depth - 1].caller : 0;

    if (t->depth >= t->cap_open) {
        const osc_status st =
            osc_build_grow(&t->open, &t->cap_open, (size_t)t->depth + 1, sizeof *t->open);

        if (st != OSC_OK) {
            rows->builder->status = st;
            return;
        }
    }
    if (kind == OSC_SCOPE_PYTHON && !rows->is_scout)
        caller = osc_records_callers_enter(&rows->callers, rows->builder, caller,
                                           osc_records_name(rows->names, p->id));
    const uint32_t nearest = osc_copies_nearest(t, kind);
    t->open[t->depth++] = (struct osc_records_open){.caller = caller,
                                                    .kind = kind,
                                                    .token = (uint32_t)p->ticks,
                                                    .name = t->held.name,
                                                    .step = (uint32_t)t->step,
                                                    .nearest = nearest};
    if (__builtin_expect(t->places.n_used > 0, 0))
        osc_strays_opened(rows, t);
}

/* The callers of the Python function that has just opened in T, if PyTorch records it. */
static inline osc_sid callers_of(struct osc_records_rows *rows,
                                 const struct osc_records_thread *t)
{
    const uint32_t caller = t->depth > 1 ? t->open[t->depth - 2].caller : 0;

    return caller == 0 || t->torch_thread == 0
               ? (osc_sid){0}
               : osc_records_callers_text(&rows->callers, rows->builder, caller);
}

/* --- other records ------------------------------------------------------- */

/* The name of a counter is that of its row, so that its value needs no name of its own. */
static void read_counter(struct osc_records_rows *rows, struct osc_records_thread *t,
                         const struct osc_packed *p, int64_t ts_ns)
{
    struct osc_record r = {.shape = OSC_SHAPE_COUNTER,
                           .kind = OSC_KIND_COUNTER,
                           .name = osc_records_name(rows->names, p->id),
                           .ts_ns = ts_ns,
                           .dur_ns = OSC_NO_DUR};

    if (p->kind == OSC_RECORD_COUNTER_I64)
        osc_arguments_int(rows->builder, &t->args, rows->key_value, (int64_t)p->words[0]);
    else
        osc_arguments_double(rows->builder, &t->args, rows->key_value, p->words[0]);
    put_record(rows, t, &r, &t->args, 0, 0);
    t->args.n_slots = t->args.n_words = 0;
}

static void read_lost(struct osc_records_rows *rows, const struct osc_packed *p, int64_t ts_ns)
{
    int64_t *const first_ns =
        &rows->first_lost_ns[p->id < OSC_LOSS_COUNT ? p->id : OSC_LOSS_FULL];

    if (*first_ns == OSC_NO_TIME || ts_ns < *first_ns)
        *first_ns = ts_ns;
}

static void read_pause(struct osc_records_rows *rows, struct osc_records_thread *t,
                       bool is_pause, int64_t ts_ns)
{
    const struct osc_str name =
        is_pause ? OSC_STR("recording paused") : OSC_STR("recording resumed");

    t->held =
        (struct osc_records_held){.kind = OSC_RECORD_INSTANT,
                                  .name = osc_build_string(rows->builder, name.s, name.len),
                                  .ts_ns = ts_ns,
                                  .dur_ns = OSC_NO_DUR};
    release(rows, t);
}

/* A step ends where the next one of its thread begins, whether or not the program ended it. */
static void read_step(struct osc_records_rows *rows, struct osc_records_thread *t,
                      uint32_t thread, const struct osc_packed *p, int64_t ts_ns)
{
    if (t->step > 0) {
        struct osc_records_item *open = &rows->late.items[t->step - 1];

        open->dur_ns = ts_ns > open->ts_ns ? ts_ns - open->ts_ns : 0;
    }
    t->step = 0;
    if (p->kind == OSC_RECORD_STEP_BEGIN)
        t->step = osc_deferred_add(
            rows,
            &(struct osc_records_item){
                .ts_ns = ts_ns, .dur_ns = OSC_NO_DUR, .thread = thread, .kind = p->kind},
            p->words, 2);
}

/* Keep P until all records are read; its arguments may follow. */
static void defer(struct osc_records_rows *rows, struct osc_records_thread *t, uint32_t thread,
                  const struct osc_packed *p, int64_t ts_ns)
{
    struct osc_records_item item = {
        .ts_ns = ts_ns, .dur_ns = OSC_NO_DUR, .thread = thread, .kind = p->kind, .id = p->id};
    size_t n_words = 2;

    if (p->kind == OSC_RECORD_ALLOC_TOTAL || p->kind == OSC_RECORD_FREE_TOTAL)
        n_words = 4;
    if (p->kind == OSC_RECORD_WORK)
        n_words = 8;
    if (p->kind == OSC_RECORD_WORK || p->kind == OSC_RECORD_ASYNC_BEGIN ||
        p->kind == OSC_RECORD_ASYNC_END)
        item.name = osc_records_name(rows->names, p->id);
    const size_t late = osc_deferred_add(rows, &item, p->words, n_words);
    if (late > 0)
        t->held = (struct osc_records_held){.kind = p->kind, .late = late};
}

/* Read a record that is not a scope, an instant or an argument. */
static void read_other(struct osc_records_rows *rows, struct osc_records_thread *t,
                       uint32_t thread, const struct osc_packed *p)
{
    const int64_t ts_ns = osc_records_clock_ns(rows->clock, p->ticks);

    switch (p->kind) {
    case OSC_RECORD_COUNTER_I64:
    case OSC_RECORD_COUNTER_F64:
        read_counter(rows, t, p, ts_ns);
        break;
    case OSC_RECORD_STEP_BEGIN:
    case OSC_RECORD_STEP_END:
        read_step(rows, t, thread, p, ts_ns);
        break;
    case OSC_RECORD_FLOW_BEGIN:
    case OSC_RECORD_FLOW_END:
        osc_build_arrow_end(rows->builder,
                            p->kind == OSC_RECORD_FLOW_END ? OSC_SHAPE_ARROW_TO
                                                           : OSC_SHAPE_ARROW_FROM,
                            OSC_ARROW_OTHER, rows->category_flow, p->words[0],
                            &(struct osc_arrow_end){t->track, ts_ns});
        break;
    case OSC_RECORD_THREAD_NAME:
        osc_build_track_name(rows->builder, t->track, osc_records_name(rows->names, p->id));
        break;
    case OSC_RECORD_PROCESS_NAME:
        osc_build_process_name(rows->builder, t->track, osc_records_name(rows->names, p->id));
        break;
    case OSC_RECORD_PAUSE:
    case OSC_RECORD_RESUME:
        read_pause(rows, t, p->kind == OSC_RECORD_PAUSE, ts_ns);
        break;
    case OSC_RECORD_LOST:
        read_lost(rows, p, ts_ns);
        break;
    case OSC_RECORD_METADATA:
        osc_records_fact_read(rows, p);
        break;
    case OSC_RECORD_DEVICE:
    case OSC_RECORD_DEVICE_NAME:
    case OSC_RECORD_QUEUE:
    case OSC_RECORD_DEVICE_CLOCK:
        osc_records_device_read(rows, p);
        break;
    default: /* memory, asynchronous ranges, work */
        defer(rows, t, thread, p, ts_ns);
        break;
    }
}

/* --- segments ------------------------------------------------------------ */

/* Only begins, complete scopes and instants may have arguments behind them, so they are held;
 * each other record makes a row of what is held first. */
static inline void read_record(struct osc_records_rows *rows, struct osc_records_thread *t,
                               uint32_t thread, const struct osc_packed *p)
{
    if (is_begin(p->kind)) {
        release(rows, t);
        hold(rows, t, p->kind, p->id, osc_records_clock_ns(rows->clock, p->ticks), OSC_NO_DUR);
        push_scope(rows, t, p);
        if (p->kind == OSC_RECORD_BEGIN + OSC_SCOPE_PYTHON)
            t->held.callers = callers_of(rows, t);
    } else if (p->kind == OSC_RECORD_END) {
        release(rows, t);
        end_innermost(rows, t, osc_records_clock_ns(rows->clock, p->ticks));
    } else if (p->kind == OSC_RECORD_END_OF) {
        release(rows, t);
        end_of(rows, t, p->id, osc_records_clock_ns(rows->clock, p->ticks));
    } else if (p->kind >= OSC_RECORD_ARG_I64 && p->kind <= OSC_RECORD_ARG_STACK) {
        read_arg(rows, t, p);
    } else if (p->kind == OSC_RECORD_LAUNCH) {
        read_launch(rows, t, thread, p);
    } else if (is_complete(p->kind)) {
        const int64_t start_ns = osc_records_clock_ns(rows->clock, p->ticks);

        release(rows, t);
        const int64_t end_ns = osc_records_clock_ns(rows->clock, p->ticks + p->words[0]);
        hold(rows, t, p->kind, p->id, start_ns, end_ns > start_ns ? end_ns - start_ns : 0);
    } else if (p->kind == OSC_RECORD_INSTANT) {
        release(rows, t);
        hold(rows, t, p->kind, p->id, osc_records_clock_ns(rows->clock, p->ticks), OSC_NO_DUR);
    } else {
        release(rows, t);
        read_other(rows, t, thread, p);
    }
}

bool osc_records_rows_read(struct osc_records_rows *rows, const struct osc_pack_segment *s,
                           const unsigned char *bytes)
{
    struct osc_unpack u = {.at = bytes, .end = bytes + s->n_bytes, .ticks = s->start_ticks};
    uint32_t thread = osc_idmap_get(&rows->by_ordinal, s->thread);
    uint64_t n = 0;
    struct osc_packed p = {0};

    if (thread == 0) { /* the chunk that lists the thread was lost */
        const osc_status st = osc_records_rows_thread(rows, s->thread, 0);
        if (st != OSC_OK) {
            rows->builder->status = st;
            return true;
        }
        thread = osc_idmap_get(&rows->by_ordinal, s->thread);
    }
    struct osc_records_thread *t = &rows->threads[thread - 1];
    while (rows->builder->status == OSC_OK && osc_unpack_next(&u, &p)) {
        read_record(rows, t, thread - 1, &p);
        n++;
    }
    rows->n_records += n;
    return u.at != NULL;
}

void osc_records_rows_break(struct osc_records_rows *rows)
{
    for (size_t i = 0; i < rows->n_threads; i++)
        end_open(rows, &rows->threads[i], OSC_NO_TIME);
}

void osc_records_rows_finish(struct osc_records_rows *rows)
{
    const int64_t end_ns = rows->open_end_ticks > 0
                               ? osc_records_clock_ns(rows->clock, rows->open_end_ticks)
                               : OSC_NO_TIME;

    if (rows->builder->status == OSC_OK)
        osc_strays_end(rows);
    for (size_t i = 0; i < rows->n_threads; i++) {
        const struct osc_records_thread *const t = &rows->threads[i];

        for (uint32_t k = 0; k < t->depth; k++)
            rows->n_open += t->open[k].kind != OSC_SCOPE_PYTHON && !t->open[k].has_ended;
        end_open(rows, &rows->threads[i], end_ns);
    }
    if (rows->builder->status == OSC_OK)
        osc_deferred_build(rows);
    if (rows->builder->status == OSC_OK)
        osc_records_links_build(rows);
}

/* --- begin and end ------------------------------------------------------- */

osc_status osc_records_rows_init(struct osc_records_rows *rows, struct osc_builder *b,
                                 struct osc_records_clock *clock,
                                 struct osc_records_names *names, osc_who pid)
{
    *rows = (struct osc_records_rows){.builder = b, .clock = clock, .names = names, .pid = pid};
    rows->is_scout = b->loading->keep.is_scout;
    for (unsigned k = 0; k < OSC_SCOPE_KIND_COUNT; k++) {
        rows->begins[k] = form_of(rows, OSC_SHAPE_BEGIN, osc_records_kind(k), NULL, 0);
        rows->completes[k] = form_of(rows, OSC_SHAPE_RANGE, osc_records_kind(k), NULL, 0);
    }
    rows->end = form_of(rows, OSC_SHAPE_END, OSC_KIND_NONE, NULL, 0);
    rows->instant = form_of(rows, OSC_SHAPE_INSTANT, OSC_KIND_INSTANT, NULL, 0);
    rows->oom = form_of(rows, OSC_SHAPE_INSTANT, OSC_KIND_OOM, NULL, 0);
    rows->name_oom = osc_build_string(b, OSC_KNOWN_OOM, sizeof OSC_KNOWN_OOM - 1);
    rows->category_flow = osc_build_string(b, "flow", 4);
    rows->key_torch_thread = osc_build_string(b, "torch thread", 12);
    rows->key_returned = osc_build_string(b, "Python returned", 15);
    rows->key_value = osc_build_string(b, "value", 5);
    rows->key_correlation = b->loading->keys[OSC_ARG_KEY_CORRELATION];
    for (unsigned i = 0; i < OSC_LOSS_COUNT; i++)
        rows->first_lost_ns[i] = OSC_NO_TIME;
    return b->status;
}

void osc_records_rows_fini(struct osc_records_rows *rows)
{
    for (size_t i = 0; i < rows->n_threads; i++) {
        osc_arguments_fini(&rows->threads[i].args);
        osc_arguments_fini(&rows->threads[i].waiting);
        osc_free(rows->threads[i].scopes);
        osc_free(rows->threads[i].open);
        osc_idmap_fini(&rows->threads[i].places);
    }
    osc_free(rows->threads);
    osc_strays_fini(rows);
    osc_idmap_fini(&rows->by_ordinal);
    osc_idmap_fini(&rows->by_tid);
    osc_deferred_fini(&rows->late);
    osc_copies_fini(&rows->copies);
    osc_records_stacks_fini(&rows->stacks);
    osc_records_callers_fini(&rows->callers);
    osc_strbuf_fini(&rows->text);
    rows->threads = NULL;
    rows->n_threads = rows->cap_threads = 0;
}

/* The id of a thread: its number, followed by a count if several threads had that number. */
static osc_who who_of(struct osc_records_rows *rows, uint64_t ordinal, uint32_t tid)
{
    char text[48];
    int len;

    if (tid == 0) {
        len = snprintf(text, sizeof text, "thread %llu", (unsigned long long)ordinal);
    } else {
        uint32_t *n = osc_idmap_put(&rows->by_tid, tid);

        if (!n) {
            rows->builder->status = OSC_ENOMEM;
            return tid;
        }
        if (++*n == 1)
            return tid;
        len = snprintf(text, sizeof text, "%u.%u", tid, *n);
    }
    return OSC_WHO_IS_STRING | osc_build_string(rows->builder, text, (uint32_t)len).v;
}

osc_status osc_records_rows_thread(struct osc_records_rows *rows, uint64_t ordinal,
                                   uint32_t tid)
{
    uint32_t *place = osc_idmap_put(&rows->by_ordinal, (uint32_t)ordinal);

    if (!place)
        return OSC_ENOMEM;
    if (*place > 0)
        return OSC_OK;
    osc_status st = osc_build_grow(&rows->threads, &rows->cap_threads, rows->n_threads + 1,
                                   sizeof *rows->threads);
    if (st != OSC_OK)
        return st;
    struct osc_records_thread *t = &rows->threads[rows->n_threads++];
    *t = (struct osc_records_thread){.ordinal = ordinal, .tid = who_of(rows, ordinal, tid)};
    t->track = osc_build_track(rows->builder, rows->pid, t->tid);
    *place = (uint32_t)rows->n_threads;
    return rows->builder->status;
}
