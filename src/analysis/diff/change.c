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

static void note_side(struct osc_strbuf *out, const char *side, const struct osc_run_steps *s)
{
    osc_strbuf_addf(out, "%s %u %s", side, s->n, s->n == 1 ? "step" : "steps");
    if (s->n_left_out > 0)
        osc_strbuf_addf(out, " (and %u slow first %s, left out)", s->n_left_out,
                        s->n_left_out == 1 ? "step" : "steps");
}

void osc_change_note_steps(struct osc_result *out, const struct osc_run_steps *s)
{
    struct osc_strbuf text = {0};

    note_side(&text, "base has", &s[OSC_BASE]);
    note_side(&text, ", new has", &s[OSC_NEW]);
    if (!osc_steps_are_known(s))
        osc_strbuf_adds(&text, ": times are over all of each run");
    else if (!osc_steps_suffice(s))
        osc_strbuf_addf(&text, ": too few to say what is significant, which needs %u each",
                        OSC_WELCH_STEPS_MIN);
    if (text.status == OSC_OK)
        osc_result_note(out, "%s", text.s);
    else
        out->status = text.status;
    osc_strbuf_fini(&text);
}
