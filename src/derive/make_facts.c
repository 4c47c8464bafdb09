/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/derive.h"

#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "derive/facts.h"
#include "derive/nest.h"

/* The parts of facts; the bit of a part is set once it is made. */
enum part {
    PART_CLASSES = 1,
    PART_COLUMNS = 2,
    PART_ORDER = 4,
    PART_FOREST = 8,
    PART_TREE = 16,
    PART_LINKS = 32,
    PART_STEPS = 64,
    PART_UNIONS = 128,
    PART_MEMORY = 256,
    PART_BREAKDOWN = 512,
    PART_ALLOCATIONS = 1024,
    PART_CALLERS = 2048,
    PART_LOADS = 4096,
    PART_SELECTION = 8192,
    PART_ARROWS = 16384,
    PART_LAST = PART_ARROWS,
};

/* parent, self_ns, depth, step, link */
#define COLUMN_BYTES (4u + 8u + 2u + 4u + 4u)

/* The findings that only derive/ counts. */
static const enum osc_finding_code own_findings[] = {
    OSC_FINDING_partial_overlap, OSC_FINDING_negative_self,     OSC_FINDING_duplicate_id,
    OSC_FINDING_no_launch,       OSC_FINDING_no_operator,       OSC_FINDING_unpaired_release,
    OSC_FINDING_lost_release,    OSC_FINDING_bad_memory_record, OSC_FINDING_memory_gap,
    OSC_FINDING_out_of_memory,   OSC_FINDING_no_work,           OSC_FINDING_arrow_no_start,
    OSC_FINDING_arrow_no_end,    OSC_FINDING_crossed_call,      OSC_FINDING_queue_overlap,
};

/* Those of them that report missing data. */
static const enum osc_finding_code absences[] = {
    OSC_FINDING_no_launch,      OSC_FINDING_no_operator,  OSC_FINDING_unpaired_release,
    OSC_FINDING_lost_release,   OSC_FINDING_memory_gap,   OSC_FINDING_no_work,
    OSC_FINDING_arrow_no_start, OSC_FINDING_arrow_no_end,
};

static void facts_free(void *derived)
{
    struct osc_facts *const f = derived;

    if (!f)
        return;
    osc_classes_fini(&f->classes);
    osc_order_fini(&f->order);
    osc_optree_fini(&f->tree);
    osc_links_fini(&f->links);
    osc_step_map_fini(&f->step_map);
    osc_step_bounds_fini(&f->bounds);
    osc_unions_fini(&f->unions);
    osc_memory_fini(&f->memory);
    osc_breakdown_fini(&f->breakdown);
    osc_allocations_fini(&f->allocations);
    osc_callers_fini(&f->callers);
    osc_loads_fini(&f->loads);
    osc_select_index_fini(&f->selection);
    osc_arrows_fini(&f->arrows);
    osc_pages_free(f->columns, f->columns_bytes);
    osc_free(f);
}

void osc_derive_forget_findings(struct osc_findings *found)
{
    for (size_t i = 0; i < sizeof own_findings / sizeof *own_findings; i++)
        found->by_code[own_findings[i]] = (struct osc_finding){0};
}

static void drop_steps(struct osc_trace *t)
{
    osc_free(t->steps);
    t->steps = NULL;
    t->n_steps = 0;
}

void osc_derive_forget(struct osc_trace *t)
{
    if (t->derived_free)
        t->derived_free(t->derived);
    t->derived = NULL;
    t->derived_free = NULL;
    t->facts = 0;
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        struct osc_chunk *const c = t->events.chunks[k];

        c->parent = NULL;
        c->self_ns = NULL;
        c->depth = NULL;
        c->step = NULL;
        c->link = NULL;
    }
    drop_steps(t);
    osc_derive_forget_findings(&t->findings);
}

/* Allocate the columns of all chunks as one block, so that it is in huge pages; the widest
 * column comes first. */
static osc_status make_columns(struct osc_trace *t, struct osc_facts *f)
{
    const size_t n_rows = t->events.n_rows;
    char *at;

    f->columns_bytes = (n_rows + 1) * COLUMN_BYTES;
    f->columns = osc_pages_alloc(f->columns_bytes);
    if (!f->columns)
        return OSC_ENOMEM;
    at = f->columns;
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        struct osc_chunk *const c = t->events.chunks[k];

        c->self_ns = (int64_t *)(void *)at + c->first_row;
    }
    at += n_rows * sizeof(int64_t);
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        struct osc_chunk *const c = t->events.chunks[k];
        uint32_t *const words = (uint32_t *)(void *)at;

        c->parent = words + c->first_row;
        c->step = words + n_rows + c->first_row;
        c->link = words + 2 * n_rows + c->first_row;
        c->depth = (uint16_t *)(void *)(words + 3 * n_rows) + c->first_row;
    }
    return OSC_OK;
}

/* The parts that FACTS need; they are made in the order of their bits. */
static uint32_t parts_of(uint32_t facts)
{
    const uint32_t links = PART_COLUMNS | PART_ORDER | PART_TREE | PART_LINKS;
    uint32_t parts = PART_CLASSES;

    if (facts & OSC_FACT_ORDER)
        parts |= PART_ORDER;
    if (facts & (OSC_FACT_FOREST | OSC_FACT_VIEWS))
        parts |= PART_COLUMNS | PART_ORDER | PART_FOREST;
    if (facts & OSC_FACT_LINKS)
        parts |= links;
    if (facts & (OSC_FACT_STEPS | OSC_FACT_SELECTION | OSC_FACT_VIEWS))
        parts |= links | PART_STEPS;
    if (facts & (OSC_FACT_SELECTION | OSC_FACT_VIEWS))
        parts |= PART_SELECTION;
    if (facts & (OSC_FACT_ARROWS | OSC_FACT_VIEWS))
        parts |= PART_ARROWS;
    if (facts & OSC_FACT_UNIONS)
        parts |= PART_ORDER | PART_UNIONS;
    if (facts & OSC_FACT_MEMORY)
        parts |= links | PART_MEMORY;
    if (facts & (OSC_FACT_ALLOCATIONS | OSC_FACT_CALLERS))
        parts |= links | PART_MEMORY | PART_ALLOCATIONS;
    if (facts & OSC_FACT_CALLERS)
        parts |= PART_CALLERS;
    if (facts & OSC_FACT_LOADS)
        parts |= links | PART_LOADS;
    if ((facts & OSC_FACT_STEPS) && (facts & OSC_FACT_UNIONS))
        parts |= PART_BREAKDOWN;
    return parts;
}

/* Make the forest, the operator tree, or both in one walk, as PARTS says. */
static osc_status make_nest(struct osc_trace *t, struct osc_facts *f, uint32_t parts,
                            unsigned n_threads)
{
    const bool has_forest = (parts & PART_FOREST) != 0, has_tree = (parts & PART_TREE) != 0;
    const osc_status st = has_tree ? osc_optree_init(&f->tree, &f->order) : OSC_OK;

    if (st != OSC_OK)
        return st;
    f->parts |= parts & (PART_FOREST | PART_TREE);
    return osc_nest_make(t, &f->classes, &f->order, has_forest, has_tree ? &f->tree : NULL,
                         n_threads);
}

/* Drop the links and the operator tree: making links starts from the values that the tree has
 * stored in their column. */
static void drop_links(struct osc_trace *t, struct osc_facts *f)
{
    osc_links_fini(&f->links);
    osc_optree_fini(&f->tree);
    f->parts &= ~(uint32_t)PART_TREE;
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        struct osc_chunk *const c = t->events.chunks[k];

        memset(c->link, 0, c->n_rows * sizeof *c->link);
    }
}

static osc_status make_links(struct osc_trace *t, struct osc_facts *f)
{
    const osc_status st = osc_links_make(t, &f->classes, &f->order, &f->tree, &f->links);

    return st == OSC_OK ? osc_links_forward(t, &f->classes, &f->order) : st;
}

static osc_status make_part(struct osc_trace *t, struct osc_facts *f, enum part part,
                            uint32_t wanted, unsigned n_threads)
{
    osc_status st = OSC_OK;

    switch (part) {
    case PART_CLASSES:
        return osc_classes_make(t, &f->classes);
    case PART_COLUMNS:
        return make_columns(t, f);
    case PART_ORDER:
        return osc_order_make(t, &f->classes, OSC_ORDER_RANGES, n_threads, &f->order);
    case PART_FOREST:
    case PART_TREE:
        return make_nest(t, f, wanted & ~f->parts, n_threads);
    case PART_LINKS:
        return make_links(t, f);
    case PART_STEPS:
        st = osc_steps_make(t, &f->classes, &f->step_map);
        if (st == OSC_OK)
            st = osc_step_bounds_make(t, &f->classes, &f->links, &f->step_map, &f->bounds);
        if (st == OSC_OK)
            osc_steps_mark(t, &f->classes, &f->step_map, n_threads);
        return st;
    case PART_UNIONS:
        return osc_unions_make(t, &f->classes, &f->order, false, n_threads, &f->unions);
    case PART_MEMORY:
        return osc_memory_make(t, &f->classes, &f->order, &f->tree, n_threads, &f->memory);
    case PART_BREAKDOWN:
        return osc_breakdown_make(t, &(struct osc_step_rules){0}, n_threads, &f->breakdown);
    case PART_ALLOCATIONS:
        return osc_allocations_make(t, &f->memory, &f->allocations);
    case PART_CALLERS:
        return osc_callers_make(t, &f->allocations, &f->order, &f->tree, &f->callers);
    case PART_LOADS:
        return osc_loads_make(t, &f->classes, &f->order, &f->links, &f->loads);
    case PART_SELECTION:
        return osc_select_index_make(t, &f->classes, f->step_map.are_of_device, n_threads,
                                     &f->selection);
    case PART_ARROWS:
        return osc_arrows_make(t, &f->arrows);
    }
    return OSC_OK;
}

/* Two independent parts, made at the same time. */
struct pair {
    struct osc_trace *t;
    struct osc_facts *f;
    enum part parts[2];
    osc_status statuses[2];
};

static void make_one_of_pair(void *ctx, uint32_t i)
{
    struct pair *const p = ctx;

    p->statuses[i] = make_part(p->t, p->f, p->parts[i], p->parts[i], 1);
}

/*
 * Links are made mostly by one thread, unions by all. On two processors both together take the
 * time of one.
 */
static osc_status make_links_and_unions(struct osc_trace *t, struct osc_facts *f,
                                        unsigned n_threads)
{
    struct pair p = {.t = t, .f = f, .parts = {PART_LINKS, PART_UNIONS}};

    osc_parallel(n_threads, 2, make_one_of_pair, &p);
    for (unsigned i = 0; i < 2; i++) {
        if (p.statuses[i] != OSC_OK)
            return p.statuses[i];
        f->parts |= p.parts[i];
    }
    return OSC_OK;
}

/* Discard PART, whose making failed halfway; it did not exist before. */
static void drop_part(struct osc_trace *t, struct osc_facts *f, enum part part)
{
    f->parts &= ~(uint32_t)part;
    switch (part) {
    case PART_CLASSES:
        osc_classes_fini(&f->classes);
        break;
    case PART_COLUMNS:
    case PART_FOREST: /* the columns will be overwritten */
        break;
    case PART_ORDER:
        osc_order_fini(&f->order);
        break;
    case PART_TREE:
        osc_optree_fini(&f->tree);
        break;
    case PART_LINKS:
        drop_links(t, f);
        break;
    case PART_STEPS:
        osc_step_map_fini(&f->step_map);
        osc_step_bounds_fini(&f->bounds);
        drop_steps(t);
        break;
    case PART_UNIONS:
        osc_unions_fini(&f->unions);
        break;
    case PART_MEMORY:
        osc_memory_fini(&f->memory);
        break;
    case PART_BREAKDOWN:
        osc_breakdown_fini(&f->breakdown);
        break;
    case PART_ALLOCATIONS:
        osc_allocations_fini(&f->allocations);
        break;
    case PART_CALLERS:
        osc_callers_fini(&f->callers);
        break;
    case PART_LOADS:
        osc_loads_fini(&f->loads);
        break;
    case PART_SELECTION:
        osc_select_index_fini(&f->selection);
        break;
    case PART_ARROWS:
        osc_arrows_fini(&f->arrows);
        break;
    }
}

/* Make PART, and the parts of WANTED that are made with it. On failure none of them exists. */
static osc_status add_part(struct osc_trace *t, struct osc_facts *f, enum part part,
                           uint32_t wanted, unsigned n_threads)
{
    const struct osc_findings found = t->findings;
    const uint32_t before = f->parts;
    const bool is_pair = part == PART_LINKS && (wanted & ~f->parts & PART_UNIONS);
    const osc_status st = is_pair ? make_links_and_unions(t, f, n_threads)
                                  : make_part(t, f, part, wanted, n_threads);

    if (st == OSC_OK) {
        f->parts |= part;
        return st;
    }
    const uint32_t made = part | (is_pair ? (uint32_t)PART_UNIONS : 0) | (f->parts & ~before);
    for (uint32_t one = 1; one <= PART_LAST; one <<= 1) {
        if (made & one)
            drop_part(t, f, (enum part)one);
    }
    t->findings = found;
    return st;
}

/* Below this number of rows, starting a thread costs more than it saves. */
#define ROWS_FOR_THREADS 8192u

/* osc_derive() with the lock of T held, for the account ASKER, which may be canceled. */
static osc_status derive(struct osc_trace *t, uint32_t facts, unsigned n_threads,
                         const struct osc_mem_account *asker, struct osc_err *err)
{
    const uint32_t wanted = parts_of(facts | t->facts);
    struct osc_facts *f = t->derived;
    osc_status st = osc_trace_touch(t, n_threads, err);

    if (st != OSC_OK)
        return st;
    if (t->events.n_rows + t->others.n_rows < ROWS_FOR_THREADS)
        n_threads = 1;
    if (!f) {
        f = osc_calloc(1, sizeof *f);
        if (!f)
            return osc_fail(err, OSC_ENOMEM, "out of memory for derived facts");
        t->derived = f;
        t->derived_free = facts_free;
    }
    for (uint32_t part = 1; part <= PART_LAST && st == OSC_OK; part <<= 1) {
        if (asker && osc_mem_account_is_cancelled(asker))
            st = OSC_ECANCELED;
        else if ((wanted & part) && !(f->parts & part))
            st = add_part(t, f, (enum part)part, wanted, n_threads);
    }
    /* Data that a selection has left out is not missing in the trace. */
    for (size_t i = 0; t->is_selected && i < sizeof absences / sizeof *absences; i++)
        t->findings.by_code[absences[i]] = (struct osc_finding){0};
    if (st != OSC_OK)
        return osc_fail(err, st, "%s while deriving facts", osc_status_text(st));
    t->facts |= facts;
    return OSC_OK;
}

osc_status osc_derive(struct osc_trace *t, uint32_t facts, unsigned n_threads,
                      struct osc_err *err)
{
    osc_trace_read(t);
    const bool is_there = t->derived && !t->check && (facts & ~t->facts) == 0;
    osc_trace_read_end(t);
    if (is_there)
        return OSC_OK;
    struct osc_mem_account *const asker = osc_mem_account_here();
    osc_trace_write(t);
    (void)osc_mem_enter(t->lock ? t->account : asker);
    const osc_status st = derive(t->original ? t->original : t, facts, n_threads, asker, err);
    if (t->original)
        osc_trace_follow(t);
    (void)osc_mem_enter(asker);
    osc_trace_write_end(t);
    return st;
}
