/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kernels`: device kernels by name, or by name, operator and launch shape. Both contain all
 * kernels of the trace, whether or not an operator launched them.
 */
#include "analysis/table_registry.h"

#include <string.h>

#include "analysis/list_text.h"
#include "analysis/shared_options.h"
#include "analysis/table_columns.h"
#include "base/hash.h"
#include "base/mem.h"
#include "derive/args.h"
#include "derive/facts.h"
#include "derive/launchers.h"

enum {
    NAME,
    CAUSE,
    LAUNCH_ID,
    GRAPH_ID,
    CALLER,
    START,
    OPERATOR,
    GRID,
    BLOCK,
    REGISTERS,
    SHARED_MEMORY,
    TENSOR_CORES,
    OP_TC_ELIGIBLE,
    CALLS,
    TOTAL,
    MEAN,
    MAX,
    MIN,
    MEAN_BLOCKS,
    MEAN_OCCUPANCY,
    BLOCKS_SUM,
    OCCUPANCY_SUM,
    N_COLUMNS
};

/* What rows can be grouped by. */
enum { BY_OPERATOR, BY_CAUSE, BY_GRAPH };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, OSC_COLUMN_SYMBOL, OSC_RULE_NAMES,
               "Name of the kernel as the file has it; with --group-by cause the cause, with "
               "--group-by graph the name of the call that launched the graph."),
    OSC_COLUMN(CAUSE, "cause", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, OSC_RULE_LINKS,
               "What launched the kernels: operator; graph, a call that launches a graph, "
               "outside of operators; runtime call, any other call outside of operators; or "
               "not recorded. Present with --group-by cause.",
               .grouping = "cause"),
    OSC_COLUMN(LAUNCH_ID, "launch_id", INTEGER, NULL, KEY, OSC_COLUMN_OPTIONAL, OSC_RULE_LINKS,
               "Id (table events) of the call that launched the graph. Present with "
               "--group-by graph.",
               .grouping = "graph"),
    OSC_COLUMN(GRAPH_ID, "graph_id", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL, 0,
               "Argument `graph id` of the kernels; missing if they have none. Present with "
               "--group-by graph."),
    OSC_COLUMN(CALLER, "caller", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_FOREST,
               "Innermost operator, annotation or scope around the call; missing if there is "
               "none. Present with --group-by graph."),
    OSC_COLUMN(START, "start_ns", INTEGER, "ns", KEY, OSC_COLUMN_OPTIONAL | OSC_COLUMN_MOMENT,
               OSC_RULE_TIME, "Start of the call. Present with --group-by graph."),
    OSC_COLUMN(
        OPERATOR, "operator", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, OSC_RULE_LINKS,
        "Operator that launched the kernel; (none) if no operator did or it is not known.",
        .grouping = "op"),
    OSC_COLUMN(GRID, "grid", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, 0,
               "Number of blocks in x, y and z: argument grid."),
    OSC_COLUMN(BLOCK, "block", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, 0,
               "Number of threads of a block in x, y and z: argument block."),
    OSC_COLUMN(REGISTERS, "registers_per_thread", INTEGER, NULL, KEY, OSC_COLUMN_OPTIONAL, 0,
               "Argument `registers per thread`."),
    OSC_COLUMN(SHARED_MEMORY, "shared_memory_bytes", INTEGER, "bytes", KEY, OSC_COLUMN_OPTIONAL,
               0, "Shared memory of a block: argument `shared memory`."),
    OSC_COLUMN(
        TENSOR_CORES, "tensor_cores", BOOLEAN, NULL, FIRST, OSC_COLUMN_MINOR,
        OSC_RULE_TENSOR_CORES,
        "Whether the kernel uses Tensor Cores, by its name: true (s884, hmma and so on), false "
        "(at::native::, nccl and so on), or missing if no rule covers the name."),
    OSC_COLUMN(OP_TC_ELIGIBLE, "op_tc_eligible", BOOLEAN, NULL, FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_TENSOR_CORES,
               "Whether the operator that launched the kernel can use Tensor Cores, by the "
               "operator's name alone."),
    OSC_COLUMN(CALLS, "calls", INTEGER, NULL, SUM, 0, 0, "Number of times the kernel ran."),
    OSC_COLUMN(TOTAL, "total_ns", INTEGER, "ns", SUM, 0, 0,
               "Sum of the durations. Kernels that run at the same time on several queues "
               "count each time."),
    OSC_COLUMN(MEAN, "mean_ns", NUMBER, "ns", FINISH, 0, 0, "total_ns / calls."),
    OSC_COLUMN(MAX, "max_ns", INTEGER, "ns", MAX, 0, 0, "Longest duration."),
    OSC_COLUMN(MIN, "min_ns", INTEGER, "ns", MIN, 0, 0, "Shortest duration."),
    OSC_COLUMN(MEAN_BLOCKS, "mean_blocks_per_sm", NUMBER, NULL, FINISH, OSC_COLUMN_OPTIONAL,
               OSC_RULE_LOADS,
               "Sum of (argument `blocks per SM` * duration) / total_ns. Kernels without a "
               "value above 0 and up to 2^64 count as 0. Missing for a rank and span in which "
               "no kernel has one."),
    OSC_COLUMN(MEAN_OCCUPANCY, "mean_occupancy_ratio", NUMBER, "ratio", FINISH,
               OSC_COLUMN_OPTIONAL, OSC_RULE_LOADS,
               "Sum of (argument `est. achieved occupancy %` / 100 * duration) / total_ns. "
               "Kernels without a value from 0 to 2^64 count as 0. Missing for a rank and span "
               "in which no kernel has one."),
    OSC_COLUMN(BLOCKS_SUM, "blocks_sum", NUMBER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "Sum of blocks per SM times nanoseconds."),
    OSC_COLUMN(OCCUPANCY_SUM, "occupancy_sum", NUMBER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "Sum of occupancy in percent times nanoseconds."),
};

/* More ranges around a call are not looked at for one that somebody named. */
#define CALLERS_MAX 1000

/* Kernels with equal keys are one row of --group-by op. No padding: its bytes are hashed. */
struct key {
    int64_t registers, shared_memory;
    uint32_t name, op;    /* osc_sid */
    uint32_t grid, block; /* osc_sid of list texts */
    uint16_t has_registers, has_shared_memory;
    uint32_t has_operator; /* distinguishes an operator with an empty name from none */
    uint32_t launcher;     /* enum osc_launcher, by cause */
    uint32_t call;         /* osc_row of the launch, by graph */
};

struct group {
    struct key key; /* only the name is set, unless grouped otherwise */
    int64_t graph_id;
    bool has_graph_id;
    uint64_t n_calls;
    int64_t total_ns, max_ns, min_ns;
    double blocks_sum, occupancy_sum;
};

struct sums {
    const struct osc_trace *t;
    const struct osc_facts *f;
    const struct osc_options *o;
    struct group *groups; /* owned; in the order of the file */
    size_t n_groups, cap_groups;
    uint32_t *group_of;     /* owned; by name: group + 1 */
    struct osc_intern keys; /* by operator: key i belongs to group i - 1 */
    struct osc_arena arena;
    struct osc_lists lists;
    bool has_blocks, has_occupancy;
};

/* The key of --group-by op of the kernel of WORK. */
static osc_status key_of(struct sums *s, const struct osc_work *work, const struct osc_chunk *c,
                         uint32_t i, struct key *key)
{
    const uint32_t node = work->call == 0 ? 0 : s->f->links.calls[work->call - 1].node;
    osc_sid grid, block;

    if (node != 0) {
        const osc_row op = {s->f->order.rows[node - 1]};

        key->has_operator = true;
        key->op = osc_chunk_of(&s->t->events, op)->name[osc_row_place(op)];
    }
    osc_status st = osc_lists_id(&s->lists, s->t, c, i, OSC_ARG_KEY_GRID, &grid);
    if (st == OSC_OK)
        st = osc_lists_id(&s->lists, s->t, c, i, OSC_ARG_KEY_BLOCK, &block);
    if (st != OSC_OK)
        return st;
    key->grid = grid.v;
    key->block = block.v;
    key->has_registers = osc_row_arg_int(s->t, c, i, OSC_ARG_KEY_REGISTERS, &key->registers);
    key->has_shared_memory =
        osc_row_arg_int(s->t, c, i, OSC_ARG_KEY_SHARED_MEMORY, &key->shared_memory);
    return OSC_OK;
}

/* The key of the kernel of WORK by whatever is grouped by. */
static osc_status grouped_key_of(struct sums *s, const struct osc_work *work,
                                 const struct osc_chunk *c, uint32_t i, struct key *key)
{
    if (osc_is_grouped(s->o, BY_OPERATOR))
        return key_of(s, work, c, i, key);
    key->name = 0;
    if (osc_is_grouped(s->o, BY_CAUSE))
        key->launcher = (uint32_t)osc_launcher_of(s->t, s->f, work);
    else
        key->call = s->f->links.calls[work->call - 1].row;
    return OSC_OK;
}

/* The group (+ 1) of the kernel of WORK; the number of the next group if it is new. */
static osc_status find_group(struct sums *s, const struct osc_work *work,
                             const struct osc_chunk *c, uint32_t i, struct key *key,
                             uint32_t *group)
{
    memset(key, 0, sizeof *key); /* no stray bytes in the hashed key */
    key->name = c->name[i];
    if (!osc_is_grouped(s->o, BY_OPERATOR) && !osc_is_grouped(s->o, BY_CAUSE) &&
        !osc_is_grouped(s->o, BY_GRAPH)) {
        uint32_t *const place = &s->group_of[c->name[i]];

        if (*place == 0)
            *place = (uint32_t)s->n_groups + 1;
        *group = *place;
        return OSC_OK;
    }
    osc_sid id = {0};
    osc_status st = grouped_key_of(s, work, c, i, key);
    if (st == OSC_OK)
        st = osc_intern_add(&s->keys, (struct osc_str){(const char *)key, sizeof *key}, &id);
    *group = id.v;
    return st;
}

static osc_status add_kernel(struct sums *s, const struct osc_work *work)
{
    const struct osc_chunk *const c = osc_chunk_of(&s->t->events, (osc_row){work->row});
    const uint32_t i = work->row & OSC_CHUNK_MASK;
    uint32_t number = 0;
    struct key key;

    if (c->kind[i] != OSC_KIND_KERNEL ||
        (osc_is_grouped(s->o, BY_GRAPH) && !osc_launcher_is_graph(s->t, s->f, work)))
        return OSC_OK;
    const osc_status st = find_group(s, work, c, i, &key, &number);
    if (st != OSC_OK)
        return st;
    if (number > s->n_groups) {
        if (osc_grow(&s->groups, &s->cap_groups, number, sizeof *s->groups) != OSC_OK)
            return OSC_ENOMEM;
        s->groups[s->n_groups++] = (struct group){.key = key, .min_ns = INT64_MAX};
    }
    struct group *const g = &s->groups[number - 1];
    const int64_t dur_ns = c->dur_ns[i];
    double blocks, occupancy;

    if (osc_is_grouped(s->o, BY_GRAPH) && !g->has_graph_id)
        g->has_graph_id = osc_row_arg_int(s->t, c, i, OSC_ARG_KEY_GRAPH_ID, &g->graph_id);
    g->n_calls++;
    g->total_ns += dur_ns;
    g->max_ns = dur_ns > g->max_ns ? dur_ns : g->max_ns;
    g->min_ns = dur_ns < g->min_ns ? dur_ns : g->min_ns;
    if (osc_args_quantity(s->t, c, i, OSC_ARG_KEY_BLOCKS_PER_SM, &blocks) && blocks > 0) {
        g->blocks_sum += blocks * (double)dur_ns;
        s->has_blocks = true;
    }
    if (osc_args_quantity(s->t, c, i, OSC_ARG_KEY_OCCUPANCY, &occupancy)) {
        g->occupancy_sum += occupancy * (double)dur_ns;
        s->has_occupancy = true;
    }
    return OSC_OK;
}

static void add_op_cells(const struct sums *s, const struct key *key, bool compat_tb,
                         struct osc_result *out)
{
    const bool has_operator = key->has_operator;

    osc_result_str(out, OPERATOR,
                   has_operator ? osc_trace_str(s->t, (osc_sid){key->op}) : OSC_STR("(none)"));
    osc_result_bool(out, OP_TC_ELIGIBLE,
                    has_operator &&
                        osc_name_is_eligible(s->f->classes.names[key->op], compat_tb));
    if (key->grid != 0)
        osc_result_str(out, GRID, osc_intern_str(&s->lists.texts, (osc_sid){key->grid}));
    if (key->block != 0)
        osc_result_str(out, BLOCK, osc_intern_str(&s->lists.texts, (osc_sid){key->block}));
    if (key->has_registers)
        osc_result_int(out, REGISTERS, key->registers);
    if (key->has_shared_memory)
        osc_result_int(out, SHARED_MEMORY, key->shared_memory);
}

/* The innermost range around the call in row I of C that somebody named; or none. */
static osc_sid caller_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    osc_row row = {c->parent ? c->parent[i] : 0};

    for (unsigned n = 0; row.v != 0 && n < CALLERS_MAX; n++) {
        const struct osc_chunk *const k = osc_chunk_of(&t->events, row);
        const uint32_t at = osc_row_place(row);

        if (!osc_row_form(t, k, at)->is_frame &&
            !osc_kind_is_launch((enum osc_kind)k->kind[at]))
            return (osc_sid){k->name[at]};
        row.v = k->parent[at];
    }
    return (osc_sid){0};
}

/* The cells of a graph that the call in row LAUNCH launched. */
static void add_graph_cells(const struct sums *s, const struct group *g, struct osc_result *out)
{
    const osc_row row = {g->key.call};
    const struct osc_chunk *const c = osc_chunk_of(&s->t->events, row);
    const uint32_t i = osc_row_place(row);
    const osc_sid caller = caller_of(s->t, c, i);

    osc_result_str(out, NAME, osc_row_name(s->t, c, i));
    osc_result_int(out, LAUNCH_ID, osc_row_number(&s->t->events, row));
    osc_result_int(out, START, c->ts_ns[i] - s->t->origin_ns);
    if (g->has_graph_id)
        osc_result_int(out, GRAPH_ID, g->graph_id);
    if (caller.v != 0)
        osc_result_str(out, CALLER, osc_trace_str(s->t, caller));
}

static void add_kernel_cells(const struct sums *s, const struct group *g, bool compat_tb,
                             struct osc_result *out)
{
    const enum osc_tensor_cores tensor_cores =
        osc_name_tensor_cores(s->f->classes.names[g->key.name], compat_tb);

    osc_result_str(out, NAME, osc_trace_str(s->t, (osc_sid){g->key.name}));
    if (osc_is_grouped(s->o, BY_OPERATOR))
        add_op_cells(s, &g->key, compat_tb, out);
    if (tensor_cores != OSC_TENSOR_CORES_UNKNOWN)
        osc_result_bool(out, TENSOR_CORES, tensor_cores == OSC_TENSOR_CORES_YES);
}

static void add_row(const struct sums *s, const struct group *g, bool compat_tb,
                    struct osc_result *out)
{
    const struct osc_str cause =
        osc_str_c(osc_launcher_text((enum osc_launcher)g->key.launcher));

    osc_result_row(out);
    if (osc_is_grouped(s->o, BY_CAUSE)) {
        osc_result_str(out, NAME, cause);
        osc_result_str(out, CAUSE, cause);
    } else if (osc_is_grouped(s->o, BY_GRAPH)) {
        add_graph_cells(s, g, out);
    } else {
        add_kernel_cells(s, g, compat_tb, out);
    }
    osc_result_int(out, CALLS, (int64_t)g->n_calls);
    osc_result_int(out, TOTAL, g->total_ns);
    osc_result_int(out, MAX, g->max_ns);
    osc_result_int(out, MIN, g->min_ns);
    if (s->has_blocks)
        osc_result_num(out, BLOCKS_SUM, g->blocks_sum);
    if (s->has_occupancy)
        osc_result_num(out, OCCUPANCY_SUM, g->occupancy_sum);
}

static void show_columns(const struct sums *s, struct osc_result *out)
{
    if (osc_is_grouped(s->o, BY_CAUSE))
        osc_result_show(out, CAUSE);
    for (uint32_t c = LAUNCH_ID; osc_is_grouped(s->o, BY_GRAPH) && c <= START; c++)
        osc_result_show(out, c);
    for (uint32_t c = OPERATOR; osc_is_grouped(s->o, BY_OPERATOR) && c <= SHARED_MEMORY; c++)
        osc_result_show(out, c);
    if (osc_is_grouped(s->o, BY_OPERATOR))
        osc_result_show(out, OP_TC_ELIGIBLE);
    if (s->has_blocks)
        osc_result_show(out, MEAN_BLOCKS);
    if (s->has_occupancy)
        osc_result_show(out, MEAN_OCCUPANCY);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct sums s = {.t = t, .f = osc_trace_facts(t), .o = o};
    osc_status st = OSC_OK;

    s.keys.arena = &s.arena;
    s.keys.seed = osc_hash_seed();
    s.group_of = osc_calloc(osc_strings_bound(&t->strings) + (size_t)1, sizeof *s.group_of);
    if (!s.group_of)
        st = OSC_ENOMEM;
    for (size_t n = 0; n < s.f->links.n_works && st == OSC_OK; n++)
        st = add_kernel(&s, &s.f->links.works[n]);
    if (st == OSC_OK) {
        show_columns(&s, out);
        for (size_t g = 0; g < s.n_groups; g++)
            add_row(&s, &s.groups[g], osc_is_compat_tb(o), out);
        if (s.n_groups == 0 && osc_is_grouped(o, BY_GRAPH) && s.f->links.n_works > 0)
            osc_result_why_empty(out, "no kernels that a graph launched");
        else if (s.n_groups == 0)
            osc_result_why_empty(out, "no kernels: no device work of kind kernel in the trace");
        st = out->status;
    }
    osc_free(s.groups);
    osc_free(s.group_of);
    osc_intern_fini(&s.keys);
    osc_arena_fini(&s.arena);
    osc_lists_fini(&s.lists);
    return st == OSC_OK ? st : osc_fail(err, st, "kernels: %s", osc_status_text(st));
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    (void)o;
    (void)err;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const double total_ns = (double)osc_result_get_int(r, i, TOTAL);
        const double weight = total_ns > 0 ? total_ns : 1;

        osc_result_set_num(r, i, MEAN, total_ns / (double)osc_result_get_int(r, i, CALLS));
        /* The column may be shown because of another rank or span. */
        if (osc_result_has(r, i, BLOCKS_SUM))
            osc_result_set_num(r, i, MEAN_BLOCKS,
                               osc_result_get_num(r, i, BLOCKS_SUM) / weight);
        if (osc_result_has(r, i, OCCUPANCY_SUM))
            osc_result_set_num(r, i, MEAN_OCCUPANCY,
                               osc_result_get_num(r, i, OCCUPANCY_SUM) / weight / 100);
    }
    return OSC_OK;
}

static const char *const groupings[] = {
    [BY_OPERATOR] = "op", [BY_CAUSE] = "cause", [BY_GRAPH] = "graph", NULL};

/* See table_columns.h. */
const uint32_t osc_column_kernels_name = NAME, osc_column_kernels_calls = CALLS,
               osc_column_kernels_total_ns = TOTAL,
               osc_column_kernels_tensor_cores = TENSOR_CORES;

static const struct osc_table_option *const options[] = {&osc_option_compat, NULL};

const struct osc_table_def osc_table_kernels = {
    .name = "kernels",
    .help = "Calls and time of every device kernel.",
    .source = "device work of kind kernel and their arguments; kernel view of "
              "torch-tb-profiler.",
    .rules = OSC_RULE_LINKS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sort_words = &osc_torch_words_of_device_work,
    .sorted_by = TOTAL + 1,
    .groupings = groupings,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_LINKS | OSC_FACT_FOREST, .map = map, .finish = finish),
};
