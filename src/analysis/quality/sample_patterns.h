/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_patterns.h - which names that were to be sampled (osc_sample(), --sample) sampled
 * nothing, and why.
 *
 * Threading: not locked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/quality/quality_rows.h"
#include "base/strbuf.h"
#include "model/finding.h"
#include "model/trace.h"
#include "prose/phrase.h"

#define OSC_SAMPLE_PATTERNS 64u

/* A name, or the begin of names and '*', and what was recorded of these names. */
struct osc_sample_pattern {
    struct osc_str text; /* borrowed */
    bool has_sampled;    /* ranges that sampling applies to */
    const char *other;   /* what else is called so, the first; or NULL */
};

/* Zeroed, there are none. */
struct osc_sample_patterns {
    struct osc_sample_pattern v[OSC_SAMPLE_PATTERNS];
    uint32_t n;
};

/* Add PATTERN, borrowed; more than OSC_SAMPLE_PATTERNS are left out. */
void osc_sample_patterns_add(struct osc_sample_patterns *p, struct osc_str pattern);

/* Note what T has of the names of P. */
void osc_sample_patterns_look(struct osc_sample_patterns *p, const struct osc_trace *t);

/* Append to TEXT why PATTERN sampled nothing: no scope is called so, or only what is of a kind
 * that is not sampled. IS_FILE: only in the file of one process. False: it sampled something,
 * or would have. */
bool osc_sample_pattern_why(const struct osc_sample_pattern *pattern, bool is_file,
                            struct osc_strbuf *text);
extern const struct osc_prose osc_sample_patterns_prose;

/* Call ADD with DATA and a sentence for each name that T says was to be sampled, and that
 * sampled nothing of the whole recording. */
void osc_sample_patterns_each(const struct osc_trace *t, osc_quality_found *add, void *data);
