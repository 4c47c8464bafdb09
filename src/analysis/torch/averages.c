/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/averages.h"

#include "analysis/census.h"
#include "analysis/torch/averages_groups.h"
#include "analysis/torch/averages_tree.h"
#include "analysis/torch/torch_text.h"
#include "derive/derive.h"

static const struct osc_column columns[OSC_AVERAGES_COLUMNS] = {
    [OSC_AVERAGES_NAME] =
        {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0,
         "Name of the operator, annotation, Python function, runtime call, kernel or copy; "
         "ProfilerStep#N is ProfilerStep*, and [memory] stands for allocations and releases "
         "outside of all ranges. A range inside a range of its own name that has no other "
         "child "
         "is folded into it. Source: the name of events, as torch's key_averages()."},
    [OSC_AVERAGES_CALLS] =
        {"calls", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0,
         "How many events are in the row, folded ones left out. torch: count, # of Calls."},
    [OSC_AVERAGES_SELF_CPU_NS] =
        {"self_cpu_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,
         "Time on the host without that of children: sum over the calls of the duration less "
         "the durations of the direct children on the same thread. Nothing is clamped, so "
         "overlapping ranges can make it negative; 0 for asynchronous ranges and device rows. "
         "torch: self_cpu_time_total."},
    [OSC_AVERAGES_CPU_NS] =
        {"cpu_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,
         "Time on the host with children: sum over the calls of end less start; nested calls "
         "count again. torch: cpu_time_total."},
    [OSC_AVERAGES_SELF_DEVICE_NS] =
        {"self_device_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,
         "Time on devices: of a kernel, copy or memset its own duration; of an operator the "
         "sum "
         "of the device work that was launched while it was the innermost operator of the "
         "launching thread. So device work counts in its own row and in that of its operator. "
         "torch: self_device_time_total."},
    [OSC_AVERAGES_DEVICE_NS] =
        {"device_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,
         "Time on devices with children: self_device_ns and the device time of all that the "
         "calls contain. torch: device_time_total."},
    [OSC_AVERAGES_SELF_CPU_BYTES] =
        {"self_cpu_bytes", OSC_TYPE_INTEGER, "bytes", OSC_MERGE_SUM, OSC_COLUMN_OPTIONAL,
         "cpu_bytes less those of the direct children. torch: self_cpu_memory_usage."},
    [OSC_AVERAGES_CPU_BYTES] =
        {"cpu_bytes", OSC_TYPE_INTEGER, "bytes", OSC_MERGE_SUM, OSC_COLUMN_OPTIONAL,
         "Host memory allocated less released between start and end of the calls, both "
         "included, on any thread. Source: [memory] records of profile_memory=True. "
         "torch: cpu_memory_usage."},
    [OSC_AVERAGES_SELF_DEVICE_BYTES] =
        {"self_device_bytes", OSC_TYPE_INTEGER, "bytes", OSC_MERGE_SUM, OSC_COLUMN_OPTIONAL,
         "device_bytes less those of the direct children. torch: self_device_memory_usage."},
    [OSC_AVERAGES_DEVICE_BYTES] =
        {"device_bytes", OSC_TYPE_INTEGER, "bytes", OSC_MERGE_SUM, OSC_COLUMN_OPTIONAL,
         "Device memory allocated less released between start and end of the calls, both "
         "included, on any thread. Source: [memory] records of profile_memory=True. "
         "torch: device_memory_usage."},
    [OSC_AVERAGES_FLOPS] =
        {"flops", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, OSC_COLUMN_OPTIONAL,
         "Floating-point operations of all calls together, estimated from input shapes for mm, "
         "addmm, bmm, baddbmm, conv2d, mul and add; a multiplication and its addition count as "
         "two. Source: Input Dims and Concrete Inputs of with_flops=True."},
    [OSC_AVERAGES_INPUT_SHAPES] =
        {"input_shapes", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, OSC_COLUMN_OPTIONAL,
         "Sizes of the inputs as Python prints them, [] for what is no tensor or a list of "
         "tensors; part of the key with --group-by shape. Source: Input Dims."},
    [OSC_AVERAGES_STACK] =
        {"stack", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, OSC_COLUMN_OPTIONAL,
         "The first N frames of the call stack, innermost first, as a JSON list; of a backward "
         "function and all below it, that of its forward operator. Part of the key with "
         "--group-by stack:N. Source: Call stack, Sequence number, Fwd thread id, fwdbwd "
         "flows."},
    [OSC_AVERAGES_OVERLOAD_NAME] =
        {"overload_name", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, OSC_COLUMN_OPTIONAL,
         "Overload of the operator, such as Tensor; torch does not write it to files."},
    [OSC_AVERAGES_IS_ASYNC] =
        {"is_async", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_FIRST, OSC_COLUMN_OPTIONAL,
         "True for annotations of process groups (gloo:, nccl:, mpi:, ucc:, xccl:), which may "
         "end on another thread, and for what says so by `Is asynchronous`: they have a total, "
         "no self time, no parent and no children."},
    [OSC_AVERAGES_IS_USER_ANNOTATION] =
        {"is_user_annotation", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_KEY, 0,
         "True for ranges that the program named itself (record_function, steps) and their "
         "copies on a device. Source: category user_annotation or gpu_user_annotation."},
    [OSC_AVERAGES_DEVICE_TYPE] =
        {"device_type", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0,
         "Where the events ran, as torch says it: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1."},
    [OSC_AVERAGES_SELF_CPU_US] = {"self_cpu_us", OSC_TYPE_NUMBER, NULL, OSC_MERGE_SUM,
                                  OSC_COLUMN_HIDDEN, "torch's double of self_cpu_time_total."},
    [OSC_AVERAGES_CPU_US] = {"cpu_us", OSC_TYPE_NUMBER, NULL, OSC_MERGE_SUM, OSC_COLUMN_HIDDEN,
                             "torch's double of cpu_time_total."},
    [OSC_AVERAGES_IS_TOP_LEVEL] = {"is_top_level", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_FIRST,
                                   OSC_COLUMN_HIDDEN, "The first event has no parent."},
    [OSC_AVERAGES_DEVICE] = {"device", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST,
                             OSC_COLUMN_HIDDEN, "The word for devices in titles."},
};

/* torch's word for the type of a row's device. */
static struct osc_str device_type(const struct osc_avg_tree *tree, uint32_t flags)
{
    static const char *const types[][2] = {
        {"cuda", "CUDA"}, {"xpu", "XPU"}, {"mtia", "MTIA"}, {"hpu", "HPU"}, {"hip", "HIP"},
    };
    const struct osc_str family = osc_avg_family(tree, flags);

    if (!(flags & OSC_AVG_DEVICE))
        return OSC_STR("CPU");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (osc_str_eq(family, osc_str_c(types[i][0])))
            return osc_str_c(types[i][1]);
    }
    return OSC_STR("PrivateUse1"); /* a backend of its own name */
}

static void set_bytes(struct osc_result *out, const struct osc_avg_group *g, bool has_device)
{
    osc_result_int(out, OSC_AVERAGES_SELF_CPU_BYTES, osc_wide_nearest(g->self_cpu_bytes));
    osc_result_int(out, OSC_AVERAGES_CPU_BYTES, osc_wide_nearest(g->cpu_bytes));
    if (has_device) {
        osc_result_int(out, OSC_AVERAGES_SELF_DEVICE_BYTES,
                       osc_wide_nearest(g->self_device_bytes));
        osc_result_int(out, OSC_AVERAGES_DEVICE_BYTES, osc_wide_nearest(g->device_bytes));
    }
}

/* What all rows of one table have in common. */
struct emission {
    const struct osc_avg_tree *tree;
    const struct osc_avg_groups *groups;
    bool has_memory, has_device_memory;
};

static void emit_row(const struct emission *e, const struct osc_avg_group *g,
                     struct osc_result *out)
{
    osc_result_row(out);
    osc_result_str(out, OSC_AVERAGES_NAME, e->tree->names[g->name].text);
    osc_result_int(out, OSC_AVERAGES_CALLS, g->calls);
    osc_result_int(out, OSC_AVERAGES_SELF_CPU_NS, g->self_cpu_ns);
    osc_result_int(out, OSC_AVERAGES_CPU_NS, g->cpu_ns);
    osc_result_int(out, OSC_AVERAGES_SELF_DEVICE_NS, g->self_device_ns);
    osc_result_int(out, OSC_AVERAGES_DEVICE_NS, g->device_ns);
    if (e->has_memory)
        set_bytes(out, g, e->has_device_memory);
    if (e->groups->with_flops)
        osc_result_int(out, OSC_AVERAGES_FLOPS, (int64_t)g->flops);
    if (e->groups->by_shape)
        osc_result_str(out, OSC_AVERAGES_INPUT_SHAPES, osc_avg_group_shapes(e->groups, g));
    if (e->groups->by_stack)
        osc_result_str(out, OSC_AVERAGES_STACK,
                       osc_avg_stack_text(&e->groups->stacks, g->stack));
    osc_result_bool(out, OSC_AVERAGES_IS_ASYNC, (g->flags & OSC_AVG_ASYNC) != 0);
    osc_result_bool(out, OSC_AVERAGES_IS_USER_ANNOTATION, (g->flags & OSC_AVG_ANNOTATION) != 0);
    osc_result_str(out, OSC_AVERAGES_DEVICE_TYPE, device_type(e->tree, g->flags));
    osc_result_num(out, OSC_AVERAGES_SELF_CPU_US, g->self_cpu_us);
    osc_result_num(out, OSC_AVERAGES_CPU_US, g->cpu_us);
    osc_result_bool(out, OSC_AVERAGES_IS_TOP_LEVEL, g->is_top_level);
    if (e->tree->has_queue)
        osc_result_str(out, OSC_AVERAGES_DEVICE, e->tree->families[0]);
}

static bool any_device_bytes(const struct osc_avg_groups *groups)
{
    for (size_t i = 0; i < groups->n; i++) {
        if (groups->all[i].device_bytes != 0 || groups->all[i].self_device_bytes != 0)
            return true;
    }
    return false;
}

static void emit(const struct osc_avg_tree *tree, const struct osc_avg_groups *groups,
                 const struct osc_options *o, struct osc_result *out)
{
    const struct emission e = {tree, groups, tree->has_memory, any_device_bytes(groups)};

    for (size_t i = 0; i < groups->n; i++) {
        if (!o->no_python || !(groups->all[i].flags & OSC_AVG_PYTHON))
            emit_row(&e, &groups->all[i], out);
    }
    if (e.has_memory) {
        osc_result_show(out, OSC_AVERAGES_SELF_CPU_BYTES);
        osc_result_show(out, OSC_AVERAGES_CPU_BYTES);
        if (e.has_device_memory) {
            osc_result_show(out, OSC_AVERAGES_SELF_DEVICE_BYTES);
            osc_result_show(out, OSC_AVERAGES_DEVICE_BYTES);
        }
    }
    if (groups->with_flops)
        osc_result_show(out, OSC_AVERAGES_FLOPS);
    if (groups->by_shape)
        osc_result_show(out, OSC_AVERAGES_INPUT_SHAPES);
    if (groups->by_stack)
        osc_result_show(out, OSC_AVERAGES_STACK);
    osc_result_show(out, OSC_AVERAGES_IS_ASYNC);
    if (groups->n == 0)
        osc_result_note(out, "no operators, annotations, Python functions or device work: "
                             "the trace has nothing that torch would average");
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    const struct osc_avg_grouping how = {
        .by_shape = o->by_shape,
        .by_stack = o->by_stack,
        .stack_depth = o->stack_depth,
        .with_flops = osc_trace_flag(t, "with_flops", false),
    };
    struct osc_avg_tree tree = {0};
    struct osc_avg_groups groups = {0};
    osc_status st = osc_avg_tree_build(&tree, t, err);

    if (st != OSC_OK)
        goto out;
    st = osc_avg_groups_build(&groups, &tree, &how);
    if (st != OSC_OK) {
        osc_fail(err, st, "cannot group averages: %s", osc_status_text(st));
        goto out;
    }
    emit(&tree, &groups, o, out);
    st = out->status;
out:
    osc_avg_groups_fini(&groups);
    osc_avg_tree_fini(&tree);
    return st;
}

static const char *const groupings[] = {"shape", "stack:N", "shape,stack:N", NULL};

const struct osc_table_def osc_table_averages = {
    .name = "averages",
    .help =
        "What torch's key_averages() gives: operators, annotations, Python functions, runtime "
        "calls and device work by name, with host and device time, memory and FLOPs.",
    .source = "the events, by the rules of torch 2.13 (torch.autograd.profiler_util, "
              "EventList.key_averages).",
    .columns = columns,
    .n_columns = OSC_AVERAGES_COLUMNS,
    .groupings = groupings,
    .facts = OSC_FACT_LINKS,
    .takes = OSC_TAKES_NO_PYTHON,
    .map = map,
    .text = osc_torch_text,
};
