/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - a condition on what grew from one run to another.
 *
 *   GATE       step.CATEGORY > LIMIT        a row of diff_steps: total, kernel, ...
 *              operator('N').self > LIMIT   a row of diff_operators
 *              kernel('N') > LIMIT          a row of diff_kernels
 *              significant                  anything in these tables that grew significantly
 *              not GATE, GATE and GATE, GATE or GATE, (GATE); not binds most, or least
 *   LIMIT      a time (ns, us, ms, s) or a share of the base (5%)
 *
 *   - Only growth counts: per step if both runs have steps, else over all. What is new exceeds
 *     every share. A gate that is true by `not` alone is not broken.
 *   - `significant` and `not significant` in a chain of `and` are about the comparisons in that
 *     chain: the row that a comparison names must have changed significantly, or not. Without
 *     comparisons beside it, `significant` is about all rows.
 *   - Where significance is not known, because a run has too few steps, it is not significant.
 *
 * The words are those of gates; what is asked of rows is an expression of --where
 * (sql/where.h). Parsing uses no recursion; a gate has at most OSC_GATE_PARTS_MAX parts.
 * Messages do not say where the gate came from: callers do.
 *
 * Threading: not locked; a gate is constant once parsed, but for the results in it.
 */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "table/table.h"

#define OSC_GATE_PARTS_MAX 4096u

enum osc_gate_table { OSC_GATE_STEPS, OSC_GATE_OPERATORS, OSC_GATE_KERNELS, OSC_GATE_TABLES };

/* A comparison, or `significant`. */
struct osc_gate_part {
    enum osc_gate_table table; /* OSC_GATE_TABLES: `significant`, of all */
    struct osc_str name;       /* of the row; in the arena */
    struct osc_str text;       /* the comparison as it was written; in the arena */
    char number[24];           /* the limit */
    const char *unit;          /* a function of --where; NULL: it is a share in percent */
    bool wants_significant, wants_not_significant;
    bool is_word;    /* while parsing: `significant` that may be about a chain */
    bool is_not;     /* it stands behind `not` there */
    bool is_beside;  /* `significant` that is about comparisons */
    bool is_negated; /* by all `not` around it */
    bool holds;      /* after osc_gate_evaluate() */
    bool has_row;    /* else neither run has such a part of a step */
    uint64_t row;
};

/* Zeroed, it is empty. */
struct osc_gate {
    struct osc_gate_part *parts; /* owned */
    size_t n, cap;
    struct osc_strbuf form; /* '?' for each part, '(' ')' '!' '|'; `and` is nothing */
    struct osc_arena arena;
    bool *grown[OSC_GATE_TABLES]; /* owned: the rows that grew significantly, if asked for */
    bool asks_significance;       /* it contains `significant` */
    bool is_broken;
};

/* Parse TEXT. OSC_EINVAL: it is no gate; the message says where. */
OSC_MUST_USE osc_status osc_gate_parse(struct osc_gate *g, const char *text,
                                       struct osc_err *err);
void osc_gate_fini(struct osc_gate *g);

/*
 * Set g->is_broken for TABLES, finished rows by enum osc_gate_table. OSC_ENOTFOUND: neither run
 * has an operator or kernel that G names. OSC_EFORMAT: G compares steps, and a run has none.
 */
OSC_MUST_USE osc_status osc_gate_evaluate(struct osc_gate *g,
                                          const struct osc_result *const *tables,
                                          struct osc_err *err);

/* Pass the rows that broke G to TELL, at most MOST: those of comparisons that hold, and where
 * `significant` stands alone all that grew. */
void osc_gate_each(const struct osc_gate *g, const struct osc_result *const *tables,
                   uint64_t most,
                   void (*tell)(void *ctx, enum osc_gate_table table, uint64_t row,
                                struct osc_str text),
                   void *ctx);

/* Whether TABLES tell what is significant. */
bool osc_gate_knows_significance(const struct osc_result *const *tables);
