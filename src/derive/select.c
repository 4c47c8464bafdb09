/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "derive/args.h"
#include "derive/facts.h"

bool osc_selection_is_all(const struct osc_selection *s)
{
    return !s->process && !s->thread && !s->device && !s->steps && !s->has_from && !s->has_to;
}

/* PyTorch itself writes "" as a number, so an empty one is one. */
static bool is_number(const struct osc_trace *t, osc_sid id, const char *text)
{
    return osc_str_eq(osc_trace_str(t, id), osc_str_c(text));
}

static bool is_name(const struct osc_trace *t, osc_sid id, const char *text)
{
    return id.v != 0 && osc_str_eq(osc_trace_str(t, id), osc_str_c(text));
}

/* Mark the tracks of the wanted process and thread, by id or by name. */
static osc_status choose_tracks(struct osc_filter *f, struct osc_err *err)
{
    const struct osc_trace *const t = f->t;
    const char *const process = f->s->process, *const thread = f->s->thread;
    bool has_process = !process, has_thread = !thread;

    if (!process && !thread) {
        memset(f->has_track, 1, (size_t)t->n_tracks + 1);
        return OSC_OK;
    }
    for (uint32_t k = 0; k < t->n_tracks; k++) {
        const struct osc_track *const track = &t->tracks[k];
        const bool is_process = !process || is_number(t, track->pid, process) ||
                                (track->process < t->n_processes &&
                                 is_name(t, t->processes[track->process].name, process));
        const bool is_thread =
            !thread || is_number(t, track->tid, thread) || is_name(t, track->name, thread);

        if (track->is_queue || track->n_events == 0)
            continue;
        f->has_track[k] = is_process && is_thread;
        has_process = has_process || is_process;
        has_thread = has_thread || (is_process && is_thread);
    }
    if (!has_process)
        return osc_fail(err, OSC_EINVAL,
                        "--process: the trace has no '%s'; 'opscope table threads' lists all",
                        process);
    if (!has_thread)
        return osc_fail(err, OSC_EINVAL,
                        "--thread: the trace has no '%s'; 'opscope table threads' lists all",
                        thread);
    return OSC_OK;
}

static osc_status choose_devices(struct osc_filter *f, struct osc_err *err)
{
    const struct osc_trace *const t = f->t;
    /* The host is a device too: with it alone, all work of others goes. */
    bool is_any = !f->s->device || strcmp(f->s->device, "cpu") == 0;

    for (uint32_t k = 0; k < t->n_tracks; k++) {
        f->has_queue[k] = !f->s->device || is_name(t, t->tracks[k].device, f->s->device);
        is_any = is_any || f->has_queue[k];
    }
    if (!is_any)
        return osc_fail(err, OSC_EINVAL,
                        "--device: the trace has no '%s'; 'opscope table tracks' lists all",
                        f->s->device);
    return OSC_OK;
}

/* One end of a range of steps: "7" is a label, "@2" an ordinal. */
static bool parse_end(const char **text, bool *is_ordinal, uint64_t *number)
{
    char *end;

    *is_ordinal = **text == '@';
    *text += *is_ordinal;
    if (**text < '0' || **text > '9')
        return false;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return true;
}

/* "A" or "A-B", both labels or both ordinals. */
static bool parse_steps(const char *text, bool *is_ordinal, uint64_t *from, uint64_t *to)
{
    bool is_ordinal_to;

    if (!parse_end(&text, is_ordinal, from))
        return false;
    *to = *from;
    is_ordinal_to = *is_ordinal;
    if (*text == '-') {
        text++;
        if (!parse_end(&text, &is_ordinal_to, to))
            return false;
    }
    return *text == '\0' && is_ordinal_to == *is_ordinal && *from <= *to;
}

bool osc_select_is_steps(const char *text)
{
    bool is_ordinal;
    uint64_t from, to;

    return parse_steps(text, &is_ordinal, &from, &to);
}

/* The label of step I as a number; false if it is none. */
static bool label_number(const struct osc_trace *t, uint32_t i, uint64_t *number)
{
    const struct osc_str label = osc_trace_str(t, t->steps[i].label);

    *number = 0;
    if (t->steps[i].row.v == 0)
        return true; /* the one step of a trace without is step 0 */
    if (label.len == 0 || label.len > 18)
        return false;
    for (uint32_t k = 0; k < label.len; k++) {
        if (label.s[k] < '0' || label.s[k] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(label.s[k] - '0');
    }
    return true;
}

static osc_status choose_steps(struct osc_filter *f, struct osc_err *err)
{
    const struct osc_trace *const t = f->t;
    bool is_ordinal, is_any = false;
    uint64_t from, to;

    if (!f->s->steps)
        return OSC_OK;
    if (!parse_steps(f->s->steps, &is_ordinal, &from, &to))
        return osc_fail(err, OSC_EINVAL,
                        "--steps: '%s' is no range; 5, 5-7 (labels), @0 and @0-@2 (numbers) "
                        "are",
                        f->s->steps);
    f->has_step = osc_calloc((size_t)t->n_steps + 1, 1);
    if (!f->has_step)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        uint64_t number = (uint64_t)t->steps[i].ordinal + f->s->n_steps_before;

        f->has_step[i] =
            (is_ordinal || label_number(t, i, &number)) && number >= from && number <= to;
        is_any = is_any || f->has_step[i];
    }
    if (!is_any)
        return osc_fail(err, OSC_EINVAL,
                        "--steps: the trace has no '%s'; 'opscope table steps' lists all",
                        f->s->steps);
    /* The one step of a trace without is everything. */
    if (t->steps[0].row.v == 0) {
        osc_free(f->has_step);
        f->has_step = NULL;
    }
    return OSC_OK;
}

static int by_annotation(const void *x, const void *y)
{
    const struct osc_original *const a = x, *const b = y;

    if (a->external != b->external)
        return a->external < b->external ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return (a->row.v > b->row.v) - (a->row.v < b->row.v);
}

/* Whether device work goes by what the host did. */
static bool is_by_host(const struct osc_filter *f)
{
    return f->s->process || f->s->thread || f->has_step;
}

static bool is_annotation(const struct osc_filter *f, const struct osc_chunk *c, uint32_t i)
{
    return f->t->forms[c->form[i]].kind == OSC_KIND_ANNOTATION && osc_is_range(f->c, c, i);
}

/* List the annotations of the host, if something goes by them. */
static osc_status find_originals(struct osc_filter *f)
{
    const struct osc_store *const s = &f->t->events;
    size_t cap = 0;

    for (uint32_t k = 1; is_by_host(f) && k < s->n_chunks; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (!is_annotation(f, c, i) || osc_is_on_device(f->c, c, i))
                continue;
            const int64_t external = osc_args_external_id(f->t, c, i);
            if (external == 0)
                continue;
            if (osc_grow(&f->originals, &cap, f->n_originals + 1, sizeof *f->originals) !=
                OSC_OK)
                return OSC_ENOMEM;
            f->originals[f->n_originals++] =
                (struct osc_original){external, c->name[i], osc_row_at(c, i)};
        }
    }
    if (f->n_originals > 1)
        osc_sort(f->originals, f->n_originals, sizeof *f->originals, by_annotation);
    return OSC_OK;
}

/* The first annotation of the host that row I of C, on a device, is a copy of; or none. */
static osc_row original_of(const struct osc_filter *f, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_original key = {osc_args_external_id(f->t, c, i), c->name[i], {0}};
    size_t low = 0, high = is_annotation(f, c, i) ? f->n_originals : 0;
    const size_t n = high;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (by_annotation(&f->originals[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == n || f->originals[low].external != key.external ||
        f->originals[low].name != key.name)
        return (osc_row){0};
    return f->originals[low].row;
}

static bool is_in_time(const struct osc_filter *f, int64_t ts_ns)
{
    const int64_t at_ns = ts_ns - f->t->origin_ns;

    return (!f->s->has_from || at_ns >= f->s->from_ns) &&
           (!f->s->has_to || at_ns < f->s->to_ns);
}

/*
 * The step that host row I of C goes with (index + 1), or 0. An annotation goes with the
 * step that it makes, even if it starts in another: without it there is no such step, and
 * the steps that are left have the rows that they had.
 */
static uint32_t goes_with(const struct osc_filter *f, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_trace *const t = f->t;
    uint32_t low = 0, high = c->kind[i] == OSC_KIND_STEP ? t->n_steps : 0;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct osc_step *const s = &t->steps[middle];

        if (s->start_ns < c->ts_ns[i] ||
            (s->start_ns == c->ts_ns[i] && s->row.v < osc_row_at(c, i).v))
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->n_steps && t->steps[low].row.v == osc_row_at(c, i).v ? low + 1 : c->step[i];
}

/* Whether the host row is wanted, time aside. */
static bool has_host_row(const struct osc_filter *f, const struct osc_chunk *c, uint32_t i)
{
    const uint32_t step = f->has_step ? goes_with(f, c, i) : 0;

    return f->has_track[c->track[i]] && (!f->has_step || (step != 0 && f->has_step[step - 1]));
}

bool osc_filter_wants(const struct osc_filter *f, const struct osc_chunk *c, uint32_t i)
{
    if (!is_in_time(f, c->ts_ns[i]))
        return false;
    if (!osc_is_on_device(f->c, c, i))
        return has_host_row(f, c, i);
    if (!f->has_queue[c->track[i]])
        return false;
    if (!is_by_host(f))
        return true;
    const osc_row launch = {c->link[i]};
    const osc_row cause = launch.v != 0 ? launch : original_of(f, c, i);
    return cause.v != 0 &&
           has_host_row(f, osc_chunk_of(&f->t->events, cause), osc_row_place(cause));
}

osc_status osc_filter_make(struct osc_filter *f, const struct osc_trace *t,
                           const struct osc_selection *s, struct osc_err *err)
{
    osc_status st = OSC_OK;

    *f = (struct osc_filter){.t = t, .c = &osc_trace_facts(t)->classes, .s = s};
    f->has_track = osc_calloc((size_t)t->n_tracks + 1, 1);
    f->has_queue = osc_calloc((size_t)t->n_tracks + 1, 1);
    st = f->has_track && f->has_queue ? choose_tracks(f, err) : OSC_ENOMEM;
    if (st == OSC_OK)
        st = choose_devices(f, err);
    if (st == OSC_OK)
        st = choose_steps(f, err);
    if (st == OSC_OK)
        st = find_originals(f);
    if (st != OSC_OK)
        osc_filter_fini(f);
    return st;
}

void osc_filter_fini(struct osc_filter *f)
{
    osc_free(f->has_track);
    osc_free(f->has_queue);
    osc_free(f->has_step);
    osc_free(f->originals);
    *f = (struct osc_filter){0};
}

static uint32_t number_of(const struct osc_filter *f, osc_row row)
{
    return osc_row_number(&f->t->events, row);
}

/*
 * Whether the row that holds others tells who called them. Ranges of category `python`
 * do not: time counts as theirs, and they would bring to a step what began before it.
 */
static bool is_caller(const struct osc_filter *f, const struct osc_chunk *c, uint32_t i)
{
    return (f->c->forms[c->form[i]] & OSC_FORM_FUNCTION) != 0;
}

#define WANTED 1u
#define SEEN   2u /* it holds what is wanted, as do all that hold it */
#define CALLER 4u

/* Want the callers of what is wanted, too. */
static void add_callers(const struct osc_filter *f, uint8_t *wanted)
{
    const struct osc_store *const s = &f->t->events;

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            osc_row up = {wanted[c->first_row + i] & WANTED ? c->parent[i] : 0};

            while (up.v != 0 && !(wanted[number_of(f, up)] & SEEN)) {
                const struct osc_chunk *const above = osc_chunk_of(s, up);

                wanted[number_of(f, up)] |=
                    is_caller(f, above, osc_row_place(up)) ? SEEN | CALLER : SEEN;
                up.v = above->parent[osc_row_place(up)];
            }
        }
    }
    for (uint32_t i = 0; i < s->n_rows; i++)
        wanted[i] &= WANTED | CALLER;
}

/* Decide on every row, while all of them are there: a byte each, 0 for what goes. */
static uint8_t *decide(const struct osc_filter *f)
{
    const struct osc_store *const s = &f->t->events;
    uint8_t *wanted = osc_calloc((size_t)s->n_rows + 1, 1);

    for (uint32_t k = 1; wanted && k < s->n_chunks; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++)
            wanted[c->first_row + i] = osc_filter_wants(f, c, i) ? WANTED : 0;
    }
    if (wanted && f->s->with_callers)
        add_callers(f, wanted);
    return wanted;
}

/* Let T remember the ordinals of its wanted steps, before it forgets the others. */
static osc_status keep_ordinals(struct osc_trace *t, const struct osc_filter *f,
                                const uint8_t *wanted)
{
    uint32_t *ordinals = osc_calloc((size_t)t->n_steps + 1, sizeof *ordinals);
    uint32_t n = 0;

    if (!ordinals)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const osc_row row = t->steps[i].row;

        if (row.v != 0 && wanted[osc_chunk_of(&t->events, row)->first_row + osc_row_place(row)])
            ordinals[n++] = t->steps[i].ordinal + f->s->n_steps_before;
    }
    osc_free(t->step_ordinals);
    t->step_ordinals = ordinals;
    t->n_step_ordinals = n;
    return OSC_OK;
}

/* The innermost range that is open at AT_NS on TRACK, or none. */
static osc_row touched_by(const struct osc_filter *f, uint32_t track, int64_t at_ns)
{
    const struct osc_order *const o = &osc_trace_facts(f->t)->order;
    const struct osc_store *const s = &f->t->events;
    uint32_t hint = 0;
    /* Behind the last that starts by then. */
    const uint32_t place = osc_order_find(f->t, o, track, at_ns + 1, &hint);
    osc_row row = {place > o->first[track] ? o->rows[place - 1] : 0};

    while (row.v != 0 && osc_row_end(osc_chunk_of(s, row), osc_row_place(row)) < at_ns)
        row.v = osc_chunk_of(s, row)->parent[osc_row_place(row)];
    return row;
}

static bool is_arrow(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    const uint8_t ph = t->forms[c->form[i]].ph;

    return ph == 's' || ph == 't' || ph == 'f';
}

/* Whether what record I of an arrow touches stays. */
static bool touches_wanted(const struct osc_filter *f, const uint8_t *wanted,
                           const struct osc_chunk *c, uint32_t i)
{
    const osc_row row = touched_by(f, c->track[i], c->ts_ns[i]);
    const bool is_here = f->has_track[c->track[i]] || f->t->tracks[c->track[i]].is_queue;

    if (row.v != 0)
        return (wanted[number_of(f, row)] & WANTED) != 0;
    return !f->has_step && is_here && is_in_time(f, c->ts_ns[i]);
}

/* Arrows by category and id, those that go with 1. */
struct arrows {
    struct osc_idmap names; /* id of a flow -> number */
    struct osc_idmap gone;  /* category and number -> whether it goes */
    uint32_t n_names;
};

/* The place for the arrow of record I, or NULL. */
static uint32_t *find_arrow(struct arrows *a, const struct osc_trace *t,
                            const struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *const form = &t->forms[c->form[i]];
    struct osc_arg arg;
    int64_t number = 0;
    uint64_t id = UINT64_C(1) << 63; /* none */

    /* Texts are told apart from numbers by the highest bit. */
    if (osc_row_arg_int(t, c, i, OSC_ARG_KEY_FLOW_ID, &number))
        id = (uint64_t)number & INT64_MAX;
    else if (osc_row_arg(t, c, i, OSC_ARG_KEY_FLOW_ID, &arg) && arg.type == OSC_ARG_STRING)
        id = (uint64_t)arg.sid.v | UINT64_C(1) << 63;
    uint32_t *const name = osc_idmap_put(&a->names, id);
    if (!name)
        return NULL;
    if (*name == 0)
        *name = ++a->n_names;
    return osc_idmap_put(&a->gone, (uint64_t)form->category.v << 32 | *name);
}

/* Which arrows go: of those one record is enough. */
static osc_status judge_arrows(const struct osc_filter *f, const uint8_t *wanted,
                               struct arrows *a)
{
    const struct osc_store *const s = &f->t->others;

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (!is_arrow(f->t, c, i))
                continue;
            uint32_t *const is_gone = find_arrow(a, f->t, c, i);
            if (!is_gone)
                return OSC_ENOMEM;
            *is_gone = *is_gone || !touches_wanted(f, wanted, c, i);
        }
    }
    return OSC_OK;
}

/* Leave out arrows one end of which goes. */
static osc_status select_arrows(const struct osc_filter *f, struct osc_trace *t,
                                const uint8_t *wanted)
{
    struct arrows a = {.n_names = 0};
    osc_status st = judge_arrows(f, wanted, &a);
    uint32_t n_rows = 0;

    for (uint32_t k = 1; k < t->others.n_chunks && st == OSC_OK; k++) {
        struct osc_chunk *const c = t->others.chunks[k];
        uint32_t n = 0;

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const uint32_t *const is_gone = is_arrow(t, c, i) ? find_arrow(&a, t, c, i) : NULL;

            if (!is_gone || !*is_gone)
                osc_chunk_move_row(c, n++, i);
        }
        c->first_row = n_rows;
        c->n_rows = n;
        n_rows += n;
    }
    if (st == OSC_OK)
        t->others.n_rows = n_rows;
    osc_idmap_fini(&a.names);
    osc_idmap_fini(&a.gone);
    return st;
}

/* The sum, or the bound that it would pass. */
static int64_t add_bounded(int64_t a, int64_t b)
{
    int64_t sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

/*
 * Narrow W to the steps that are wanted, all of them, and those that run when the first of
 * them begins: these take the rows that both hold.
 */
static void narrow_to_steps(const struct osc_filter *f, struct osc_select_window *w)
{
    const struct osc_trace *const t = f->t;
    int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;

    for (uint32_t i = 0; i < t->n_steps; i++) {
        if (!f->has_step[i])
            continue;
        from_ns = t->steps[i].start_ns < from_ns ? t->steps[i].start_ns : from_ns;
        to_ns = t->steps[i].end_ns > to_ns ? t->steps[i].end_ns : to_ns;
    }
    w->from_ns = from_ns;
    for (uint32_t i = 0; i < t->n_steps && t->steps[i].start_ns < from_ns; i++) {
        if (t->steps[i].end_ns > from_ns && t->steps[i].start_ns < w->from_ns)
            w->from_ns = t->steps[i].start_ns;
    }
    w->host_to_ns = to_ns;
}

osc_status osc_select_find_window(struct osc_trace *t, const struct osc_selection *s,
                                  struct osc_select_window *w, struct osc_err *err)
{
    struct osc_filter f = {.t = t, .s = s};

    *w = (struct osc_select_window){INT64_MIN, INT64_MAX, INT64_MAX, 0};
    if (s->has_from)
        w->from_ns = add_bounded(t->origin_ns, s->from_ns);
    if (s->has_to)
        w->host_to_ns = w->device_to_ns = add_bounded(t->origin_ns, s->to_ns);
    osc_status st = osc_derive(t, OSC_FACT_STEPS, 1, err);
    /* Without steps all of the trace is one, if there is anything in it. */
    if (st == OSC_OK && t->n_steps > 0)
        st = choose_steps(&f, err);
    if (st == OSC_OK && f.has_step)
        narrow_to_steps(&f, w);
    for (uint32_t i = 0; st == OSC_OK && i < t->n_steps; i++)
        w->n_steps_before += t->steps[i].row.v != 0 && t->steps[i].start_ns < w->from_ns;
    osc_free(f.has_step);
    return st;
}

osc_status osc_select(struct osc_trace *t, const struct osc_selection *s, unsigned n_threads,
                      struct osc_err *err)
{
    const uint32_t facts = t->facts;
    struct osc_filter f = {0};
    uint8_t *wanted = NULL;

    if (osc_selection_is_all(s))
        return OSC_OK;
    osc_status st =
        osc_derive(t, OSC_FACT_FOREST | OSC_FACT_LINKS | OSC_FACT_STEPS, n_threads, err);
    if (st != OSC_OK)
        return st;
    st = osc_filter_make(&f, t, s, err);
    if (st != OSC_OK)
        goto out;
    st = osc_trace_hold(t);
    if (st != OSC_OK)
        goto out;
    wanted = decide(&f);
    st = wanted ? keep_ordinals(t, &f, wanted) : OSC_ENOMEM;
    if (st == OSC_OK)
        st = select_arrows(&f, t, wanted);
    if (st != OSC_OK)
        goto out;
    t->is_selected = true;
    for (uint32_t k = 1; k < t->events.n_chunks; k++)
        osc_chunk_squeeze(t->events.chunks[k], wanted + t->events.chunks[k]->first_row);
    osc_trace_recount(t);
    osc_derive_forget(t);
    if (facts != 0)
        st = osc_derive(t, facts, n_threads, err);
out:
    if (st == OSC_ENOMEM)
        (void)osc_fail(err, st, "out of memory while selecting");
    osc_filter_fini(&f);
    osc_free(wanted);
    return st;
}
