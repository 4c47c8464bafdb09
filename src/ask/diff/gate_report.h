/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_report.h - what a gate found, for people and for systems that run it.
 *
 *   text      a line for each row that broke it
 *   .xml      JUnit's: one test case, which fails if the gate broke
 *   .md       Markdown: the verdict, the rows that broke it, sentences, and tables
 *
 * Names come from traces: whatever they hold, a report is well-formed. What XML cannot hold,
 * such as control characters, is replaced by U+FFFD.
 *
 * Threading: not locked.
 */
#pragma once

#include "ask/diff/gate.h"
#include "base/strbuf.h"

struct osc_gate_findings {
    const struct osc_gate *gate;
    const char *text;                       /* of the gate, as given */
    const struct osc_result *const *tables; /* by enum osc_gate_table */
    const char *base, *new_run;             /* the runs, as given */
    const char *sentences;                  /* lines, what changed most first */
    const char *tables_md;                  /* tables in Markdown */
};

/* Append the verdict, and a line for each row that broke the gate. */
OSC_MUST_USE osc_status osc_gate_add_text(struct osc_strbuf *out,
                                          const struct osc_gate_findings *f);
OSC_MUST_USE osc_status osc_gate_add_junit(struct osc_strbuf *out,
                                           const struct osc_gate_findings *f);
OSC_MUST_USE osc_status osc_gate_add_markdown(struct osc_strbuf *out,
                                              const struct osc_gate_findings *f);

/* Append each of LINES as an item of a list in Markdown. */
void osc_report_add_list(struct osc_strbuf *out, const char *lines);
