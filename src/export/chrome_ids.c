/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_ids.h"

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
static const struct osc_chrome_extra of_calls[] = {
    {"\"Python id\":", OSC_CHROME_ID_NUMBER, false},
    {"\"Python parent id\":", OSC_CHROME_ID_CALLER, false},
    {"\"Python thread\":0", 0, true},
    {"\"Ev Idx\":", OSC_CHROME_ID_INDEX, false},
    {0}};
static const struct osc_chrome_extra of_memory[] = {
    {"\"finished\":false", 0, true}, {"\"Ev Idx\":", OSC_CHROME_ID_INDEX, false}, {0}};

bool osc_chrome_is_ours(const struct osc_trace *t)
{
    return osc_str_eq(osc_trace_str(t, t->format), OSC_STR("opscope"));
}

static bool is_of(const struct osc_trace *t, const struct osc_form *form, const char *category)
{
    return osc_str_eq(osc_trace_str(t, form->category), osc_str_c(category));
}

const struct osc_chrome_extra *osc_chrome_extras(const struct osc_trace *t,
                                                 const struct osc_form *form)
{
    if (!osc_chrome_is_ours(t) || (form->ph != 'X' && form->ph != 'B' && form->ph != 'i'))
        return NULL;
    if (is_of(t, form, "python_function"))
        return of_calls;
    if (is_of(t, form, "cpu_op") && form->known[OSC_ARG_KEY_SEQUENCE_NUMBER] >= 0 &&
        form->known[OSC_ARG_KEY_FWD_THREAD] < 0)
        return of_forwards;
    if (is_of(t, form, "cpu_op") || is_of(t, form, "user_annotation"))
        return of_operators;
    return form->known[OSC_ARG_KEY_BYTES] >= 0 ? of_memory : NULL;
}

bool osc_chrome_ids_have_callers(const struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_forms && osc_chrome_is_ours(t); i++) {
        if (is_of(t, &t->forms[i], "python_function"))
            return true;
    }
    return false;
}

/* The number, from 1, of the call of Python that row I of C lies in; 0: none. */
static uint64_t caller_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    osc_row row = {c->parent[i]};

    while (row.v != 0) {
        const struct osc_chunk *const at = osc_chunk_of(&t->events, row);
        const uint32_t place = osc_row_place(row);

        if (is_of(t, osc_row_form(t, at, place), "python_function"))
            return (uint64_t)at->first_row + place + 1;
        row.v = at->parent[place];
    }
    return 0;
}

uint64_t osc_chrome_id(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                       enum osc_chrome_id id)
{
    return id == OSC_CHROME_ID_CALLER
               ? caller_of(t, c, i)
               : (uint64_t)c->first_row + i + (id == OSC_CHROME_ID_NUMBER);
}
