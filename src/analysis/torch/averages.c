/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/averages.h"

#include "analysis/census.h"
#include "analysis/dtypes.h"
#include "analysis/shared_options.h"
#include "analysis/torch/averages_columns.h"
#include "analysis/torch/averages_groups.h"
#include "analysis/torch/averages_tree.h"
#include "analysis/torch/torch_text.h"
#include "derive/derive.h"

/* What rows can be grouped by. */
enum { BY_SHAPE, BY_DTYPE, BY_STACK };

static const struct osc_table_option option_no_python = {
    .name = "no-python",
    .kind = OSC_OPTION_SWITCH,
    .help = "leave out Python functions",
};

static const struct osc_column columns[OSC_AVERAGES_COLUMNS] = {
    OSC_COLUMN(OSC_AVERAGES_NAME, "name", STRING, NULL, KEY, 0,
               OSC_RULE_AVERAGES | OSC_RULE_NAMES,
               "Name of the operator, annotation, Python function, runtime call, kernel or "
               "copy. ProfilerStep#N is ProfilerStep*. [memory] is the row of allocations and "
               "releases outside all ranges.",
               .source = "names of the events, as torch's key_averages() has them."),
    OSC_COLUMN(OSC_AVERAGES_CALLS, "calls", INTEGER, NULL, SUM, 0, OSC_RULE_AVERAGES,
               "Number of events in the row; folded events do not count. In torch: count, # of "
               "Calls."),
    OSC_COLUMN(OSC_AVERAGES_SELF_CPU_NS, "self_cpu_ns", INTEGER, "ns", SUM, 0,
               OSC_RULE_AVERAGES,
               "Host time without children: sum over the calls of (duration - durations of the "
               "direct children on the same thread). Can be negative; 0 for asynchronous "
               "ranges and device rows. In torch: self_cpu_time_total."),
    OSC_COLUMN(OSC_AVERAGES_CPU_NS, "cpu_ns", INTEGER, "ns", SUM, 0, OSC_RULE_AVERAGES,
               "Host time with children: sum over the calls of (end - start). Nested calls "
               "count again. In torch: cpu_time_total."),
    OSC_COLUMN(
        OSC_AVERAGES_SELF_DEVICE_NS, "self_device_ns", INTEGER, "ns", SUM, 0,
        OSC_RULE_TORCH_DEVICE | OSC_RULE_LINKS,
        "Device time. A kernel, copy or memset has its own duration; an operator has the sum "
        "of the device work that it launched itself. Device work therefore counts in its own "
        "row and in that of its operator. In torch: self_device_time_total."),
    OSC_COLUMN(OSC_AVERAGES_DEVICE_NS, "device_ns", INTEGER, "ns", SUM, 0,
               OSC_RULE_TORCH_DEVICE,
               "Device time with children: self_device_ns + device time of everything inside "
               "the calls. In torch: device_time_total."),
    OSC_COLUMN(
        OSC_AVERAGES_SELF_CPU_BYTES, "self_cpu_bytes", INTEGER, "bytes", SUM,
        OSC_COLUMN_OPTIONAL, OSC_RULE_TORCH_MEMORY,
        "cpu_bytes - cpu_bytes of the direct children. In torch: self_cpu_memory_usage."),
    OSC_COLUMN(OSC_AVERAGES_CPU_BYTES, "cpu_bytes", INTEGER, "bytes", SUM, OSC_COLUMN_OPTIONAL,
               OSC_RULE_TORCH_MEMORY,
               "Host memory allocated - released from start to end of the calls, on any "
               "thread. In torch: cpu_memory_usage.",
               .source = "[memory] records of profile_memory=True."),
    OSC_COLUMN(OSC_AVERAGES_SELF_DEVICE_BYTES, "self_device_bytes", INTEGER, "bytes", SUM,
               OSC_COLUMN_OPTIONAL, OSC_RULE_TORCH_MEMORY,
               "device_bytes - device_bytes of the direct children. In torch: "
               "self_device_memory_usage."),
    OSC_COLUMN(OSC_AVERAGES_DEVICE_BYTES, "device_bytes", INTEGER, "bytes", SUM,
               OSC_COLUMN_OPTIONAL, OSC_RULE_TORCH_MEMORY,
               "Device memory allocated - released from start to end of the calls, on any "
               "thread. In torch: device_memory_usage.",
               .source = "[memory] records of profile_memory=True."),
    OSC_COLUMN(OSC_AVERAGES_FLOPS, "flops", INTEGER, NULL, SUM, OSC_COLUMN_OPTIONAL,
               OSC_RULE_FLOPS,
               "Floating-point operations of all calls together, estimated from the input "
               "shapes of mm, addmm, bmm, baddbmm, conv2d, mul and add. A multiplication with "
               "its addition counts as two.",
               .source = "Input Dims and Concrete Inputs of with_flops=True."),
    OSC_COLUMN(OSC_AVERAGES_INPUT_SHAPES, "input_shapes", STRING, NULL, KEY,
               OSC_COLUMN_OPTIONAL, OSC_RULE_AVERAGES,
               "Sizes of the inputs as Python prints them; [] for an input that is no tensor, "
               "and for a list of tensors. Part of the key with --group-by shape.",
               .source = "Input Dims."),
    OSC_COLUMN(OSC_AVERAGES_INPUT_DTYPES, "input_dtypes", STRING, NULL, KEY,
               OSC_COLUMN_OPTIONAL, OSC_RULE_AVERAGES,
               OSC_INPUT_DTYPES_HELP
               " Part of the key with --group-by dtype; torch does not group by them.",
               .source = "Input type.", .grouping = "dtype"),
    OSC_COLUMN(OSC_AVERAGES_STACK, "stack", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL,
               OSC_RULE_STACKS | OSC_RULE_BACKWARD,
               "First N frames of the call stack, innermost first, as a JSON list. A backward "
               "function and everything below it have the stack of the forward operator. Part "
               "of the key with --group-by stack:N.",
               .source = "Call stack, Sequence number, Fwd thread id, fwdbwd flows."),
    OSC_COLUMN(OSC_AVERAGES_OVERLOAD_NAME, "overload_name", STRING, NULL, FIRST,
               OSC_COLUMN_OPTIONAL, OSC_RULE_AVERAGES,
               "Overload of the operator, such as Tensor. torch does not write it to files."),
    OSC_COLUMN(OSC_AVERAGES_IS_ASYNC, "is_async", BOOLEAN, NULL, FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_AVERAGES,
               "True for annotations of process groups (gloo:, nccl:, mpi:, ucc:, xccl:), "
               "which may end on another thread, and for events with the argument `Is "
               "asynchronous`. They have a total, but no self time, parent or children."),
    OSC_COLUMN(OSC_AVERAGES_IS_USER_ANNOTATION, "is_user_annotation", BOOLEAN, NULL, KEY, 0,
               OSC_RULE_AVERAGES,
               "True for ranges that the program named itself (record_function, steps), and "
               "for their copies on a device.",
               .source = "category user_annotation or gpu_user_annotation."),
    OSC_COLUMN(
        OSC_AVERAGES_DEVICE_TYPE, "device_type", STRING, NULL, KEY, 0, OSC_RULE_AVERAGES,
        "Where the events ran, in torch's words: CPU, CUDA (also for HIP), XPU, MTIA, HPU, "
        "PrivateUse1."),
    OSC_COLUMN(OSC_AVERAGES_SELF_CPU_US, "self_cpu_us", NUMBER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "torch's double of self_cpu_time_total."),
    OSC_COLUMN(OSC_AVERAGES_CPU_US, "cpu_us", NUMBER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "torch's double of cpu_time_total."),
    OSC_COLUMN(OSC_AVERAGES_IS_TOP_LEVEL, "is_top_level", BOOLEAN, NULL, FIRST,
               OSC_COLUMN_HIDDEN, 0, "The first event has no parent."),
    OSC_COLUMN(OSC_AVERAGES_DEVICE, "device", STRING, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "The word for devices in titles."),
};

/* torch's word for the device type of a row. */
static struct osc_str device_type(const struct osc_avg_tree *tree, uint32_t flags)
{
    static const char *const types[][2] = {
        {"cuda", "CUDA"},
        {"xpu", "XPU"},
        {"mtia", "MTIA"},
        {"hpu", "HPU"},
    };
    const struct osc_str family = osc_avg_family(tree, flags);

    if (!(flags & OSC_AVG_DEVICE))
        return OSC_STR("CPU");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (osc_str_eq(family, osc_str_c(types[i][0])))
            return osc_str_c(types[i][1]);
    }
    return OSC_STR("PrivateUse1"); /* a backend with its own name */
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

/* What all rows of one table share. */
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
    if (g->dtypes != 0)
        osc_result_str(out, OSC_AVERAGES_INPUT_DTYPES,
                       osc_lists_elements(&e->groups->types, g->dtypes));
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

/* Whether G has calls of a Python function. Kineto gives collections of garbage the category of
 * calls, but to torch they are none. */
static bool is_python_function(const struct osc_avg_tree *tree, const struct osc_avg_group *g)
{
    return (g->flags & OSC_AVG_PYTHON) &&
           !osc_str_eq(tree->names[g->name].text, OSC_STR("Python GC"));
}

static void emit(const struct osc_avg_tree *tree, const struct osc_avg_groups *groups,
                 const struct osc_options *o, struct osc_result *out)
{
    const struct emission e = {tree, groups, tree->has_memory, any_device_bytes(groups)};
    const bool has_python = !osc_option_is_set(o, &option_no_python);

    for (size_t i = 0; i < groups->n; i++) {
        if (groups->all[i].dtypes != 0)
            osc_result_show(out, OSC_AVERAGES_INPUT_DTYPES);
        if (has_python || !is_python_function(tree, &groups->all[i]))
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
        osc_result_why_empty(out, "no operators, annotations, Python functions or device work: "
                                  "there is nothing that torch would average");
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    const struct osc_avg_grouping how = {
        .by_shape = osc_is_grouped(o, BY_SHAPE),
        .by_dtype = osc_is_grouped(o, BY_DTYPE),
        .by_stack = osc_is_grouped(o, BY_STACK),
        .stack_depth = o->group_number,
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

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    (void)err;
    if (osc_is_grouped(o, BY_DTYPE))
        osc_dtypes_note(r, OSC_AVERAGES_INPUT_DTYPES);
    return r->status;
}

static const char *const groupings[] = {[BY_SHAPE] = "shape",
                                        [BY_DTYPE] = "dtype",
                                        [BY_STACK] = "stack:N",
                                        "shape,dtype",
                                        "shape,stack:N",
                                        "dtype,stack:N",
                                        NULL};

static const struct osc_table_option *const options[] = {
    &option_no_python,        &osc_torch_header,
    &osc_torch_top_level,     &osc_torch_max_name_width,
    &osc_torch_max_src_width, &osc_torch_max_shapes_width,
    &osc_torch_version,       NULL};

const struct osc_table_def osc_table_averages = {
    .name = "averages",
    .help =
        "What torch's key_averages() gives: operators, annotations, Python functions, runtime "
        "calls and device work by name, with host and device time, memory and FLOPs.",
    .source = "the events, by the rules of PyTorch 2.13 (torch.autograd.profiler_util, "
              "EventList.key_averages).",
    .rules = OSC_RULE_AVERAGES,
    .columns = columns,
    .n_columns = OSC_AVERAGES_COLUMNS,
    .sort_words = &osc_torch_words,
    .groupings = groupings,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_LINKS, .map = map, .finish = finish),
    .text = osc_torch_text,
};
