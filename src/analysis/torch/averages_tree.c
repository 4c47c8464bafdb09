/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/averages_tree.h"

#include "analysis/census.h"
#include "analysis/range_name.h"
#include "analysis/torch/averages_memory.h"
#include "analysis/torch/averages_merge.h"
#include "base/mem.h"
#include "base/sort.h"
#include "derive/facts.h"
#include "model/known_names.h"
#include "model/producer.h"

/* Properties of a form, in addition to the flags of its nodes. */
#define FORM_HOST   0x2000u /* its rows are nodes of a thread */
#define FORM_DEVICE 0x4000u /* its rows are nodes of a device */
#define FORM_SPAN   0x8000u /* torch's own span over the whole trace */

#define FILTERED UINT32_MAX /* in name_of_sid */

struct builder {
    struct osc_avg_tree *tree;
    const struct osc_trace *t;
    const struct osc_order *order; /* of derive/ */
    uint16_t *form_flags;          /* owned; per form */
    uint8_t *track_family;         /* owned; per track */
    uint32_t *top;                 /* owned; per track: innermost open node + 1 */
    uint32_t *twins;               /* owned; nodes whose parent has the same name */
    size_t n_twins, cap_twins;
    uint32_t step_name; /* name + 1 of all steps */
    uint32_t memory_name, failure_name;
    struct osc_avg_records records;
    uint32_t *instants; /* owned; rows of records, by time */
    size_t n_instants, cap_instants;
    size_t first_record; /* see osc_avg_records_between() */
    int64_t max_end_ns;  /* latest end of the ranges so far */
    bool has_records;    /* some forms may be records */
    bool moves_calls;    /* see track_of() */
};

/* Whether torch's recorder counts such ranges as ended on another thread. */
static bool is_async_form(const struct osc_form *f)
{
    const int16_t slot = f->known[OSC_ARG_KEY_IS_ASYNC];

    return slot >= 0 && f->slots[slot].type == OSC_ARG_TRUE;
}

/* What rows of form F are to torch, independent of their names. */
static uint16_t classify_form(const struct osc_form *f)
{
    if (f->shape == OSC_SHAPE_INSTANT)
        return OSC_AVG_RECORD;
    if (!osc_shape_is_range((enum osc_form_shape)f->shape))
        return 0;
    if (f->is_device)
        return FORM_DEVICE | OSC_AVG_DEVICE |
               (f->kind == OSC_KIND_ANNOTATION ? OSC_AVG_ANNOTATION : 0);
    switch ((enum osc_kind)f->kind) {
    case OSC_KIND_OPERATOR:
        return FORM_HOST | OSC_AVG_OPERATOR;
    case OSC_KIND_ANNOTATION:
    case OSC_KIND_STEP:
        return FORM_HOST | OSC_AVG_ANNOTATION;
    case OSC_KIND_MODULE:
    case OSC_KIND_PYTHON:
        return FORM_HOST | (f->is_frame ? OSC_AVG_PYTHON : 0);
    case OSC_KIND_RUNTIME:
    case OSC_KIND_DRIVER:
        return FORM_HOST | OSC_AVG_CALL;
    case OSC_KIND_COMMUNICATION:
    case OSC_KIND_OVERHEAD:
    case OSC_KIND_DATALOADER:
    case OSC_KIND_OPTIMIZER:
        return FORM_HOST;
    case OSC_KIND_NONE:
    case OSC_KIND_KERNEL: /* on the host: torch does not write it */
    case OSC_KIND_MEMCPY:
    case OSC_KIND_MEMSET:
    case OSC_KIND_SYNC:
    case OSC_KIND_SCOPE:
    case OSC_KIND_ALLOC:
    case OSC_KIND_FREE:
    case OSC_KIND_OOM:
    case OSC_KIND_INSTANT:
    case OSC_KIND_COUNTER:
    case OSC_KIND_FRAME:
    case OSC_KIND_COUNT:
        break;
    }
    return f->is_profiler ? FORM_SPAN : 0;
}

/* The number of FAMILY; if there is no room, that of the first family. */
static uint8_t add_family(struct osc_avg_tree *tree, struct osc_str family)
{
    for (uint32_t i = 0; i < tree->n_families; i++) {
        if (osc_str_eq(tree->families[i], family))
            return (uint8_t)i;
    }
    if (tree->n_families == sizeof tree->families / sizeof *tree->families)
        return 0;
    tree->families[tree->n_families] = family;
    return (uint8_t)tree->n_families++;
}

/* The family of the device of TRACK, by torch's word; empty: it is of the host. */
static struct osc_str family_of(const struct osc_trace *t, const struct osc_track *track)
{
    struct osc_str device = osc_trace_str(t, track->device);
    const char *const colon = device.len > 0 ? memchr(device.s, ':', device.len) : NULL;

    if (colon)
        device.len = (uint32_t)(colon - device.s);
    if (osc_str_eq(osc_known_device_word(device), OSC_STR("cuda")))
        device = OSC_STR("cuda"); /* torch's word for HIP */
    return device;
}

/* How well TRACK, whose device is of FAMILY, stands for all devices in titles; larger is
 * better. What worked comes first, then torch's own order: CUDA, XPU, the backend of a vendor.
 * OpenCL is none of torch's; a library may use it beside them. */
static unsigned weight_of(const struct osc_track *track, struct osc_str family)
{
    const unsigned order = osc_str_eq(family, OSC_STR("cuda"))     ? 3
                           : osc_str_eq(family, OSC_STR("xpu"))    ? 2
                           : osc_str_eq(family, OSC_STR("opencl")) ? 0
                                                                   : 1;

    return (track->n_events > 0 ? 4 : 0) + order;
}

/* Number the family first that titles name, then the others in the order of their tracks. */
static void number_families(struct builder *b)
{
    const struct osc_trace *const t = b->t;
    struct osc_str first = {0};
    unsigned most = 0;

    for (uint32_t i = 0; i < t->n_tracks; i++) {
        const struct osc_str family = family_of(t, &t->tracks[i]);
        const unsigned weight = family.len > 0 ? weight_of(&t->tracks[i], family) + 1 : 0;

        if (weight > most) {
            most = weight;
            first = family;
        }
    }
    if (most > 0)
        (void)add_family(b->tree, first);
    for (uint32_t i = 0; i < t->n_tracks; i++) {
        const struct osc_str family = family_of(t, &t->tracks[i]);

        if (family.len > 0)
            b->track_family[i] = add_family(b->tree, family);
    }
}

static osc_status prepare(struct builder *b)
{
    const struct osc_trace *t = b->t;
    struct osc_avg_tree *tree = b->tree;
    bool has_device = false;

    b->form_flags = osc_calloc(t->n_forms + 1u, sizeof *b->form_flags);
    b->track_family = osc_calloc(t->n_tracks + 1u, sizeof *b->track_family);
    b->top = osc_calloc(t->n_tracks + 1u, sizeof *b->top);
    tree->name_of_sid_size =
        ((size_t)osc_strings_bound(&t->strings) + 1) * sizeof *tree->name_of_sid;
    tree->name_of_sid = osc_pages_alloc(tree->name_of_sid_size);
    if (!b->form_flags || !b->track_family || !b->top || !tree->name_of_sid)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < t->n_forms; i++) {
        b->form_flags[i] = classify_form(&t->forms[i]);
        if ((b->form_flags[i] & FORM_HOST) && is_async_form(&t->forms[i]))
            b->form_flags[i] |= OSC_AVG_ASYNC;
        b->has_records |= (b->form_flags[i] & OSC_AVG_RECORD) != 0;
        has_device |= (b->form_flags[i] & FORM_DEVICE) != 0;
    }
    number_families(b);
    tree->has_queue = tree->n_families > 0;
    if (has_device) {
        tree->node_of_row_size =
            ((size_t)t->events.n_chunks << OSC_CHUNK_SHIFT) * sizeof *tree->node_of_row;
        tree->node_of_row = osc_pages_alloc(tree->node_of_row_size);
        if (!tree->node_of_row)
            return OSC_ENOMEM;
    }
    if (tree->n_families == 0)
        add_family(tree, OSC_STR("cuda"));
    return OSC_OK;
}

static bool is_filtered(struct osc_str name)
{
    static const char *const names[] = {
        OSC_KNOWN_MEMORY,
        OSC_KNOWN_OOM,
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
        "aten::is_leaf",
        "aten::output_nr",
        "aten::_version",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (osc_str_eq(name, osc_str_c(names[i])))
            return true;
    }
    return false;
}

/* Add a name; *NAME is its index + 1. */
static osc_status add_name(struct osc_avg_tree *tree, struct osc_str text, uint32_t *name)
{
    const osc_status st =
        osc_grow(&tree->names, &tree->cap_names, tree->n_names + 1, sizeof *tree->names);

    if (st != OSC_OK)
        return st;
    tree->names[tree->n_names++] = (struct osc_avg_name){
        .text = text,
        .flops_rule = (uint8_t)osc_flops_rule(text),
        .is_collective = osc_known_is_torch_collective(text),
        .is_wrapper = osc_str_starts(text, OSC_STR("autograd::engine::evaluate_function: ")),
    };
    *name = (uint32_t)tree->n_names;
    return OSC_OK;
}

/* Handle string SID when it is first seen as the name of a range. */
static osc_status meet_name(struct builder *b, uint32_t sid)
{
    const struct osc_str text = osc_trace_str(b->t, (osc_sid){sid});
    uint32_t *const place = &b->tree->name_of_sid[sid];
    osc_status st = OSC_OK;

    if (is_filtered(text)) {
        *place = FILTERED;
    } else if (osc_str_starts(text, OSC_STR(OSC_KNOWN_STEP))) {
        if (b->step_name == 0)
            st = add_name(b->tree, osc_range_steps(b->t), &b->step_name);
        *place = b->step_name;
    } else {
        st = add_name(b->tree, text, place);
    }
    return st;
}

/* Collect the allocator's records and their bytes. */
static osc_status gather_records(struct builder *b, const struct osc_chunk *c)
{
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < c->n_rows && st == OSC_OK; i++) {
        const bool is_record = c->kind[i] == OSC_KIND_ALLOC || c->kind[i] == OSC_KIND_FREE;

        if (!is_record && c->kind[i] != OSC_KIND_OOM)
            continue;
        st = osc_grow(&b->instants, &b->cap_instants, b->n_instants + 1, sizeof *b->instants);
        if (st == OSC_OK)
            b->instants[b->n_instants++] = osc_row_at(c, i).v;
        if (st == OSC_OK && is_record)
            st = osc_avg_records_add(&b->records, b->t, c, i);
    }
    return st;
}

static int compare_instants(const void *pa, const void *pb, void *ctx)
{
    const struct osc_store *events = ctx;
    const osc_row a = {*(const uint32_t *)pa}, b = {*(const uint32_t *)pb};
    const int64_t x = osc_chunk_of(events, a)->ts_ns[osc_row_place(a)];
    const int64_t y = osc_chunk_of(events, b)->ts_ns[osc_row_place(b)];

    if (x != y)
        return x < y ? -1 : 1;
    return (a.v > b.v) - (a.v < b.v);
}

static osc_status gather_memory(struct builder *b)
{
    struct osc_store events = b->t->events;
    osc_status st = OSC_OK;

    /* torch has memory columns only if the file states that memory was profiled. */
    b->tree->has_memory = osc_trace_flag(b->t, "profile_memory", false);
    if (!b->tree->has_memory)
        return OSC_OK;
    for (uint32_t i = 1; i < events.n_chunks && b->has_records && st == OSC_OK; i++)
        st = gather_records(b, events.chunks[i]);
    if (st != OSC_OK)
        return st;
    for (size_t i = 1; i < b->n_instants; i++) {
        if (compare_instants(&b->instants[i - 1], &b->instants[i], &events) < 0)
            continue;
        osc_sort_with(b->instants, b->n_instants, sizeof *b->instants, compare_instants,
                      &events);
        break;
    }
    st = osc_avg_records_seal(&b->records);
    if (st == OSC_OK)
        st = add_name(b->tree, OSC_STR(OSC_KNOWN_MEMORY), &b->memory_name);
    if (st == OSC_OK)
        st = add_name(b->tree, OSC_STR(OSC_KNOWN_OOM), &b->failure_name);
    return st;
}

/* The zero of torch's clock: the start of its span, which has a track of its own. */
static int64_t find_zero(const struct builder *b)
{
    const struct osc_trace *t = b->t;

    for (uint32_t i = 1; i < t->n_tracks; i++) {
        const osc_row row = t->tracks[i].first_event;

        if (t->tracks[i].n_events == 0)
            continue;

        const struct osc_chunk *c = osc_chunk_of(&t->events, row);
        const uint32_t place = osc_row_place(row);
        if ((b->form_flags[c->form[place]] & FORM_SPAN) &&
            osc_str_eq(osc_row_name(t, c, place), OSC_STR("PyTorch Profiler (0)")))
            return c->ts_ns[place];
    }
    return t->min_ts_ns;
}

/* Make node I, which starts at START_NS, a child of the innermost range open on TRACK. */
static inline osc_status nest(struct builder *b, uint32_t i, int64_t start_ns, uint32_t track)
{
    struct osc_avg_node *const nodes = b->tree->nodes, *const n = &nodes[i];
    uint32_t top = b->top[track];

    while (top != 0) {
        const int64_t top_end_ns = nodes[top - 1].end_ns;

        if (start_ns < top_end_ns && n->end_ns <= top_end_ns)
            break;
        top = nodes[top - 1].parent;
    }
    b->top[track] = i + 1;
    n->parent = top;
    if (top == 0)
        return OSC_OK;

    struct osc_avg_node *const parent = &nodes[top - 1];
    parent->flags |= parent->flags & OSC_AVG_CHILD ? OSC_AVG_CHILDREN : OSC_AVG_CHILD;
    parent->child_us += osc_avg_elapsed_us(b->tree, start_ns, n->end_ns);
    if (parent->name != n->name)
        return OSC_OK;
    if (b->n_twins == b->cap_twins &&
        osc_grow(&b->twins, &b->cap_twins, b->n_twins + 1, sizeof *b->twins) != OSC_OK)
        return OSC_ENOMEM;
    b->twins[b->n_twins++] = i;
    return OSC_OK;
}

static void attribute_memory(struct builder *b, uint32_t i, int64_t start_ns)
{
    const struct osc_avg_node *n = &b->tree->nodes[i];
    struct osc_avg_bytes *bytes = &b->tree->bytes[i];

    if (n->flags & OSC_AVG_RECORD) {
        const struct osc_chunk *c = osc_avg_chunk(b->tree, n);
        const uint32_t place = osc_row_place((osc_row){n->row});

        if (c->kind[place] != OSC_KIND_OOM)
            osc_avg_record_bytes(b->t, c, place, &bytes->cpu, &bytes->device);
    } else {
        osc_avg_records_between(&b->records, &b->first_record, start_ns, n->end_ns, &bytes->cpu,
                                &bytes->device);
    }
    if (n->parent != 0) {
        b->tree->bytes[n->parent - 1].child_cpu += bytes->cpu;
        b->tree->bytes[n->parent - 1].child_device += bytes->device;
    }
}

/* Pages take memory only when they are written, so reserving for all costs nothing. */
static osc_status alloc_nodes(struct builder *b)
{
    struct osc_avg_tree *tree = b->tree;
    const size_t room = (size_t)b->order->n_rows + b->n_instants + 1;

    tree->nodes_size = room * sizeof *tree->nodes;
    tree->nodes = osc_pages_alloc(tree->nodes_size);
    if (!tree->nodes)
        return OSC_ENOMEM;
    if (tree->has_memory) {
        tree->bytes_size = room * sizeof *tree->bytes;
        tree->bytes = osc_pages_alloc(tree->bytes_size);
        if (!tree->bytes)
            return OSC_ENOMEM;
    }
    return OSC_OK;
}

/* The name of string SID: index + 1, FILTERED, or 0 if there is no room for it. */
static inline uint32_t name_of(struct builder *b, uint32_t sid)
{
    const uint32_t name = b->tree->name_of_sid[sid];

    if (__builtin_expect(name != 0, 1))
        return name;
    return meet_name(b, sid) == OSC_OK ? b->tree->name_of_sid[sid] : 0;
}

/*
 * The thread of row I of C in torch's tree: a call moves to the thread of its operator, unless
 * torch leaves that operator out. What Ascend's runtime calls on a thread of its own may last
 * longer than the operator that asked for it, and stays there.
 */
static inline uint32_t track_of(struct builder *b, const struct osc_chunk *c, uint32_t i,
                                unsigned flags)
{
    if ((flags & OSC_AVG_CALL) && b->moves_calls && c->link && c->link[i] != 0) {
        const osc_row op = {c->link[i]};
        const struct osc_chunk *const of_op = osc_chunk_of(&b->t->events, op);
        const uint32_t place = osc_row_place(op);

        if (name_of(b, of_op->name[place]) != FILTERED)
            return of_op->track[place];
    }
    return c->track[i];
}

/*
 * Handle a record of the allocator: it is a row only if it lies in no host range, or reports a
 * failure.
 */
static osc_status add_record(struct builder *b, const struct osc_avg_cursor *at)
{
    struct osc_avg_tree *const tree = b->tree;
    const osc_row row = {at->row};
    const struct osc_chunk *c = osc_chunk_of(&b->t->events, row);
    const uint32_t i = tree->n_nodes;
    const bool is_failure = c->kind[osc_row_place(row)] == OSC_KIND_OOM;

    if (!is_failure && b->max_end_ns >= at->start_ns)
        return OSC_OK;
    tree->nodes[tree->n_nodes++] = (struct osc_avg_node){
        .end_ns = at->start_ns,
        .row = at->row,
        .name = (is_failure ? b->failure_name : b->memory_name) - 1,
        .flags = OSC_AVG_RECORD,
    };
    const osc_status st = nest(b, i, at->start_ns, c->track[osc_row_place(row)]);
    if (tree->bytes)
        attribute_memory(b, i, at->start_ns);
    return st;
}

/* Handle a host range. */
static inline osc_status add_range(struct builder *b, const struct osc_avg_cursor *at)
{
    struct osc_avg_tree *const tree = b->tree;
    const struct osc_chunk *c = osc_chunk_of(&b->t->events, (osc_row){at->row});
    const uint32_t place = osc_row_place((osc_row){at->row}), i = tree->n_nodes;
    const uint32_t name = name_of(b, c->name[place]);
    const int64_t start_ns = at->start_ns, end_ns = start_ns + at->dur_ns;
    unsigned flags = b->form_flags[c->form[place]] & 0xffu;
    osc_status st = OSC_OK;

    if (name == FILTERED || name == 0)
        return name == 0 ? OSC_ENOMEM : OSC_OK;
    if ((flags & OSC_AVG_ANNOTATION) && tree->names[name - 1].is_collective)
        flags |= OSC_AVG_ASYNC;
    if (end_ns > b->max_end_ns)
        b->max_end_ns = end_ns;
    tree->n_nodes = i + 1;
    tree->nodes[i] = (struct osc_avg_node){
        .end_ns = end_ns,
        .row = at->row,
        .name = name - 1,
        .flags = flags,
    };
    if (tree->node_of_row && (flags & OSC_AVG_OPERATOR))
        tree->node_of_row[at->row] = i + 1;
    if (!(flags & OSC_AVG_ASYNC))
        st = nest(b, i, start_ns, track_of(b, c, place, flags));
    if (tree->bytes)
        attribute_memory(b, i, start_ns);
    return st;
}

/* Handle the ranges of one track until another track has an earlier one. */
static osc_status add_ranges(struct builder *b, struct osc_avg_merge *merge)
{
    struct osc_avg_cursor at = *osc_avg_merge_top(merge);
    bool is_over = false;
    osc_status st;

    do {
        st = add_range(b, &at);
        is_over = !osc_avg_cursor_advance(merge, &at);
    } while (st == OSC_OK && !is_over && at.start_ns < merge->rival_ns);
    osc_avg_merge_replace(merge, &at, is_over);
    return st;
}

/* Make all nodes in one sweep, in order, each with its parent, sums of children, and bytes. */
static osc_status sweep(struct builder *b)
{
    struct osc_avg_tree *const tree = b->tree;
    struct osc_avg_merge merge = {
        .events = &b->t->events, .wanted = b->form_flags, .mask = FORM_HOST};
    const struct osc_avg_cursor *top = NULL;
    osc_status st = alloc_nodes(b);

    if (st == OSC_OK)
        st = osc_avg_merge_init(&merge, b->order, b->instants, b->n_instants);
    while (st == OSC_OK && (top = osc_avg_merge_top(&merge))) {
        if (top->is_record) {
            struct osc_avg_cursor at = *top;

            st = add_record(b, &at);
            osc_avg_merge_replace(&merge, &at, !osc_avg_cursor_advance(&merge, &at));
        } else {
            st = add_ranges(b, &merge);
        }
    }
    osc_avg_merge_fini(&merge);
    tree->n_host = tree->n_nodes;
    return st;
}

/* Add device work, queue by queue. */
static osc_status add_device_rows(struct builder *b)
{
    struct osc_avg_tree *const tree = b->tree;

    for (uint32_t k = 0; k < b->order->n_rows; k++) {
        const osc_row row = {b->order->rows[k]};
        const struct osc_chunk *c = osc_chunk_of(&b->t->events, row);
        const uint32_t i = osc_row_place(row);
        const unsigned flags = b->form_flags[c->form[i]];

        if (!(flags & FORM_DEVICE))
            continue;

        const uint32_t name = name_of(b, c->name[i]);
        if (name == 0)
            return OSC_ENOMEM;
        if (name == FILTERED)
            continue;
        tree->nodes[tree->n_nodes++] = (struct osc_avg_node){
            .end_ns = c->ts_ns[i] + c->dur_ns[i],
            .row = row.v,
            .name = name - 1,
            .flags = (flags & 0xffu) | (unsigned)b->track_family[c->track[i]]
                                           << OSC_AVG_FAMILY_SHIFT,
        };
    }
    tree->has_queue |= tree->n_nodes > tree->n_host;
    return OSC_OK;
}

/* Whether torch attaches kernels of this device to operators. */
static bool is_attached(const struct osc_avg_tree *tree, const struct osc_avg_node *n)
{
    const struct osc_str family = osc_avg_family(tree, n->flags);
    const enum osc_kind kind =
        (enum osc_kind)osc_avg_chunk(tree, n)->kind[osc_row_place((osc_row){n->row})];

    /* A synchronisation has a row, but is not launched work. */
    return osc_kind_is_device_work(kind) && !osc_str_eq(family, OSC_STR("mtia")) &&
           !osc_str_eq(family, OSC_STR("hpu"));
}

static uint32_t link_of(const struct osc_avg_tree *tree, uint32_t row)
{
    const struct osc_chunk *c = osc_chunk_of(&tree->trace->events, (osc_row){row});

    return c->link ? c->link[osc_row_place((osc_row){row})] : 0;
}

osc_row osc_avg_launcher_of(const struct osc_avg_tree *tree, const struct osc_avg_node *n)
{
    const uint32_t launch = n->flags & OSC_AVG_DEVICE ? link_of(tree, n->row) : n->row;
    const uint32_t op = launch != 0 ? link_of(tree, launch) : 0;

    /* An operator to which an arrow leads stands for the call. */
    return (osc_row){op != 0 ? op : launch};
}

uint32_t osc_avg_operator_of(const struct osc_avg_tree *tree, const struct osc_avg_node *n)
{
    const uint32_t from = is_attached(tree, n) ? osc_avg_launcher_of(tree, n).v : 0;
    const uint32_t op = from == 0 || !tree->node_of_row ? 0 : tree->node_of_row[from];

    /* A folded parent has the device work of its child, and none of its own. */
    if (op == 0 || (tree->nodes[op - 1].flags & OSC_AVG_FOLDS))
        return 0;
    return tree->nodes[op - 1].flags & OSC_AVG_FOLDED ? tree->nodes[op - 1].parent : op;
}

/*
 * Fold every only child into a parent with the same name: the parent takes over its children
 * and device work (averages_groups.c) and keeps everything else. Going from the innermost
 * outwards folds whole chains at once.
 */
static void fold(struct builder *b)
{
    struct osc_avg_tree *const tree = b->tree;

    for (size_t k = b->n_twins; k > 0; k--) {
        const uint32_t i = b->twins[k - 1];
        struct osc_avg_node *const n = &tree->nodes[i];
        const uint32_t p = n->parent - 1;
        struct osc_avg_node *const parent = &tree->nodes[p];

        if (parent->flags & OSC_AVG_CHILDREN)
            continue;
        n->flags |= OSC_AVG_FOLDED;
        parent->flags |= OSC_AVG_FOLDS;
        parent->child_us = n->child_us;
        if (tree->bytes) {
            tree->bytes[p].child_cpu = tree->bytes[i].child_cpu;
            tree->bytes[p].child_device = tree->bytes[i].child_device;
        }
    }
}

osc_status osc_avg_tree_build(struct osc_avg_tree *tree, const struct osc_trace *t,
                              struct osc_err *err)
{
    struct builder b = {.tree = tree,
                        .t = t,
                        .max_end_ns = INT64_MIN,
                        .moves_calls = osc_producer_dialect((enum osc_producer)t->producer) !=
                                       OSC_DIALECT_ASCEND};
    osc_status st = OSC_OK;

    *tree = (struct osc_avg_tree){.trace = t};
    b.order = &osc_trace_facts(t)->order;
    st = prepare(&b);
    tree->zero_ns = st == OSC_OK ? find_zero(&b) : 0;
    if (st == OSC_OK)
        st = gather_memory(&b);
    if (st == OSC_OK)
        st = sweep(&b);
    if (st == OSC_OK)
        st = add_device_rows(&b);
    if (st == OSC_OK)
        fold(&b);
    else
        osc_fail(err, st, "cannot build the tree of averages: %s", osc_status_text(st));
    osc_free(b.form_flags);
    osc_free(b.track_family);
    osc_free(b.top);
    osc_free(b.twins);
    osc_free(b.instants);
    osc_avg_records_fini(&b.records);
    return st;
}

void osc_avg_tree_fini(struct osc_avg_tree *tree)
{
    osc_pages_free(tree->nodes, tree->nodes_size);
    osc_pages_free(tree->bytes, tree->bytes_size);
    osc_pages_free(tree->node_of_row, tree->node_of_row_size);
    osc_pages_free(tree->name_of_sid, tree->name_of_sid_size);
    osc_free(tree->names);
    *tree = (struct osc_avg_tree){0};
}
