/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/change.h"

#include <math.h>

struct osc_change osc_change_at(const struct osc_result *r, uint64_t i,
                                const struct osc_change_columns *c)
{
    const bool has_steps = osc_result_has(r, i, c->mean_delta_ns);
    struct osc_change change = {
        .name = osc_result_get_str(r, i, c->name),
        .has_steps = has_steps,
        .base_calls = (double)osc_result_get_int(r, i, c->base_calls),
        .new_calls = (double)osc_result_get_int(r, i, c->new_calls),
        .is_tested = osc_result_has(r, i, c->significant),
        .is_significant = osc_result_get_bool(r, i, c->significant),
    };

    if (has_steps) {
        change.base_ns = osc_result_get_num(r, i, c->mean_base_ns);
        change.new_ns = osc_result_get_num(r, i, c->mean_new_ns);
    } else {
        change.base_ns = (double)osc_result_get_int(r, i, c->base_ns);
        change.new_ns = (double)osc_result_get_int(r, i, c->new_ns);
    }
    if (has_steps && c->mean_base_calls != UINT32_MAX) {
        change.base_calls = osc_result_get_num(r, i, c->mean_base_calls);
        change.new_calls = osc_result_get_num(r, i, c->mean_new_calls);
    }
    return change;
}

double osc_change_p(const struct osc_sample *base, const struct osc_sample *new_,
                    bool is_tested)
{
    return is_tested ? osc_welch_p(base, new_) : 1;
}

int64_t osc_change_order(double delta, bool has_steps)
{
    const double size = fabs(delta) * (has_steps ? 1000 : 1);

    return size < 9e18 ? (int64_t)size : INT64_MAX - 1;
}

void osc_change_set(struct osc_result *out, const struct osc_change_columns *at,
                    const struct osc_changed *c)
{
    const double mean_delta = c->new_.mean - c->base.mean;
    const double base_ns = c->has_steps ? c->base.mean : (double)c->base_ns;
    const double delta_ns = c->has_steps ? mean_delta : (double)c->new_ns - (double)c->base_ns;

    if (base_ns != 0)
        osc_result_num(out, at->delta_ratio, delta_ns / base_ns);
    if (c->is_tested) {
        osc_result_bool(out, at->significant, c->is_significant);
        osc_result_num(out, at->p_value, c->p);
    }
    osc_result_int(out, at->order, osc_change_order(delta_ns, c->has_steps));
}

/* What is said of the steps of both runs. */
#define FACT_LIST(X)                                                                         \
    X(n_base, INTEGER, 0)                                                                    \
    X(n_new, INTEGER, 0)                                                                     \
    X(base_out, INTEGER, 0) /* left out, */                                                  \
    X(new_out, INTEGER, 0)                                                                   \
    X(is_whole, FLAG, 0)  /* there are none to compare; */                                   \
    X(needed, INTEGER, 0) /* or fewer than that */                                           \
    X(steps, PHRASE,                                                                         \
      "base has {n_base} {n_base|step|steps}{base_out? (and {base_out} slow first "          \
      "{base_out|step|steps}, left out)}, new has {n_new} {n_new|step|steps}{new_out? (and " \
      "{new_out} slow first {new_out|step|steps}, left out)}{is_whole?: times are over all " \
      "of each run|{needed?: too few to say what is significant, which needs {needed} each}}")
OSC_PROSE(osc_change_prose, FACT_LIST);

void osc_change_note_steps(struct osc_result *out, const struct osc_run_steps *s)
{
    struct osc_prose_facts facts = {.prose = &osc_change_prose};

    for (unsigned k = OSC_BASE; k < OSC_BOTH; k++) {
        const struct osc_run_steps *const run = &s[k];

        osc_prose_number(&facts, k == OSC_BASE ? FACT_n_base : FACT_n_new, run->n);
        if (run->n_left_out > 0)
            osc_prose_number(&facts, k == OSC_BASE ? FACT_base_out : FACT_new_out,
                             run->n_left_out);
    }
    osc_prose_flag(&facts, FACT_is_whole, !osc_steps_are_known(s));
    if (!osc_steps_suffice(s))
        osc_prose_number(&facts, FACT_needed, OSC_WELCH_STEPS_MIN);
    osc_prose_say(&out->notes, &facts, FACT_steps);
    osc_result_end_note(out);
}
