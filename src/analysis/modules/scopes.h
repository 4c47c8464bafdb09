/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes.h - which ranges are scopes, and their places in the hierarchy.
 *
 * See modules.h for the definition of scopes and places.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/modules/modules.h"

struct osc_scope_finder {
    const struct osc_trace *t;
    const struct osc_classes *c;
    struct osc_modules *m;
    enum osc_scopes scopes;
    uint32_t *shown; /* pages, owned; by osc_sid: id in texts; NONE: not a scope */
    size_t shown_bytes;
    bool has_scopes;         /* some name is a scope, or by_stack */
    bool by_stack;           /* lines are those of call stacks: no frame has one */
    struct osc_intern texts; /* names as shown; in m->arena */
    struct osc_idmap names;  /* place above and name -> number */
    struct osc_idmap ids;    /* module id -> number */
    struct osc_idmap places; /* pair of those numbers -> place + 1 */
    struct osc_idmap lines;  /* call stack -> text of its innermost line, or NONE */
    uint32_t n_names, n_ids;
    uint32_t *dotted;             /* owned; by text: place + 1; for Lightning */
    struct osc_idmap python_ids;  /* -> number */
    struct osc_idmap python_rows; /* process and that number -> row */
    uint32_t n_python_ids;
    bool has_callers;       /* some module has the id of its caller: only such ids determine
                             * holders */
    uint32_t *nearest;      /* pages, owned; by row of a Python function: its module, or NONE */
    uint32_t *place_of_row; /* pages, owned; by row of a module: place + 1 */
    size_t rows_bytes;
};

/* Prepare F for T, whose facts are FACTS. Call osc_scopes_fini() even after a failure. */
OSC_MUST_USE osc_status osc_scopes_init(struct osc_scope_finder *f, const struct osc_trace *t,
                                        const struct osc_facts *facts, enum osc_scopes scopes,
                                        struct osc_modules *m);
void osc_scopes_fini(struct osc_scope_finder *f);

/* Whether row I of C, a finished range, is a scope. */
bool osc_scopes_has(const struct osc_scope_finder *f, const struct osc_chunk *c, uint32_t i);

/*
 * Find or add the place (+ 1) of the scope in ROW. The scope around it on its thread is in row
 * OUTER at place OUTER_PLACE (both 0: none). *HOLDER is the row of the scope that contains it,
 * or none.
 */
OSC_MUST_USE osc_status osc_scopes_place(struct osc_scope_finder *f, osc_row row, osc_row outer,
                                         uint32_t outer_place, osc_row *holder,
                                         uint32_t *place);

/*
 * Find or add the place (+ 1) of the innermost line in the call stack of the operator in row I
 * of C; 0 if it has none, or the line of OUTER_PLACE.
 */
OSC_MUST_USE osc_status osc_scopes_line(struct osc_scope_finder *f, const struct osc_chunk *c,
                                        uint32_t i, uint32_t outer_place, uint32_t *place);
