/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_samples.h - which names that --sample asks for were never sampled, and why.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>

#include "model/trace.h"
#include "recording/switches.h"

/* What was recorded of the names of each rule. Without rules, nothing is reported. */
struct osc_samples_seen {
    struct osc_switch_rules rules;
    bool has_sampled[OSC_SWITCH_RULES_MAX];  /* ranges that sampling applies to */
    const char *other[OSC_SWITCH_RULES_MAX]; /* what else is called so, the first; or NULL */
};

/* The rules of LIST, as of --sample; none if it is NULL or wrong. */
struct osc_samples_seen osc_samples_wanted(const char *list);

void osc_samples_seen_add(struct osc_samples_seen *seen, const struct osc_trace *t);

/* Report in one line each which rules sampled nothing of what was SEEN: no scope is called so,
 * or only such of kinds that are not sampled. */
void osc_report_samples(const struct osc_samples_seen *seen);
