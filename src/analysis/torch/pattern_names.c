/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/pattern_names.h"

static const struct {
    const char *name;
    uint32_t bits;
} operators[] = {
    {"to", OSC_PATTERN_NAME_TO},
    {"_to_copy", OSC_PATTERN_NAME_TO_COPY},
    {"copy_", OSC_PATTERN_NAME_COPY},
    {"fill_", OSC_PATTERN_NAME_FILL},
    {"zero_", OSC_PATTERN_NAME_FILL | OSC_PATTERN_NAME_ZERO},
    {"normal_", OSC_PATTERN_NAME_FILL},
    {"uniform_", OSC_PATTERN_NAME_FILL},
    {"zeros", OSC_PATTERN_NAME_ZEROS},
    {"select", OSC_PATTERN_NAME_SELECT},
    {"mm", OSC_PATTERN_NAME_MM | OSC_PATTERN_NAME_MATMUL},
    {"bmm", OSC_PATTERN_NAME_MATMUL},
    {"addmm", OSC_PATTERN_NAME_MATMUL},
    {"conv2d", OSC_PATTERN_NAME_CONV},
};

bool osc_python_frame_split(struct osc_str name, struct osc_python_frame *frame)
{
    for (uint32_t open = 0; open < name.len; open++) {
        uint32_t end = open + 1;

        if (name.s[open] != '(')
            continue;
        while (end < name.len && name.s[end] >= '0' && name.s[end] <= '9')
            end++;
        const struct osc_str rest = {name.s + end, name.len - end};
        if (end == open + 1 || !osc_str_starts(rest, OSC_STR("): ")))
            continue;
        frame->file = (struct osc_str){name.s, open};
        frame->line = (struct osc_str){name.s + open + 1, end - open - 1};
        frame->function = (struct osc_str){rest.s + 3, rest.len - 3};
        return true;
    }
    return false;
}

bool osc_python_frame_is_outside(const struct osc_python_frame *frame)
{
    return !osc_str_starts(frame->file, OSC_STR("torch/"));
}

static uint32_t loader_bits(struct osc_str name)
{
    if (!osc_str_starts(name, OSC_STR("torch/utils/data/dataloader.py")))
        return 0;
    return (osc_str_ends(name, OSC_STR("__iter__")) ? OSC_PATTERN_NAME_ITER : 0u) |
           (osc_str_ends(name, OSC_STR("_get_iterator")) ? OSC_PATTERN_NAME_GET : 0u) |
           (osc_str_ends(name, OSC_STR("check_worker_number_rationality"))
                ? OSC_PATTERN_NAME_CHECK
                : 0u);
}

static bool is_single(struct osc_str name)
{
    return osc_str_ends(name, OSC_STR("_single_tensor_adam")) ||
           osc_str_ends(name, OSC_STR("_single_tensor_sgd")) ||
           osc_str_ends(name, OSC_STR("_single_tensor_adamw"));
}

uint32_t osc_pattern_name(struct osc_str name)
{
    uint32_t bits = OSC_PATTERN_NAME_SEEN;
    struct osc_python_frame frame;

    if (osc_str_starts(name, OSC_STR("aten::"))) {
        const struct osc_str rest = {name.s + 6, name.len - 6};

        for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
            if (osc_str_eq(rest, osc_str_c(operators[i].name)))
                bits |= operators[i].bits;
        }
    }
    bits |= loader_bits(name);
    bits |= is_single(name) ? OSC_PATTERN_NAME_SINGLE : 0u;
    bits |= osc_str_ends(name, OSC_STR(": zero_grad")) ? OSC_PATTERN_NAME_CLEAR : 0u;
    bits |= osc_str_starts(name, OSC_STR("nn.Module: Conv2d")) ? OSC_PATTERN_NAME_MODULE : 0u;
    bits |=
        osc_str_starts(name, OSC_STR("nn.Module: BatchNorm2d")) ? OSC_PATTERN_NAME_NORM : 0u;
    if (osc_python_frame_split(name, &frame) && osc_python_frame_is_outside(&frame))
        bits |= OSC_PATTERN_NAME_FRAME;
    return bits;
}
