/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/operators.h"

#include "analysis/dtypes.h"
#include "analysis/shared_options.h"
#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "base/mem.h"
#include "base/percent.h"
#include "model/producer.h"
#include "table/row_sort.h"

enum {
    NAME,
    INPUT_SHAPE,
    INPUT_DTYPES,
    CALL_STACK,
    CALLS,
    DEVICE_SELF,
    DEVICE_TOTAL,
    HOST_SELF,
    HOST_TOTAL,
    TC_ELIGIBLE,
    TC_SELF_RATIO,
    TC_TOTAL_RATIO,
    HAS_CALL_STACK,
    MEAN_HOST_SELF,
    MEDIAN_HOST_SELF,
    MAX_HOST_SELF,
    MEAN_DEVICE_SELF,
    MEDIAN_DEVICE_SELF,
    MAX_DEVICE_SELF,
    TC_SELF,
    TC_TOTAL,
    UNKNOWN_SELF,
    UNKNOWN_TOTAL,
    ASYNC_CALLS,
    PART_CALLS,
    PART_MEDIAN_HOST,
    PART_MEDIAN_DEVICE,
    REST,
    ORDER,
    N_COLUMNS
};

/* What rows can be grouped by. */
enum { BY_SHAPE, BY_DTYPE, BY_STACK };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, 0, OSC_RULE_OPERATORS | OSC_RULE_NAMES,
               "Name of the operator. Rows are host ranges of kind operator other than steps, "
               "waits for data, optimizer steps and wrappers of data parallelism.",
               .source = "operator view of torch-tb-profiler."),
    OSC_COLUMN(INPUT_SHAPE, "input_shape", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, 0,
               "Sizes of the inputs as argument `Input Dims` has them; [] is a scalar, no "
               "tensor, or nothing recorded. Present with --group-by shape.",
               .grouping = "shape"),
    OSC_COLUMN(INPUT_DTYPES, "input_dtypes", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, 0,
               OSC_INPUT_DTYPES_HELP " Present with --group-by dtype, if any were recorded.",
               .source = "argument `Input type` of the operators.", .grouping = "dtype"),
    OSC_COLUMN(CALL_STACK, "call_stack", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL,
               OSC_RULE_STACKS,
               "Python frames that called the operator, innermost first, from argument `Call "
               "stack`. In a file without that argument: the innermost 128 python_function "
               "events that contain the operator on its thread. Missing if nothing was "
               "recorded. Present with --group-by stack.",
               .grouping = "stack"),
    OSC_COLUMN(CALLS, "calls", INTEGER, NULL, SUM, 0, OSC_RULE_OPERATORS, "Number of calls."),
    OSC_COLUMN(
        DEVICE_SELF, "device_self_ns", INTEGER, "ns", SUM, 0,
        OSC_RULE_OPERATORS | OSC_RULE_LINKS,
        "Sum of the durations of the kernels, copies and memsets that the operator's own host "
        "calls launched. Work that runs at the same time on several queues counts each time."),
    OSC_COLUMN(DEVICE_TOTAL, "device_total_ns", INTEGER, "ns", SUM, OSC_COLUMN_MINOR,
               OSC_RULE_OPERATORS | OSC_RULE_LINKS,
               "device_self_ns of the operator + that of all operators inside it. An operator "
               "inside another one of the same name counts in both."),
    OSC_COLUMN(HOST_SELF, "host_self_ns", INTEGER, "ns", SUM, 0, OSC_RULE_OPERATORS,
               "Host time - durations of the ranges inside it - durations of its calls of the "
               "device runtime and driver. An asynchronous call adds nothing."),
    OSC_COLUMN(HOST_TOTAL, "host_total_ns", INTEGER, "ns", SUM, 0, OSC_RULE_OPERATORS,
               "Host time: sum over the calls of (end - start)."),
    OSC_COLUMN(TC_ELIGIBLE, "tc_eligible", BOOLEAN, NULL, OR, OSC_COLUMN_MINOR,
               OSC_RULE_TENSOR_CORES,
               "Whether the operator can use Tensor Cores: by its name (convolutions, linear "
               "layers, matrix products), or because in any call an operator inside it can or "
               "one of its own kernels did."),
    OSC_COLUMN(
        TC_SELF_RATIO, "tc_self_ratio", NUMBER, "ratio", FINISH, OSC_COLUMN_MINOR,
        OSC_RULE_TENSOR_CORES | OSC_RULE_OPERATORS,
        "Time of its own kernels that use Tensor Cores (tensor_cores in table kernels) "
        "/ device_self_ns; 0 without device time. Missing if no rule covers the names of "
        "more than 1 % of it, or of any if it would be 0."),
    OSC_COLUMN(TC_TOTAL_RATIO, "tc_total_ratio", NUMBER, "ratio", FINISH, OSC_COLUMN_MINOR,
               OSC_RULE_TENSOR_CORES | OSC_RULE_OPERATORS,
               "Time of kernels that use Tensor Cores, launched by the operator and all "
               "operators inside it / device_total_ns; 0 without device time. Missing if no "
               "rule covers the names of more than 1 % of it, or of any if it would be 0."),
    OSC_COLUMN(HAS_CALL_STACK, "has_call_stack", BOOLEAN, NULL, OR, OSC_COLUMN_MINOR,
               OSC_RULE_STACKS,
               "Whether any call has a Python stack; --group-by stack shows it."),
    OSC_COLUMN(MEAN_HOST_SELF, "mean_host_self_ns", NUMBER, "ns", FINISH, OSC_COLUMN_DEEP,
               OSC_RULE_OPERATORS, "host_self_ns / synchronous calls; missing without any."),
    OSC_COLUMN(MEDIAN_HOST_SELF, "median_host_self_ns", NUMBER, "ns", FINISH, OSC_COLUMN_DEEP,
               OSC_RULE_OPERATORS | OSC_RULE_MERGE,
               "Median over the synchronous calls of their host self time."),
    OSC_COLUMN(MAX_HOST_SELF, "max_host_self_ns", INTEGER, "ns", MAX, OSC_COLUMN_DEEP,
               OSC_RULE_OPERATORS, "Longest host self time of one synchronous call."),
    OSC_COLUMN(MEAN_DEVICE_SELF, "mean_device_self_ns", NUMBER, "ns", FINISH, OSC_COLUMN_DEEP,
               OSC_RULE_OPERATORS | OSC_RULE_LINKS,
               "device_self_ns / synchronous calls; missing without any."),
    OSC_COLUMN(
        MEDIAN_DEVICE_SELF, "median_device_self_ns", NUMBER, "ns", FINISH, OSC_COLUMN_DEEP,
        OSC_RULE_OPERATORS | OSC_RULE_LINKS | OSC_RULE_MERGE,
        "Median over the synchronous calls of their device self time, those that launched "
        "nothing included."),
    OSC_COLUMN(MAX_DEVICE_SELF, "max_device_self_ns", INTEGER, "ns", MAX, OSC_COLUMN_DEEP,
               OSC_RULE_OPERATORS | OSC_RULE_LINKS,
               "Longest device self time of one synchronous call."),
    OSC_COLUMN(TC_SELF, "tc_self_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Part of device_self_ns in kernels that use Tensor Cores."),
    OSC_COLUMN(TC_TOTAL, "tc_total_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Part of device_total_ns in kernels that use Tensor Cores."),
    OSC_COLUMN(UNKNOWN_SELF, "tc_unknown_self_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Part of device_self_ns in kernels whose names no rule covers."),
    OSC_COLUMN(UNKNOWN_TOTAL, "tc_unknown_total_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Part of device_total_ns in kernels whose names no rule covers."),
    OSC_COLUMN(ASYNC_CALLS, "async_calls", INTEGER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "Calls that are asynchronous."),
    OSC_COLUMN(PART_CALLS, "part_calls", INTEGER, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "Calls that part_median_host_ns and part_median_device_ns are of."),
    OSC_COLUMN(PART_MEDIAN_HOST, "part_median_host_ns", NUMBER, "ns", FIRST, OSC_COLUMN_HIDDEN,
               0, "Median on the host over part_calls calls."),
    OSC_COLUMN(PART_MEDIAN_DEVICE, "part_median_device_ns", NUMBER, "ns", FIRST,
               OSC_COLUMN_HIDDEN, 0, "Median on devices over part_calls calls."),
    OSC_COLUMN(REST, "rest", STRING, NULL, KEY, OSC_COLUMN_HIDDEN, 0,
               "What launched the device work of a row that is no operator."),
    OSC_COLUMN(ORDER, "order", INTEGER, NULL, FINISH, OSC_COLUMN_HIDDEN, 0,
               "Rows from the end, where only those that are no operators have device work: "
               "first these, then operators by host_self_ns."),
};

static const char no_operators[] = "no operators: no host range of kind operator in the trace";

static void set_stack(const struct osc_trace *t, const struct osc_operators *ops,
                      const struct osc_operator_group *g, struct osc_result *out)
{
    struct osc_strbuf text = {0};

    if (g->stack.v != 0) {
        osc_result_str(out, CALL_STACK, osc_trace_str(t, g->stack));
    } else if (g->rebuilt != 0) {
        osc_stacks_text(&ops->stacks, t, g->rebuilt, &text);
        osc_result_str(out, CALL_STACK, (struct osc_str){text.s, (uint32_t)text.len});
        if (text.status != OSC_OK)
            out->status = text.status;
        osc_strbuf_fini(&text);
    }
}

/* Whether a rule says which operators of T can use Tensor Cores: those of PyTorch, and what
 * recordings call as it does. */
static bool knows_operators(const struct osc_trace *t)
{
    return osc_producer_is_torch((enum osc_producer)t->producer) ||
           t->producer == OSC_PRODUCER_OPSCOPE;
}

static void add_row(const struct osc_trace *t, const struct osc_options *o,
                    const struct osc_operators *ops, const struct osc_operator_group *g,
                    struct osc_result *out)
{
    osc_result_row(out);
    osc_result_str(out, NAME, osc_trace_str(t, g->name));
    if (osc_is_grouped(o, BY_SHAPE))
        osc_result_str(out, INPUT_SHAPE,
                       g->shape.v == 0 ? OSC_STR("[]")
                                       : osc_intern_str(&ops->lists.texts, g->shape));
    if (g->dtypes != 0)
        osc_result_str(out, INPUT_DTYPES, osc_lists_elements(&ops->types, g->dtypes));
    if (osc_is_grouped(o, BY_STACK))
        set_stack(t, ops, g, out);
    osc_result_int(out, CALLS, (int64_t)g->n_calls);
    osc_result_int(out, DEVICE_SELF, g->device_self_ns);
    osc_result_int(out, DEVICE_TOTAL, g->device_total_ns);
    osc_result_int(out, HOST_SELF, g->host_self_ns);
    osc_result_int(out, HOST_TOTAL, g->host_total_ns);
    if (knows_operators(t))
        osc_result_bool(out, TC_ELIGIBLE, g->is_eligible);
    osc_result_bool(out, HAS_CALL_STACK, g->has_stack);
    osc_result_int(out, TC_SELF, g->tc_self_ns);
    osc_result_int(out, TC_TOTAL, g->tc_total_ns);
    osc_result_int(out, UNKNOWN_SELF, g->unknown_self_ns + !knows_operators(t));
    osc_result_int(out, UNKNOWN_TOTAL, g->unknown_total_ns + !knows_operators(t));
    osc_result_int(out, ASYNC_CALLS, (int64_t)g->n_async);
    osc_result_int(out, PART_CALLS, (int64_t)g->n_calls);
    if (g->n_async == g->n_calls)
        return;
    osc_result_int(out, MAX_HOST_SELF, g->max_host_self_ns);
    osc_result_int(out, MAX_DEVICE_SELF, g->max_device_self_ns);
    osc_result_num(out, PART_MEDIAN_HOST, g->median_host_self_ns);
    osc_result_num(out, PART_MEDIAN_DEVICE, g->median_device_self_ns);
}

/* Names of rows that are no operators: no operator has angle brackets around it. */
static const char *const rest_names[OSC_LAUNCHERS] = {
    [OSC_LAUNCHER_GRAPH] = "<graph launches>",
    [OSC_LAUNCHER_CALL] = "<runtime calls outside operators>",
    [OSC_LAUNCHER_NONE] = "<no launch recorded>",
};

/* Add the device work that no operator launched, so that people see all of it. */
static void add_rest(const struct osc_operators *ops, struct osc_result *out)
{
    for (int l = OSC_LAUNCHER_OPERATOR + 1; l < OSC_LAUNCHERS; l++) {
        const struct osc_operator_rest *const rest = &ops->rest[l];

        if (rest->n_works == 0)
            continue;
        osc_result_row(out);
        osc_result_str(out, NAME, osc_str_c(rest_names[l]));
        osc_result_str(out, REST, osc_str_c(osc_launcher_text((enum osc_launcher)l)));
        osc_result_int(out, CALLS,
                       (int64_t)(l == OSC_LAUNCHER_NONE ? rest->n_works : rest->n_calls));
        osc_result_int(out, DEVICE_SELF, rest->device_ns);
        osc_result_int(out, DEVICE_TOTAL, rest->device_ns);
    }
}

/* Whether any operator launched work that took time. */
static bool has_device_time(const struct osc_operators *ops)
{
    for (size_t g = 0; g < ops->n_groups; g++) {
        if (ops->groups[g].device_self_ns > 0)
            return true;
    }
    return false;
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct osc_operators ops = {0};
    const struct osc_operators_how how = {
        .by_shape = osc_is_grouped(o, BY_SHAPE),
        .by_dtype = osc_is_grouped(o, BY_DTYPE),
        .by_stack = osc_is_grouped(o, BY_STACK),
        .has_rest = o->has_rest,
        .compat_tb = osc_is_compat_tb(o),
    };
    const osc_status st = osc_operators_make(t, &how, &ops);

    if (st != OSC_OK)
        return osc_fail(err, st, "operators: %s", osc_status_text(st));
    if (osc_is_grouped(o, BY_SHAPE))
        osc_result_show(out, INPUT_SHAPE);
    if (osc_is_grouped(o, BY_STACK))
        osc_result_show(out, CALL_STACK);
    for (size_t g = 0; g < ops.n_groups; g++) {
        if (ops.groups[g].dtypes != 0)
            osc_result_show(out, INPUT_DTYPES);
        add_row(t, o, &ops, &ops.groups[g], out);
    }
    if (o->has_rest && !osc_is_compat_tb(o))
        add_rest(&ops, out);
    if (out->n_rows == 0)
        osc_result_why_empty(out, no_operators);
    if (!has_device_time(&ops))
        out->sorted_by = HOST_SELF + 1;
    osc_operators_fini(&ops);
    return out->status;
}

static double ratio(int64_t part, int64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

/* Set column TO of row I, the part of WHOLE_NS that is KNOWN to use Tensor Cores, unless too
 * much of it is UNKNOWN. */
static void set_tc_ratio(struct osc_result *r, uint64_t i, uint32_t to, uint32_t known,
                         uint32_t unknown, int64_t whole_ns)
{
    const int64_t ns = osc_result_get_int(r, i, known);

    if (osc_tensor_share_is_known(ns, osc_result_get_int(r, i, unknown), whole_ns))
        osc_result_set_num(r, i, to, ratio(ns, whole_ns));
}

/* What has the device time of the rows of a table. */
struct owners {
    double own_ns, rest_ns;
    uint64_t n_operators, n_rest;
};

static struct owners find_owners(const struct osc_result *r)
{
    struct owners w = {0};

    for (uint64_t i = 0; i < r->n_rows; i++) {
        const double ns = (double)osc_result_get_int(r, i, DEVICE_SELF);
        const bool is_rest = osc_result_has(r, i, REST);

        *(is_rest ? &w.rest_ns : &w.own_ns) += ns;
        *(is_rest ? &w.n_rest : &w.n_operators) += 1;
    }
    return w;
}

/* Say what part of the device time the rows of operators have. */
static void note_owners(struct osc_result *r, const struct owners *w)
{
    struct osc_strbuf share = {0};

    osc_percent_add(&share, w->own_ns / (w->own_ns + w->rest_ns), 1);
    if (w->n_operators == 0)
        osc_result_note(r, "%s", no_operators);
    else if (w->own_ns + w->rest_ns > 0 && share.status == OSC_OK)
        osc_result_note(r, "operators own %s of the device time; rows in <> have the rest",
                        w->own_ns > 0 ? share.s : "none");
    osc_strbuf_fini(&share);
}

/* Let the rows of R that are no operators come first, then operators by their host time. */
static osc_status sort_by_host(struct osc_result *r, const struct owners *w)
{
    const struct osc_sort_key key = {.column = HOST_SELF, .divisor = -1};
    uint32_t *order;
    const osc_status st = osc_sort_rows(r, &key, &order);

    if (st != OSC_OK)
        return st;
    for (uint64_t k = 0; k < r->n_rows; k++) {
        const int64_t device_ns = osc_result_get_int(r, order[k], DEVICE_SELF);
        const int64_t before = (int64_t)w->n_operators;

        if (!osc_result_has(r, order[k], REST))
            osc_result_set_int(r, order[k], ORDER, before - (int64_t)k);
        else
            osc_result_set_int(r, order[k], ORDER,
                               device_ns < INT64_MAX - before ? before + 1 + device_ns
                                                              : INT64_MAX);
    }
    osc_free(order);
    r->sorted_by = ORDER + 1;
    return OSC_OK;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    const struct owners w = find_owners(r);

    if (o->has_rest && w.n_rest > 0) {
        const osc_status st = w.own_ns > 0 ? OSC_OK : sort_by_host(r, &w);

        if (st != OSC_OK)
            return osc_fail(err, st, "operators: %s", osc_status_text(st));
        note_owners(r, &w);
    }
    if (osc_is_grouped(o, BY_DTYPE))
        osc_dtypes_note(r, INPUT_DTYPES);
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const int64_t calls = osc_result_get_int(r, i, CALLS);
        const int64_t sync_calls = calls - osc_result_get_int(r, i, ASYNC_CALLS);
        const int64_t device_ns = osc_result_get_int(r, i, DEVICE_SELF);

        if (osc_result_has(r, i, REST))
            continue;
        set_tc_ratio(r, i, TC_SELF_RATIO, TC_SELF, UNKNOWN_SELF, device_ns);
        set_tc_ratio(r, i, TC_TOTAL_RATIO, TC_TOTAL, UNKNOWN_TOTAL,
                     osc_result_get_int(r, i, DEVICE_TOTAL));
        if (sync_calls == 0)
            continue;
        osc_result_set_num(r, i, MEAN_HOST_SELF,
                           ratio(osc_result_get_int(r, i, HOST_SELF), sync_calls));
        osc_result_set_num(r, i, MEAN_DEVICE_SELF, ratio(device_ns, sync_calls));
        if (osc_result_get_int(r, i, PART_CALLS) != calls)
            continue; /* merged from several parts: see the rule "Merging" */
        osc_result_set_num(r, i, MEDIAN_HOST_SELF, osc_result_get_num(r, i, PART_MEDIAN_HOST));
        osc_result_set_num(r, i, MEDIAN_DEVICE_SELF,
                           osc_result_get_num(r, i, PART_MEDIAN_DEVICE));
    }
    return r->status;
}

static const char *const groupings[] = {
    [BY_SHAPE] = "shape", [BY_DTYPE] = "dtype", [BY_STACK] = "stack",
    "shape,dtype",        "shape,stack",        NULL};

/* See table_columns.h. */
const uint32_t osc_column_operators_name = NAME, osc_column_operators_calls = CALLS,
               osc_column_operators_device_self_ns = DEVICE_SELF,
               osc_column_operators_host_self_ns = HOST_SELF, osc_column_operators_rest = REST;

static const struct osc_table_option *const options[] = {&osc_option_compat, NULL};

const struct osc_table_def osc_table_operators = {
    .name = "operators",
    .help = "Calls, host and device time of every operator, as TensorBoard's plugin adds them "
            "up. Sorted by host_self_ns if no operator launched device work.",
    .source = "host ranges of kind operator and the device work of their calls; operator "
              "view of torch-tb-profiler.",
    .rules = OSC_RULE_OPERATORS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sort_words = &osc_torch_words,
    .sorted_by = DEVICE_SELF + 1,
    .groupings = groupings,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_LINKS, .map = map, .finish = finish),
};
