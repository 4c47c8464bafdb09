/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/operators.h"

#include "analysis/table_columns.h"
#include "analysis/table_registry.h"

#define MERGED                                                                               \
    " With --merge it is missing for operators that several ranks or spans have, since the " \
    "median of a whole does not follow from those of its parts."

enum {
    NAME,
    INPUT_SHAPE,
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
    PART_CALLS,
    PART_MEDIAN_HOST,
    PART_MEDIAN_DEVICE,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    [NAME] =
        {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0,
         "Name of the operator. Rows are host ranges of category cpu_op (operator, "
         "hpu_op) that are no step, data loader, optimizer or wrapper of data parallelism; "
         "an operator whose only child has its name counts once. Source: operator view of "
         "torch-tb-profiler."},
    [INPUT_SHAPE] =
        {"input_shape", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, OSC_COLUMN_OPTIONAL,
         "Sizes of the inputs, as the argument `Input Dims` has them; [] is a scalar, "
         "no tensor, or nothing recorded. With --group-by shape."},
    [CALL_STACK] =
        {"call_stack", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, OSC_COLUMN_OPTIONAL,
         "Python frames that called it, innermost first, as the argument `Call stack` "
         "has them; in a file without, the python_function events that hold it on its thread, "
         "the innermost 128 of them; missing where none was recorded. With --group-by stack."},
    [CALLS] = {"calls", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0, "How often it ran."},
    [DEVICE_SELF] =
        {"device_self_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,
         "Time of the kernels, copies and memsets that its own host calls launched: "
         "a plain sum, so that concurrent queues count each."},
    [DEVICE_TOTAL] = {"device_total_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,
                      "device_self_ns of it and of all operators inside of it; one that runs "
                      "inside another of the same name counts in both."},
    [HOST_SELF] = {"host_self_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,
                   "Time on the host less that of the ranges inside of it and of its calls of "
                   "the device runtime and driver."},
    [HOST_TOTAL] = {"host_total_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,
                    "Time on the host from start to end."},
    [TC_ELIGIBLE] = {"tc_eligible", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_OR, 0,
                     "Whether it can use Tensor Cores: by its name (convolutions, linear "
                     "layers, matrix products), or because an operator inside of it can, "
                     "or a kernel of its own did, in any call."},
    [TC_SELF_RATIO] =
        {"tc_self_ratio", OSC_TYPE_NUMBER, "ratio", OSC_MERGE_FINISH, 0,
         "Time of kernels that use Tensor Cores, by their names (see kernels.tensor_cores), "
         "/ device_self_ns; 0 without device time."},
    [TC_TOTAL_RATIO] =
        {"tc_total_ratio", OSC_TYPE_NUMBER, "ratio", OSC_MERGE_FINISH, 0,
         "The same of it and all operators inside of it / device_total_ns; 0 without device "
         "time."},
    [HAS_CALL_STACK] = {"has_call_stack", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_OR, 0,
                        "Whether any call has a Python stack; --group-by stack shows them."},
    [MEAN_HOST_SELF] = {"mean_host_self_ns", OSC_TYPE_NUMBER, "ns", OSC_MERGE_FINISH,
                        OSC_COLUMN_DEEP, "host_self_ns / calls."},
    [MEDIAN_HOST_SELF] = {"median_host_self_ns", OSC_TYPE_NUMBER, "ns", OSC_MERGE_FINISH,
                          OSC_COLUMN_DEEP,
                          "Median over the calls of their self time on the host." MERGED},
    [MAX_HOST_SELF] = {"max_host_self_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_MAX,
                       OSC_COLUMN_DEEP, "Longest self time of one call on the host."},
    [MEAN_DEVICE_SELF] = {"mean_device_self_ns", OSC_TYPE_NUMBER, "ns", OSC_MERGE_FINISH,
                          OSC_COLUMN_DEEP, "device_self_ns / calls."},
    [MEDIAN_DEVICE_SELF] = {"median_device_self_ns", OSC_TYPE_NUMBER, "ns", OSC_MERGE_FINISH,
                            OSC_COLUMN_DEEP,
                            "Median over the calls of their self time on devices, those that "
                            "launched nothing included." MERGED},
    [MAX_DEVICE_SELF] = {"max_device_self_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_MAX,
                         OSC_COLUMN_DEEP, "Longest self time of one call on devices."},
    [TC_SELF] = {"tc_self_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, OSC_COLUMN_HIDDEN,
                 "Part of device_self_ns in kernels that use Tensor Cores."},
    [TC_TOTAL] = {"tc_total_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, OSC_COLUMN_HIDDEN,
                  "Part of device_total_ns in kernels that use Tensor Cores."},
    [PART_CALLS] = {"part_calls", OSC_TYPE_INTEGER, NULL, OSC_MERGE_FIRST, OSC_COLUMN_HIDDEN,
                    "Calls that part_median_host_ns and part_median_device_ns are of."},
    [PART_MEDIAN_HOST] = {"part_median_host_ns", OSC_TYPE_NUMBER, "ns", OSC_MERGE_FIRST,
                          OSC_COLUMN_HIDDEN, "Median on the host over part_calls calls."},
    [PART_MEDIAN_DEVICE] = {"part_median_device_ns", OSC_TYPE_NUMBER, "ns", OSC_MERGE_FIRST,
                            OSC_COLUMN_HIDDEN, "Median on devices over part_calls calls."},
};

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

static void add_row(const struct osc_trace *t, const struct osc_options *o,
                    const struct osc_operators *ops, const struct osc_operator_group *g,
                    struct osc_result *out)
{
    osc_result_row(out);
    osc_result_str(out, NAME, osc_trace_str(t, g->name));
    if (o->by_shape)
        osc_result_str(out, INPUT_SHAPE,
                       g->shape.v == 0 ? OSC_STR("[]")
                                       : osc_intern_str(&ops->lists.texts, g->shape));
    if (o->by_stack)
        set_stack(t, ops, g, out);
    osc_result_int(out, CALLS, (int64_t)g->n_calls);
    osc_result_int(out, DEVICE_SELF, g->device_self_ns);
    osc_result_int(out, DEVICE_TOTAL, g->device_total_ns);
    osc_result_int(out, HOST_SELF, g->host_self_ns);
    osc_result_int(out, HOST_TOTAL, g->host_total_ns);
    osc_result_bool(out, TC_ELIGIBLE, g->is_eligible);
    osc_result_bool(out, HAS_CALL_STACK, g->has_stack);
    osc_result_int(out, MAX_HOST_SELF, g->max_host_self_ns);
    osc_result_int(out, MAX_DEVICE_SELF, g->max_device_self_ns);
    osc_result_int(out, TC_SELF, g->tc_self_ns);
    osc_result_int(out, TC_TOTAL, g->tc_total_ns);
    osc_result_int(out, PART_CALLS, (int64_t)g->n_calls);
    osc_result_num(out, PART_MEDIAN_HOST, g->median_host_self_ns);
    osc_result_num(out, PART_MEDIAN_DEVICE, g->median_device_self_ns);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct osc_operators ops = {0};
    const osc_status st = osc_operators_make(t, o, &ops);

    if (st != OSC_OK)
        return osc_fail(err, st, "operators: %s", osc_status_text(st));
    if (o->by_shape)
        osc_result_show(out, INPUT_SHAPE);
    if (o->by_stack)
        osc_result_show(out, CALL_STACK);
    for (size_t g = 0; g < ops.n_groups; g++)
        add_row(t, o, &ops, &ops.groups[g], out);
    if (ops.n_groups == 0)
        osc_result_note(out, "no operators: no host range of category cpu_op in the trace");
    if (osc_trace_facts(t)->links.n_works == 0)
        out->sorted_by = HOST_SELF + 1;
    osc_operators_fini(&ops);
    return out->status;
}

static double ratio(int64_t part, int64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    (void)o;
    (void)err;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const int64_t calls = osc_result_get_int(r, i, CALLS);
        const int64_t device_ns = osc_result_get_int(r, i, DEVICE_SELF);

        osc_result_set_num(r, i, TC_SELF_RATIO,
                           ratio(osc_result_get_int(r, i, TC_SELF), device_ns));
        osc_result_set_num(
            r, i, TC_TOTAL_RATIO,
            ratio(osc_result_get_int(r, i, TC_TOTAL), osc_result_get_int(r, i, DEVICE_TOTAL)));
        osc_result_set_num(r, i, MEAN_HOST_SELF,
                           ratio(osc_result_get_int(r, i, HOST_SELF), calls));
        osc_result_set_num(r, i, MEAN_DEVICE_SELF, ratio(device_ns, calls));
        if (osc_result_get_int(r, i, PART_CALLS) != calls)
            continue; /* of several parts: see MERGED */
        osc_result_set_num(r, i, MEDIAN_HOST_SELF, osc_result_get_num(r, i, PART_MEDIAN_HOST));
        osc_result_set_num(r, i, MEDIAN_DEVICE_SELF,
                           osc_result_get_num(r, i, PART_MEDIAN_DEVICE));
    }
    return OSC_OK;
}

static const char *const groupings[] = {"shape", "stack", "shape,stack", NULL};

/* See table_columns.h. */
const uint32_t osc_column_operators_name = NAME, osc_column_operators_calls = CALLS,
               osc_column_operators_device_self_ns = DEVICE_SELF,
               osc_column_operators_host_self_ns = HOST_SELF;

const struct osc_table_def osc_table_operators = {
    .name = "operators",
    .help = "Calls, host and device time of every operator, as TensorBoard's plugin sums them.",
    .source = "host ranges of category cpu_op and the device work of their calls; operator "
              "view of torch-tb-profiler.",
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sort = "device_self_ns",
    .groupings = groupings,
    .facts = OSC_FACT_LINKS,
    .takes = OSC_TAKES_COMPAT,
    .map = map,
    .finish = finish,
};
