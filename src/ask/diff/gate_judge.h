/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_judge.h - the verdict of a gate on two runs, and the report of it.
 *
 * Threading: not locked.
 */
#pragma once

#include "ask/compare.h"
#include "ask/diff/gate_report.h"

/*
 * Evaluate G over TABLES, the finished rows of C by enum osc_gate_table. OSC_EFORMAT: the runs
 * cannot be compared: only one has steps or, unless the caller ALLOWS_DIFFERENT ones, they are
 * of other devices or machines. OSC_ENOTFOUND: neither run has what G names.
 */
OSC_MUST_USE osc_status osc_gate_judge(struct osc_gate *g, const struct osc_compared *c,
                                       const struct osc_result *const *tables,
                                       bool allows_different, struct osc_err *err);

enum osc_gate_form { OSC_GATE_JUNIT, OSC_GATE_MARKDOWN };

/* Append the report of F in FORM to OUT. Tables in it are those of C, asked for like R. */
OSC_MUST_USE osc_status osc_gate_add_report(struct osc_strbuf *out, enum osc_gate_form form,
                                            const struct osc_request *r,
                                            const struct osc_compared *c,
                                            struct osc_gate_findings *f, struct osc_err *err);
