/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - derived data beside the columns, for the tables.
 *
 * Threading: read-only once osc_derive() has returned.
 */
#pragma once

#include "derive/allocations.h"
#include "derive/arrows.h"
#include "derive/breakdown.h"
#include "derive/callers.h"
#include "derive/classify.h"
#include "derive/derive.h"
#include "derive/links.h"
#include "derive/loads.h"
#include "derive/memory_operators.h"
#include "derive/optree.h"
#include "derive/order.h"
#include "derive/select_index.h"
#include "derive/step_bounds.h"
#include "derive/steps.h"
#include "derive/unions.h"

/*
 * Each member is valid once one of the facts named beside it was derived. STEPS, MEMORY,
 * ALLOCATIONS, CALLERS and LOADS include LINKS.
 */
struct osc_facts {
    struct osc_classes classes;         /* any fact */
    struct osc_order order;             /* ORDER, FOREST, LINKS, UNIONS */
    struct osc_optree tree;             /* LINKS */
    struct osc_links links;             /* LINKS */
    struct osc_step_map step_map;       /* STEPS */
    struct osc_step_bounds bounds;      /* STEPS */
    struct osc_unions unions;           /* UNIONS */
    struct osc_memory memory;           /* MEMORY, ALLOCATIONS, CALLERS */
    struct osc_breakdown breakdown;     /* STEPS with UNIONS */
    struct osc_allocations allocations; /* ALLOCATIONS, CALLERS */
    struct osc_callers callers;         /* CALLERS */
    struct osc_loads loads;             /* LOADS */
    struct osc_select_index selection;  /* SELECTION, VIEWS */
    struct osc_arrows arrows;           /* VIEWS */
    void *columns;                      /* owned; parent .. link of all chunks */
    size_t columns_bytes;
    uint32_t parts; /* bits of what has been made, for make_facts.c */
};

/* The facts of T, after osc_derive(). */
static inline const struct osc_facts *osc_trace_facts(const struct osc_trace *t)
{
    return t->derived;
}
