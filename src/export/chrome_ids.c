/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_ids.h"

#include "base/idmap.h"
#include "base/mem.h"

static const struct osc_chrome_extra of_operators[] = {
    {"\"External id\":", OSC_CHROME_ID_NUMBER, false},
    {"\"Record function id\":0", 0, true},
    {"\"Ev Idx\":", OSC_CHROME_ID_INDEX, false},
    {0}};
static const struct osc_chrome_extra of_forwards[] = {
    {"\"External id\":", OSC_CHROME_ID_NUMBER, false},
    {"\"Fwd thread id\":0", 0, true},
    {"\"Record function id\":0", 0, true},
    {"\"Ev Idx\":", OSC_CHROME_ID_INDEX, false},
    {0}};
/* The same of recordings that have the id, which torch assigns only if something asks for it.
 */
static const struct osc_chrome_extra of_numbered_operators[] = {
    {"\"External id\":", OSC_CHROME_ID_NUMBER, false},
    {"\"Ev Idx\":", OSC_CHROME_ID_INDEX, false},
    {0}};
static const struct osc_chrome_extra of_numbered_forwards[] = {
    {"\"External id\":", OSC_CHROME_ID_NUMBER, false},
    {"\"Fwd thread id\":0", 0, true},
    {"\"Ev Idx\":", OSC_CHROME_ID_INDEX, false},
    {0}};
/* Of a range that has its own id, which its copies on devices have, too. */
static const struct osc_chrome_extra of_marked[] = {
    {"\"Record function id\":0", 0, true}, {"\"Ev Idx\":", OSC_CHROME_ID_INDEX, false}, {0}};
static const struct osc_chrome_extra of_calls[] = {
    {"\"Python id\":", OSC_CHROME_ID_NUMBER, false},
    {"\"Python parent id\":", OSC_CHROME_ID_CALLER, false},
    {"\"Python thread\":0", 0, true},
    {"\"Ev Idx\":", OSC_CHROME_ID_INDEX, false},
    {0}};
static const struct osc_chrome_extra of_calls_without_stacks[] = {
    {"\"Python id\":", OSC_CHROME_ID_NUMBER, false},
    {"\"Python parent id\":", OSC_CHROME_ID_CALLER, false},
    {"\"Ev Idx\":", OSC_CHROME_ID_INDEX, false},
    {0}};
static const struct osc_chrome_extra of_memory[] = {
    {"\"finished\":false", 0, true}, {"\"Ev Idx\":", OSC_CHROME_ID_INDEX, false}, {0}};

static const struct osc_chrome_extra of_launches[] = {
    {"\"External id\":", OSC_CHROME_ID_OPERATOR, false}, {0}};

bool osc_chrome_is_ours(const struct osc_trace *t)
{
    return osc_str_eq(osc_trace_str(t, t->format), OSC_STR("opscope"));
}

/* Whether events of FORM are work on a device. */
static bool is_work(const struct osc_form *form)
{
    return osc_kind_is_device_work((enum osc_kind)form->kind) || form->kind == OSC_KIND_SYNC;
}

/* Whether events of FORM have the number of a launch: calls, and the work on devices. */
static bool is_of_launch(const struct osc_form *form)
{
    return form->known[OSC_ARG_KEY_CORRELATION] >= 0 &&
           (osc_kind_is_launch((enum osc_kind)form->kind) || is_work(form));
}

static bool is_operator(const struct osc_form *form)
{
    return form->kind == OSC_KIND_OPERATOR &&
           osc_shape_is_range((enum osc_form_shape)form->shape);
}

const struct osc_chrome_extra *osc_chrome_extras(const struct osc_trace *t,
                                                 const struct osc_chrome_callers *callers,
                                                 const struct osc_form *form, bool no_stacks)
{
    const enum osc_form_shape shape = (enum osc_form_shape)form->shape;

    if (!osc_chrome_is_ours(t) || (!osc_shape_is_range(shape) && shape != OSC_SHAPE_INSTANT))
        return NULL;
    if (form->is_frame)
        return no_stacks ? of_calls_without_stacks : of_calls;
    if (callers->has_launches && is_of_launch(form))
        return of_launches;

    if (form->is_device)
        return NULL;
    if (form->known[OSC_ARG_KEY_EXTERNAL_ID] >= 0)
        return of_marked;
    const bool is_numbered = form->known[OSC_ARG_KEY_RECORD_FUNCTION_ID] >= 0;
    if (form->kind == OSC_KIND_OPERATOR && form->known[OSC_ARG_KEY_SEQUENCE_NUMBER] >= 0 &&
        form->known[OSC_ARG_KEY_FWD_THREAD] < 0)
        return is_numbered ? of_numbered_forwards : of_forwards;
    if (form->kind == OSC_KIND_OPERATOR || osc_kind_is_label((enum osc_kind)form->kind))
        return is_numbered ? of_numbered_operators : of_operators;
    return form->known[OSC_ARG_KEY_BYTES] >= 0 ? of_memory : NULL;
}

/* Which rows of a trace have callers. */
struct has {
    bool frames, operators, launches;
};

static struct has look(const struct osc_trace *t)
{
    struct has has = {0};

    for (uint32_t i = 1; osc_chrome_is_ours(t) && i < t->n_forms; i++) {
        has.frames = has.frames || t->forms[i].is_frame;
        has.operators = has.operators || is_operator(&t->forms[i]);
        has.launches = has.launches || is_of_launch(&t->forms[i]);
    }
    has.launches = has.launches && has.operators;
    return has;
}

/* Whether the call in ROW ends before row I of C does. An open call never ends. */
static bool is_over(const struct osc_trace *t, osc_row row, const struct osc_chunk *c,
                    uint32_t i)
{
    const struct osc_chunk *const at = osc_chunk_of(&t->events, row);
    const uint32_t place = osc_row_place(row);

    return at->dur_ns[place] != OSC_NO_DUR && (osc_row_end(at, place) <= c->ts_ns[i] ||
                                               osc_row_end(at, place) < osc_row_end(c, i));
}

/* What find_callers() and find_launchers() fill. */
struct finding {
    const struct osc_trace *t;
    uint32_t *of_row;
    uint32_t *innermost;          /* osc_row; by track: the last call, or operator */
    struct osc_idmap operator_of; /* correlation -> osc_row */
};

/* The innermost row of the same kind around row I of C, or 0. Those that are over are left out
 * from then on. Rows of a track are in order. */
static uint32_t around(struct finding *f, const struct osc_chunk *c, uint32_t i)
{
    uint32_t *const innermost = &f->innermost[c->track[i]];

    while (*innermost != 0 && is_over(f->t, (osc_row){*innermost}, c, i))
        *innermost = f->of_row[osc_row_number(&f->t->events, (osc_row){*innermost})];
    return *innermost;
}

static void find_callers(struct finding *f)
{
    for (uint32_t k = 1; k < f->t->events.n_chunks; k++) {
        const struct osc_chunk *const c = f->t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (!osc_row_form(f->t, c, i)->is_frame)
                continue;
            f->of_row[c->first_row + i] = around(f, c, i);
            f->innermost[c->track[i]] = osc_row_at(c, i).v;
        }
    }
}

/* Find the operators around the calls of a runtime. */
static osc_status find_operators(struct finding *f)
{
    int64_t correlation;

    for (uint32_t k = 1; k < f->t->events.n_chunks; k++) {
        const struct osc_chunk *const c = f->t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const struct osc_form *const form = osc_row_form(f->t, c, i);

            if (is_operator(form)) {
                f->of_row[c->first_row + i] = around(f, c, i);
                f->innermost[c->track[i]] = osc_row_at(c, i).v;
            } else if (is_of_launch(form) && !is_work(form)) {
                const uint32_t op = around(f, c, i);

                f->of_row[c->first_row + i] = op;
                if (op == 0 ||
                    !osc_row_arg_int(f->t, c, i, OSC_ARG_KEY_CORRELATION, &correlation))
                    continue;
                uint32_t *const place = osc_idmap_put(&f->operator_of, (uint64_t)correlation);
                if (!place)
                    return OSC_ENOMEM;
                *place = op;
            }
        }
    }
    return OSC_OK;
}

/* Give work the operators of the calls that launched it. */
static void find_launchers(struct finding *f)
{
    int64_t correlation;

    for (uint32_t k = 1; k < f->t->events.n_chunks; k++) {
        const struct osc_chunk *const c = f->t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const struct osc_form *const form = osc_row_form(f->t, c, i);

            if (is_of_launch(form) && is_work(form) &&
                osc_row_arg_int(f->t, c, i, OSC_ARG_KEY_CORRELATION, &correlation))
                f->of_row[c->first_row + i] =
                    osc_idmap_get(&f->operator_of, (uint64_t)correlation);
        }
    }
}

osc_status osc_chrome_callers_make(struct osc_chrome_callers *callers,
                                   const struct osc_trace *t)
{
    const size_t tracks_bytes = ((size_t)t->n_tracks + 1) * sizeof(uint32_t);
    const struct has has = look(t);
    osc_status st = OSC_OK;

    *callers = (struct osc_chrome_callers){.has_launches = has.launches};
    if (!has.frames && !has.launches)
        return OSC_OK;
    callers->bytes = ((size_t)t->events.n_rows + 1) * sizeof *callers->of_row;
    callers->of_row = osc_pages_alloc(callers->bytes);
    struct finding f = {
        .t = t, .of_row = callers->of_row, .innermost = osc_pages_alloc(tracks_bytes)};
    if (!f.of_row || !f.innermost)
        st = OSC_ENOMEM;
    if (st == OSC_OK && has.frames)
        find_callers(&f);
    if (st == OSC_OK && has.launches) {
        memset(f.innermost, 0, tracks_bytes);
        st = find_operators(&f);
    }
    if (st == OSC_OK && has.launches)
        find_launchers(&f);
    osc_idmap_fini(&f.operator_of);
    osc_pages_free(f.innermost, tracks_bytes);
    return st;
}

void osc_chrome_callers_fini(struct osc_chrome_callers *callers)
{
    osc_pages_free(callers->of_row, callers->bytes);
    *callers = (struct osc_chrome_callers){0};
}

uint64_t osc_chrome_id(const struct osc_trace *t, const struct osc_chrome_callers *callers,
                       const struct osc_chunk *c, uint32_t i, enum osc_chrome_id id)
{
    const uint64_t number = (uint64_t)c->first_row + i;

    if (id != OSC_CHROME_ID_CALLER && id != OSC_CHROME_ID_OPERATOR)
        return number + (id == OSC_CHROME_ID_NUMBER);
    const osc_row caller = {callers->of_row[number]};
    return caller.v == 0 ? 0 : (uint64_t)osc_row_number(&t->events, caller) + 1;
}
