/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/report_samples.h"

#include "cli/cli.h"

struct osc_samples_seen osc_samples_wanted(const char *list)
{
    static const struct osc_switch_rules none;
    struct osc_samples_seen seen = {.rules = none};

    if (list && osc_switch_rules_add(&none, &osc_switch_samples, list, &seen.rules) != OSC_OK)
        seen.rules = none;
    return seen;
}

/* Whether osc_sample() applies to rows of F that are of KIND. */
static bool is_sampled_kind(const struct osc_form *f, enum osc_kind kind)
{
    return kind == OSC_KIND_SCOPE &&
           (f->shape == OSC_SHAPE_RANGE || f->shape == OSC_SHAPE_BEGIN);
}

/* A name counts for every rule that is for it: it is no mistake in one that another hides. */
static void add_row(struct osc_samples_seen *seen, const struct osc_trace *t,
                    const struct osc_chunk *c, uint32_t i)
{
    const struct osc_str name = osc_row_name(t, c, i);
    const enum osc_kind kind = (enum osc_kind)c->kind[i];
    const bool is_sampled = is_sampled_kind(osc_row_form(t, c, i), kind);

    for (uint32_t k = 0; k < seen->rules.n; k++) {
        if (!osc_switch_rule_is_for(&seen->rules.v[k], name.s, name.len))
            continue;
        if (is_sampled)
            seen->has_sampled[k] = true;
        else if (!seen->other[k])
            seen->other[k] = kind == OSC_KIND_SCOPE ? "asynchronous" : osc_kind_text(kind);
    }
}

void osc_samples_seen_add(struct osc_samples_seen *seen, const struct osc_trace *t)
{
    for (uint32_t k = 1; k < t->events.n_chunks && seen->rules.n > 0; k++)
        for (uint32_t i = 0; i < t->events.chunks[k]->n_rows; i++)
            add_row(seen, t, t->events.chunks[k], i);
}

void osc_report_samples(const struct osc_samples_seen *seen)
{
    for (uint32_t i = 0; i < seen->rules.n; i++) {
        const struct osc_switch_rule *const rule = &seen->rules.v[i];

        if (seen->has_sampled[i] || rule->value == 1)
            continue;
        if (seen->other[i])
            osc_cli_error("--sample: %s (%s) is of a kind that is not sampled: all its calls "
                          "were recorded",
                          rule->pattern, seen->other[i]);
        else
            osc_cli_error("--sample: no scope is called %s", rule->pattern);
    }
}
