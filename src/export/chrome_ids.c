/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_ids.h"

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

bool osc_chrome_is_ours(const struct osc_trace *t)
{
    return osc_str_eq(osc_trace_str(t, t->format), OSC_STR("opscope"));
}

const struct osc_chrome_extra *osc_chrome_extras(const struct osc_trace *t,
                                                 const struct osc_form *form, bool no_stacks)
{
    const enum osc_form_shape shape = (enum osc_form_shape)form->shape;

    if (!osc_chrome_is_ours(t) || (!osc_shape_is_range(shape) && shape != OSC_SHAPE_INSTANT))
        return NULL;
    if (form->is_frame)
        return no_stacks ? of_calls_without_stacks : of_calls;

    const bool is_numbered = form->known[OSC_ARG_KEY_RECORD_FUNCTION_ID] >= 0;
    if (form->kind == OSC_KIND_OPERATOR && form->known[OSC_ARG_KEY_SEQUENCE_NUMBER] >= 0 &&
        form->known[OSC_ARG_KEY_FWD_THREAD] < 0)
        return is_numbered ? of_numbered_forwards : of_forwards;
    if (form->kind == OSC_KIND_OPERATOR || osc_kind_is_label((enum osc_kind)form->kind))
        return is_numbered ? of_numbered_operators : of_operators;
    return form->known[OSC_ARG_KEY_BYTES] >= 0 ? of_memory : NULL;
}

/* Whether T is an opscope recording with Python calls. */
static bool has_calls(const struct osc_trace *t)
{
    for (uint32_t i = 1; osc_chrome_is_ours(t) && i < t->n_forms; i++) {
        if (t->forms[i].is_frame)
            return true;
    }
    return false;
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

osc_status osc_chrome_callers_make(struct osc_chrome_callers *callers,
                                   const struct osc_trace *t)
{
    const size_t tracks_bytes = ((size_t)t->n_tracks + 1) * sizeof(uint32_t);

    *callers = (struct osc_chrome_callers){0};
    if (!has_calls(t))
        return OSC_OK;
    callers->bytes = ((size_t)t->events.n_rows + 1) * sizeof *callers->of_row;
    callers->of_row = osc_pages_alloc(callers->bytes);
    uint32_t *const innermost = osc_pages_alloc(tracks_bytes); /* osc_row; by track */
    for (uint32_t k = 1; callers->of_row && innermost && k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) { /* calls of a track are in order */
            if (!osc_row_form(t, c, i)->is_frame)
                continue;
            osc_row row = {innermost[c->track[i]]};
            while (row.v != 0 && is_over(t, row, c, i))
                row.v = callers->of_row[osc_row_number(&t->events, row)];
            callers->of_row[c->first_row + i] = row.v;
            innermost[c->track[i]] = osc_row_at(c, i).v;
        }
    }
    osc_pages_free(innermost, tracks_bytes);
    return callers->of_row && innermost ? OSC_OK : OSC_ENOMEM;
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

    if (id != OSC_CHROME_ID_CALLER)
        return number + (id == OSC_CHROME_ID_NUMBER);
    const osc_row caller = {callers->of_row[number]};
    return caller.v == 0 ? 0 : (uint64_t)osc_row_number(&t->events, caller) + 1;
}
