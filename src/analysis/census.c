/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/census.h"

#include "base/mem.h"

static bool form_has(const struct osc_form *f, enum osc_arg_key key)
{
    return f->known[key] >= 0;
}

static void look_at_form(const struct osc_form *f, struct osc_census *c)
{
    c->has_shapes = c->has_shapes || form_has(f, OSC_ARG_KEY_INPUT_DIMS) ||
                    form_has(f, OSC_ARG_KEY_INPUT_DIMS_OLD);
    c->has_stacks = c->has_stacks || form_has(f, OSC_ARG_KEY_CALL_STACK);
    c->has_modules = c->has_modules || form_has(f, OSC_ARG_KEY_MODULE_HIERARCHY);
}

/* Zero times are out of place if all others come at least a second later, and by more than
 * they last. */
#define FAR_NS 1000000000

/* The times of the rows that decide whether others are out of place. */
struct bounds {
    int64_t first_ns, last_ns;        /* of rows that do not start at 0; first > last: none */
    int64_t span_from_ns, span_to_ns; /* span of the profiler; from > to: unknown */
};

static bool is_span(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    return t->forms[c->form[i]].is_profiler &&
           osc_str_starts(osc_row_name(t, c, i), OSC_STR("PyTorch Profiler ("));
}

static bool is_range(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    const enum osc_form_shape shape = (enum osc_form_shape)t->forms[c->form[i]].shape;

    return osc_shape_is_range(shape) && c->dur_ns[i] != OSC_NO_DUR;
}

static void look_at_row(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                        struct osc_census *census, struct bounds *b)
{
    const int64_t at_ns = c->ts_ns[i], end_ns = osc_row_end(c, i);

    if (c->dur_ns[i] == OSC_NO_DUR && t->forms[c->form[i]].shape == OSC_SHAPE_RANGE)
        osc_tally_add(&census->no_duration, at_ns);
    if (at_ns == 0) {
        osc_tally_add(&census->clock_step, at_ns);
    } else {
        b->first_ns = at_ns < b->first_ns ? at_ns : b->first_ns;
        b->last_ns = end_ns > b->last_ns ? end_ns : b->last_ns;
    }
    if (c->kind[i] == OSC_KIND_SCOPE && is_range(t, c, i) && is_span(t, c, i)) {
        b->span_from_ns = at_ns < b->span_from_ns ? at_ns : b->span_from_ns;
        b->span_to_ns = end_ns > b->span_to_ns ? end_ns : b->span_to_ns;
    }
}

static void count_outside(const struct osc_trace *t, const struct bounds *b,
                          struct osc_census *census)
{
    for (uint32_t k = 1; b->span_from_ns <= b->span_to_ns && k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if ((c->ts_ns[i] < b->span_from_ns || c->ts_ns[i] > b->span_to_ns) &&
                is_range(t, c, i))
                osc_tally_add(&census->outside_span, c->ts_ns[i]);
        }
    }
}

osc_status osc_census_add(const struct osc_trace *t, struct osc_census *c)
{
    bool *is_used = osc_calloc(t->n_forms ? t->n_forms : 1, sizeof *is_used);
    struct bounds bounds = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN};

    *c = (struct osc_census){0};
    if (!is_used)
        return OSC_ENOMEM;
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *chunk = t->events.chunks[k];

        for (uint32_t i = 0; i < chunk->n_rows; i++) {
            c->by_kind[chunk->kind[i]]++;
            c->n_steps += chunk->kind[i] == OSC_KIND_STEP && chunk->dur_ns[i] != OSC_NO_DUR;
            is_used[chunk->form[i]] = true;
            look_at_row(t, chunk, i, c, &bounds);
        }
    }
    if (bounds.first_ns <= FAR_NS || bounds.first_ns > bounds.last_ns ||
        bounds.first_ns <= bounds.last_ns - bounds.first_ns)
        c->clock_step = (struct osc_tally){0};
    count_outside(t, &bounds, c);
    for (uint32_t f = 0; f < t->n_forms; f++) {
        if (is_used[f])
            look_at_form(&t->forms[f], c);
    }
    c->has_stacks = c->has_stacks || c->by_kind[OSC_KIND_PYTHON] > 0;
    c->has_modules = c->has_modules || c->by_kind[OSC_KIND_MODULE] > 0;
    osc_free(is_used);
    return OSC_OK;
}

bool osc_trace_flag(const struct osc_trace *t, const char *name, bool default_value)
{
    struct osc_str value;

    if (!osc_trace_meta(t, name, &value))
        return default_value;
    return !(value.len == 0 || osc_str_eq(value, OSC_STR("0")) ||
             osc_str_eq(value, OSC_STR("false")) || osc_str_eq(value, OSC_STR("null")));
}
