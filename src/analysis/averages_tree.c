/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/averages_tree.h"

#include <stdlib.h>
#include <strings.h>

#include "analysis/averages_memory.h"
#include "analysis/averages_order.h"
#include "base/mem.h"

/* Of a form, beside the flags of its nodes. */
#define FORM_RANGE 0x4000u /* its rows are nodes */
#define FORM_SPAN  0x8000u /* torch's own span over the whole trace */

#define FILTERED UINT32_MAX /* in name_of_sid */

struct builder {
    struct osc_avg_tree *tree;
    const struct osc_trace *t;
    uint16_t *form_flags;      /* owned; per form */
    uint8_t *track_family;     /* owned; per track */
    uint32_t *top;             /* owned; per track: innermost open node + 1 */
    struct osc_avg_key *pages; /* owned; twice `room` keys */
    size_t pages_size;
    struct osc_avg_key *keys; /* one half of pages */
    uint32_t n_keys, room;
    uint32_t *twins; /* owned; nodes whose parent has the same name */
    size_t n_twins, cap_twins;
    uint32_t step_name; /* name + 1 of "ProfilerStep*" */
    struct osc_avg_records records;
    uint32_t *failures; /* owned; rows of [OutOfMemory] */
    size_t n_failures, cap_failures;
    bool has_device;
};

static bool category_is(struct osc_str category, const char *word)
{
    return category.len == strlen(word) && strncasecmp(category.s, word, category.len) == 0;
}

/* What rows of form F are to torch, by phase and category alone. */
static uint16_t classify_form(const struct osc_trace *t, const struct osc_form *f)
{
    const struct osc_str category = osc_trace_str(t, f->category);

    if (f->ph == 'i' || f->ph == 'I')
        return OSC_AVG_RECORD;
    if (f->ph != 'X' && f->ph != 'B')
        return 0;
    if (f->is_device)
        return FORM_RANGE | OSC_AVG_DEVICE |
               (f->kind == OSC_KIND_ANNOTATION ? OSC_AVG_ANNOTATION : 0);
    switch ((enum osc_kind)f->kind) {
    case OSC_KIND_OPERATOR:
        return FORM_RANGE | OSC_AVG_OPERATOR;
    case OSC_KIND_ANNOTATION:
    case OSC_KIND_STEP:
        return FORM_RANGE | OSC_AVG_ANNOTATION;
    case OSC_KIND_MODULE:
    case OSC_KIND_PYTHON:
        return FORM_RANGE | OSC_AVG_PYTHON;
    case OSC_KIND_RUNTIME:
    case OSC_KIND_DRIVER:
        return FORM_RANGE | OSC_AVG_CALL;
    case OSC_KIND_COMMUNICATION:
    case OSC_KIND_OVERHEAD:
    case OSC_KIND_DATALOADER:
    case OSC_KIND_OPTIMIZER:
        return FORM_RANGE;
    case OSC_KIND_NONE:
    case OSC_KIND_KERNEL: /* on the host: nothing that torch writes */
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
    return category_is(category, "Trace") ? FORM_SPAN : 0;
}

/* The number of FAMILY, such as "cuda"; beyond the room for them, the first. */
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

static osc_status prepare(struct builder *b)
{
    const struct osc_trace *t = b->t;
    struct osc_avg_tree *tree = b->tree;

    b->form_flags = osc_calloc(t->n_forms + 1u, sizeof *b->form_flags);
    b->track_family = osc_calloc(t->n_tracks + 1u, sizeof *b->track_family);
    b->top = osc_calloc(t->n_tracks + 1u, sizeof *b->top);
    tree->name_of_sid_size =
        ((size_t)osc_strings_bound(&t->strings) + 1) * sizeof *tree->name_of_sid;
    tree->name_of_sid = osc_pages_alloc(tree->name_of_sid_size);
    /* Each record may become a node of its own, so the events are room enough. */
    b->room = t->events.n_rows;
    b->pages_size = ((size_t)b->room * 2 + 1) * sizeof *b->pages;
    b->pages = osc_pages_alloc(b->pages_size);
    b->keys = b->pages;
    if (!b->form_flags || !b->track_family || !b->top || !tree->name_of_sid || !b->pages)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < t->n_forms; i++)
        b->form_flags[i] = classify_form(t, &t->forms[i]);
    for (uint32_t i = 0; i < t->n_tracks; i++) {
        struct osc_str device = osc_trace_str(t, t->tracks[i].device);
        const char *colon = device.len > 0 ? memchr(device.s, ':', device.len) : NULL;

        if (colon)
            device.len = (uint32_t)(colon - device.s);
        if (device.len > 0)
            b->track_family[i] = add_family(tree, device);
    }
    tree->has_queue = tree->n_families > 0;
    if (tree->n_families == 0)
        add_family(tree, OSC_STR("cuda"));
    return OSC_OK;
}

static bool is_filtered(struct osc_str name)
{
    static const char *const names[] = {
        "[memory]",
        "[OutOfMemory]",
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

static bool is_collective(struct osc_str name)
{
    return osc_str_starts(name, OSC_STR("gloo:")) || osc_str_starts(name, OSC_STR("nccl:")) ||
           osc_str_starts(name, OSC_STR("mpi:")) || osc_str_starts(name, OSC_STR("ucc:")) ||
           osc_str_starts(name, OSC_STR("xccl:"));
}

/* A new name; *NAME is its index + 1. */
static osc_status add_name(struct osc_avg_tree *tree, struct osc_str text, uint32_t *name)
{
    const osc_status st =
        osc_grow(&tree->names, &tree->cap_names, tree->n_names + 1, sizeof *tree->names);

    if (st != OSC_OK)
        return st;
    tree->names[tree->n_names++] = (struct osc_avg_name){
        .text = text,
        .flops_rule = (uint8_t)osc_flops_rule(text),
        .is_collective = is_collective(text),
        .is_wrapper = osc_str_starts(text, OSC_STR("autograd::engine::evaluate_function: ")),
    };
    *name = (uint32_t)tree->n_names;
    return OSC_OK;
}

/* The first sight of string SID as the name of a range. */
static osc_status meet_name(struct builder *b, uint32_t sid)
{
    const struct osc_str text = osc_trace_str(b->t, (osc_sid){sid});
    uint32_t *const place = &b->tree->name_of_sid[sid];
    osc_status st = OSC_OK;

    if (is_filtered(text)) {
        *place = FILTERED;
    } else if (osc_str_starts(text, OSC_STR("ProfilerStep#")) ||
               osc_str_eq(text, OSC_STR("ProfilerStep*"))) {
        if (b->step_name == 0)
            st = add_name(b->tree, OSC_STR("ProfilerStep*"), &b->step_name);
        *place = b->step_name;
    } else {
        st = add_name(b->tree, text, place);
    }
    return st;
}

/* An instant: perhaps a record of the allocator. */
static osc_status gather_record(struct builder *b, const struct osc_chunk *c, uint32_t i)
{
    osc_status st = OSC_OK;

    if (c->kind[i] == OSC_KIND_ALLOC || c->kind[i] == OSC_KIND_FREE)
        return osc_avg_records_add(&b->records, b->t, c, i);
    if (c->kind[i] != OSC_KIND_OOM)
        return OSC_OK;
    st = osc_grow(&b->failures, &b->cap_failures, b->n_failures + 1, sizeof *b->failures);
    if (st == OSC_OK)
        b->failures[b->n_failures++] = osc_row_at(c, i).v;
    return st;
}

/* A row that is no range: a record, or torch's own span. */
static osc_status gather_other(struct builder *b, const struct osc_chunk *c, uint32_t i,
                               unsigned flags)
{
    if (flags & OSC_AVG_RECORD)
        return gather_record(b, c, i);
    if (osc_str_eq(osc_row_name(b->t, c, i), OSC_STR("PyTorch Profiler (0)")))
        b->tree->zero_ns = c->ts_ns[i];
    return OSC_OK;
}

/* A key for every range that torch has an event for. */
static osc_status gather_chunk(struct builder *b, const struct osc_chunk *c)
{
    const uint32_t *const name_of_sid = b->tree->name_of_sid;
    unsigned seen = 0;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < c->n_rows; i++) {
        const unsigned flags = b->form_flags[c->form[i]];
        uint32_t name = 0;

        if (!(flags & FORM_RANGE)) {
            if (flags != 0)
                st = gather_other(b, c, i, flags);
            if (st != OSC_OK)
                return st;
            continue;
        }
        if (c->dur_ns[i] == OSC_NO_DUR)
            continue;
        name = name_of_sid[c->name[i]];
        if (name == 0) {
            st = meet_name(b, c->name[i]);
            if (st != OSC_OK)
                return st;
            name = name_of_sid[c->name[i]];
        }
        if (name == FILTERED)
            continue;
        seen |= flags;
        b->keys[b->n_keys++] = (struct osc_avg_key){
            (uint64_t)c->ts_ns[i] - (uint64_t)b->t->min_ts_ns, osc_row_at(c, i).v, name - 1};
    }
    b->has_device |= (seen & OSC_AVG_DEVICE) != 0;
    b->tree->has_queue |= b->has_device;
    return OSC_OK;
}

static osc_status sort_keys(struct builder *b)
{
    struct osc_avg_key *spare = b->keys == b->pages ? b->pages + b->room : b->pages;

    return osc_avg_sort(&b->t->events, b->keys, spare, b->n_keys, &b->keys);
}

static osc_status add_record_key(struct builder *b, uint32_t row, uint32_t name)
{
    const struct osc_chunk *c = osc_chunk_of(&b->t->events, (osc_row){row});
    const int64_t ts_ns = c->ts_ns[osc_row_place((osc_row){row})];

    if (b->n_keys == b->room)
        return OSC_ELIMIT;
    b->keys[b->n_keys++] =
        (struct osc_avg_key){(uint64_t)ts_ns - (uint64_t)b->t->min_ts_ns, row, name - 1};
    return OSC_OK;
}

/*
 * Records that lie in no range of the host become rows of their own, and so does
 * every failed allocation (TP 7.3). Keys are sorted; afterwards they are again.
 */
static osc_status add_records(struct builder *b)
{
    const struct osc_store *events = &b->t->events;
    const uint32_t n_ranges = b->n_keys;
    uint32_t memory_name = 0, failure_name = 0, k = 0;
    int64_t max_end_ns = INT64_MIN;
    osc_status st = add_name(b->tree, OSC_STR("[memory]"), &memory_name);

    if (st == OSC_OK)
        st = add_name(b->tree, OSC_STR("[OutOfMemory]"), &failure_name);
    for (size_t i = 0; st == OSC_OK && i < b->records.n; i++) {
        const struct osc_avg_record *rec = &b->records.all[i];

        for (; k < n_ranges; k++) {
            const osc_row row = {b->keys[k].row};
            const struct osc_chunk *c = osc_chunk_of(events, row);
            const uint32_t place = osc_row_place(row);

            if (c->ts_ns[place] > rec->time_ns)
                break;
            if (b->form_flags[c->form[place]] & OSC_AVG_DEVICE)
                continue;
            if (osc_row_end(c, place) > max_end_ns)
                max_end_ns = osc_row_end(c, place);
        }
        if (max_end_ns < rec->time_ns)
            st = add_record_key(b, rec->row, memory_name);
    }
    for (size_t i = 0; st == OSC_OK && i < b->n_failures; i++)
        st = add_record_key(b, b->failures[i], failure_name);
    return st == OSC_OK && b->n_keys > n_ranges ? sort_keys(b) : st;
}

/* Whether the file says that memory was recorded; without a word, whether any was. */
static bool has_memory(const struct builder *b)
{
    struct osc_str value;

    if (osc_trace_meta(b->t, "profile_memory", &value))
        return !osc_str_eq(value, OSC_STR("0")) && !osc_str_eq(value, OSC_STR("false"));
    return b->records.n + b->n_failures > 0;
}

static osc_status gather(struct builder *b)
{
    const struct osc_store *events = &b->t->events;
    osc_status st = OSC_OK;

    b->tree->zero_ns = b->t->min_ts_ns;
    for (uint32_t i = 1; i < events->n_chunks && st == OSC_OK; i++)
        st = gather_chunk(b, events->chunks[i]);
    if (st == OSC_OK)
        st = sort_keys(b);
    b->tree->has_memory = has_memory(b);
    if (st == OSC_OK && b->tree->has_memory)
        st = osc_avg_records_seal(&b->records);
    if (st == OSC_OK && b->tree->has_memory)
        st = add_records(b);
    return st;
}

/* The thread of row I in torch's tree: calls stand on that of their operator. */
static uint32_t track_of(const struct builder *b, const struct osc_chunk *c, uint32_t i,
                         unsigned flags)
{
    if ((flags & OSC_AVG_CALL) && c->link && c->link[i] != 0) {
        const osc_row op = {c->link[i]};

        return osc_chunk_of(&b->t->events, op)->track[osc_row_place(op)];
    }
    return c->track[i];
}

/* Make node I a child of the innermost range that is open on its track. */
static osc_status nest(struct builder *b, uint32_t i)
{
    struct osc_avg_node *const nodes = b->tree->nodes;
    struct osc_avg_node *const n = &nodes[i];
    const int64_t end_ns = n->start_ns + n->dur_ns;
    uint32_t top = b->top[n->track];
    osc_status st = OSC_OK;

    while (top != 0) {
        const int64_t top_end_ns = nodes[top - 1].start_ns + nodes[top - 1].dur_ns;

        if (n->start_ns < top_end_ns && end_ns <= top_end_ns)
            break;
        top = nodes[top - 1].parent;
    }
    b->top[n->track] = i + 1;
    n->parent = top;
    if (top == 0)
        return OSC_OK;

    struct osc_avg_node *const parent = &nodes[top - 1];
    parent->n_children++;
    parent->child_ns += n->dur_ns;
    parent->child_us += osc_avg_elapsed_us(b->tree, n);
    if (parent->name == n->name) {
        st = osc_grow(&b->twins, &b->cap_twins, b->n_twins + 1, sizeof *b->twins);
        if (st == OSC_OK)
            b->twins[b->n_twins++] = i;
    }
    return st;
}

static void attribute_memory(struct builder *b, uint32_t i)
{
    const struct osc_avg_node *n = &b->tree->nodes[i];
    struct osc_avg_bytes *bytes = &b->tree->bytes[i];

    if (n->flags & OSC_AVG_RECORD) {
        const struct osc_chunk *c = osc_avg_chunk(b->tree, n);
        const uint32_t place = osc_row_place((osc_row){n->row});

        if (c->kind[place] != OSC_KIND_OOM)
            osc_avg_record_bytes(b->t, c, place, &bytes->cpu, &bytes->device);
    } else {
        osc_avg_records_between(&b->records, n->start_ns, n->start_ns + n->dur_ns, &bytes->cpu,
                                &bytes->device);
    }
    if (n->parent != 0) {
        b->tree->bytes[n->parent - 1].child_cpu += bytes->cpu;
        b->tree->bytes[n->parent - 1].child_device += bytes->device;
    }
}

static osc_status alloc_nodes(struct builder *b)
{
    struct osc_avg_tree *tree = b->tree;

    tree->n_nodes = b->n_keys;
    tree->nodes_size = ((size_t)b->n_keys + 1) * sizeof *tree->nodes;
    tree->nodes = osc_pages_alloc(tree->nodes_size);
    if (!tree->nodes)
        return OSC_ENOMEM;
    if (tree->has_memory) {
        tree->bytes_size = ((size_t)b->n_keys + 1) * sizeof *tree->bytes;
        tree->bytes = osc_pages_alloc(tree->bytes_size);
        if (!tree->bytes)
            return OSC_ENOMEM;
    }
    if (b->has_device) {
        tree->device_size = ((size_t)b->n_keys + 1) * sizeof *tree->device;
        tree->device = osc_pages_alloc(tree->device_size);
        if (!tree->device)
            return OSC_ENOMEM;
    }
    return OSC_OK;
}

/* The one sweep: nodes in order, each with its parent, sums of children, bytes. */
static osc_status sweep(struct builder *b)
{
    struct osc_avg_tree *const tree = b->tree;
    osc_status st = alloc_nodes(b);

    for (uint32_t i = 0; st == OSC_OK && i < b->n_keys; i++) {
        const osc_row row = {b->keys[i].row};
        const struct osc_chunk *c = osc_chunk_of(&b->t->events, row);
        const uint32_t place = osc_row_place(row);
        unsigned flags = b->form_flags[c->form[place]] & 0xffu;
        struct osc_avg_node *const n = &tree->nodes[i];

        n->start_ns = c->ts_ns[place];
        n->dur_ns = c->dur_ns[place] == OSC_NO_DUR ? 0 : c->dur_ns[place];
        n->row = row.v;
        n->name = b->keys[i].name;
        if (flags & OSC_AVG_DEVICE) {
            n->track = c->track[place];
            n->flags = flags | (unsigned)b->track_family[n->track] << OSC_AVG_FAMILY_SHIFT;
            continue;
        }
        if ((flags & OSC_AVG_ANNOTATION) && tree->names[n->name].is_collective)
            flags |= OSC_AVG_ASYNC;
        n->flags = flags;
        n->track = track_of(b, c, place, flags);
        if (!(flags & OSC_AVG_ASYNC))
            st = nest(b, i);
        if (tree->bytes)
            attribute_memory(b, i);
    }
    return st;
}

/* The operator (row) that launched device work N; 0 if none is known. */
static uint32_t operator_of(const struct osc_avg_tree *tree, const struct osc_avg_node *n)
{
    const struct osc_store *events = &tree->trace->events;
    const struct osc_chunk *c = osc_avg_chunk(tree, n);
    osc_row row = {n->row};

    /* A synchronisation has a row of its own, but is no work that somebody launched. */
    if (!c->link || !osc_kind_is_device_work((enum osc_kind)c->kind[osc_row_place(row)]))
        return 0;
    row.v = c->link[osc_row_place(row)];
    if (row.v == 0)
        return 0;
    c = osc_chunk_of(events, row);
    if (osc_kind_is_launch((enum osc_kind)c->kind[osc_row_place(row)]))
        row.v = c->link ? c->link[osc_row_place(row)] : 0;
    return row.v;
}

/* torch hands kernels to operators on these devices alone (TP 3.2, step 8). */
static bool is_attached(const struct osc_avg_tree *tree, unsigned flags)
{
    const struct osc_str family = osc_avg_family(tree, flags);

    return (flags & OSC_AVG_DEVICE) && !osc_str_eq(family, OSC_STR("mtia")) &&
           !osc_str_eq(family, OSC_STR("hpu"));
}

static osc_status attach_device_work(struct builder *b)
{
    struct osc_avg_tree *const tree = b->tree;
    const size_t size = ((size_t)b->t->events.n_chunks << OSC_CHUNK_SHIFT) * sizeof(uint32_t);
    uint32_t *node_of_row = osc_pages_alloc(size);

    if (!node_of_row)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
        if (tree->nodes[i].flags & OSC_AVG_OPERATOR)
            node_of_row[tree->nodes[i].row] = i + 1;
    }
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
        const struct osc_avg_node *n = &tree->nodes[i];
        const uint32_t op =
            is_attached(tree, n->flags) ? node_of_row[operator_of(tree, n)] : 0;

        if (op != 0)
            tree->device[op - 1].own_ns += n->dur_ns;
    }
    osc_pages_free(node_of_row, size);
    return OSC_OK;
}

/*
 * Fold every only child into its parent of the same name: the parent takes over its
 * children and device work and keeps all else. From the innermost outwards, so that
 * whole chains fold in one go.
 */
static void fold(struct builder *b)
{
    struct osc_avg_tree *const tree = b->tree;

    for (size_t k = b->n_twins; k > 0; k--) {
        const uint32_t i = b->twins[k - 1];
        struct osc_avg_node *const n = &tree->nodes[i];
        const uint32_t p = n->parent - 1;
        struct osc_avg_node *const parent = &tree->nodes[p];

        if (parent->n_children != 1)
            continue;
        n->flags |= OSC_AVG_FOLDED;
        parent->child_ns = n->child_ns;
        parent->child_us = n->child_us;
        if (tree->bytes) {
            tree->bytes[p].child_cpu = tree->bytes[i].child_cpu;
            tree->bytes[p].child_device = tree->bytes[i].child_device;
        }
        if (tree->device) {
            tree->device[p].own_ns = tree->device[i].own_ns;
            tree->device[i].own_ns = 0;
        }
    }
}

/* Device totals: a parent stands before its children, so from the end on. */
static void sum_device_work(struct osc_avg_tree *tree)
{
    for (uint32_t i = tree->n_nodes; i > 0; i--) {
        const uint32_t parent = tree->nodes[i - 1].parent;
        const struct osc_avg_device_ns *d = &tree->device[i - 1];

        if (parent != 0)
            tree->device[parent - 1].child_ns += d->own_ns + d->child_ns;
    }
}

osc_status osc_avg_tree_build(struct osc_avg_tree *tree, const struct osc_trace *t,
                              struct osc_err *err)
{
    struct builder b = {.tree = tree, .t = t};
    osc_status st = OSC_OK;

    *tree = (struct osc_avg_tree){.trace = t};
    st = prepare(&b);
    if (st == OSC_OK)
        st = gather(&b);
    if (st == OSC_OK)
        st = sweep(&b);
    if (st == OSC_OK && tree->device)
        st = attach_device_work(&b);
    if (st == OSC_OK) {
        fold(&b);
        if (tree->device)
            sum_device_work(tree);
    } else {
        osc_fail(err, st, "cannot build the tree of averages: %s", osc_status_text(st));
    }
    osc_free(b.form_flags);
    osc_free(b.track_family);
    osc_free(b.top);
    osc_free(b.twins);
    osc_free(b.failures);
    osc_pages_free(b.pages, b.pages_size);
    osc_avg_records_fini(&b.records);
    return st;
}

void osc_avg_tree_fini(struct osc_avg_tree *tree)
{
    osc_pages_free(tree->nodes, tree->nodes_size);
    osc_pages_free(tree->bytes, tree->bytes_size);
    osc_pages_free(tree->device, tree->device_size);
    osc_pages_free(tree->name_of_sid, tree->name_of_sid_size);
    osc_free(tree->names);
    *tree = (struct osc_avg_tree){0};
}
