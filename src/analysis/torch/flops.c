/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/flops.h"

#include "analysis/torch/shapes.h"

enum osc_flops_rule osc_flops_rule(struct osc_str name)
{
    static const struct {
        const char *name;
        enum osc_flops_rule rule;
    } rules[] = {
        {"aten::mm", OSC_FLOPS_MM},           {"aten::addmm", OSC_FLOPS_ADDMM},
        {"aten::bmm", OSC_FLOPS_BMM},         {"aten::baddbmm", OSC_FLOPS_BADDBMM},
        {"aten::conv2d", OSC_FLOPS_CONV2D},   {"aten::mul", OSC_FLOPS_ELEMENTWISE},
        {"aten::add", OSC_FLOPS_ELEMENTWISE},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (osc_str_eq(name, osc_str_c(rules[i].name)))
            return rules[i].rule;
    }
    return OSC_FLOPS_NONE;
}

bool osc_flops_reads_types(enum osc_flops_rule rule)
{
    return rule == OSC_FLOPS_ELEMENTWISE;
}

/* Unsigned, so that absurd sizes wrap instead of being undefined. */
static uint64_t product(const struct osc_shape *s)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < s->n_dims; i++)
        n *= (uint64_t)s->dims[i];
    return n;
}

/* 2*m*k*n, times the batch. Inputs FIRST and FIRST + 1 are the matrices. */
static uint64_t matrix_flops(struct osc_str dims, uint32_t first, bool is_batched)
{
    struct osc_shape a, b;

    if (!osc_shapes_element(dims, first, &a) || !osc_shapes_element(dims, first + 1, &b) ||
        a.n_dims < (is_batched ? 3 : 2) || b.n_dims == 0)
        return 0;

    const uint64_t overlap =
        (uint64_t)a.dims[a.n_dims - 1] * (is_batched ? (uint64_t)a.dims[0] : 1);
    return overlap == 0 ? 0 : product(&a) / overlap * product(&b) * 2;
}

/* Extent of the output in one dimension; 0 if it is empty. */
static uint64_t conv_extent(int64_t extent, int64_t kernel, int64_t padding, int64_t dilation,
                            int64_t stride)
{
    int64_t span = 0;

    if (stride <= 0 || __builtin_mul_overflow(dilation, kernel - 1, &span) ||
        __builtin_sub_overflow(extent - 1, span, &span) ||
        __builtin_add_overflow(span, padding, &span) ||
        __builtin_add_overflow(span, padding, &span) || span < 0)
        return 0;
    return (uint64_t)(span / stride) + 1;
}

static bool is_sane(const struct osc_shape *s)
{
    for (uint32_t i = 0; i < s->n_dims; i++) {
        if (s->dims[i] < 0)
            return false;
    }
    return true;
}

/* 2 * N * Ho * Wo * kh * kw * Cin * Cout / groups */
static uint64_t conv2d_flops(struct osc_str dims, struct osc_str inputs)
{
    struct osc_shape x, w, stride, padding, dilation, groups;

    if (!osc_shapes_element(dims, 0, &x) || !osc_shapes_element(dims, 1, &w) ||
        !osc_shapes_element(inputs, 3, &stride) || !osc_shapes_element(inputs, 4, &padding) ||
        !osc_shapes_element(inputs, 5, &dilation) || !osc_shapes_element(inputs, 6, &groups))
        return 0;
    if (x.n_dims != 4 || w.n_dims != 4 || stride.n_dims != 2 || padding.n_dims != 2 ||
        dilation.n_dims != 2 || groups.n_dims != 1 || groups.dims[0] <= 0)
        return 0;
    if (!is_sane(&x) || !is_sane(&w) || !is_sane(&padding) || !is_sane(&dilation))
        return 0;

    const uint64_t height =
        conv_extent(x.dims[2], w.dims[2], padding.dims[0], dilation.dims[0], stride.dims[0]);
    const uint64_t width =
        conv_extent(x.dims[3], w.dims[3], padding.dims[1], dilation.dims[1], stride.dims[1]);
    return 2 * (uint64_t)x.dims[0] * height * width * (uint64_t)w.dims[2] *
           (uint64_t)w.dims[3] * (uint64_t)x.dims[1] * (uint64_t)w.dims[0] /
           (uint64_t)groups.dims[0];
}

/* Whether the first of TYPES is a tensor; a number has "Scalar", a nested tensor "". */
static bool is_tensor(struct osc_str types)
{
    static const char *const others[] = {"\"", "Scalar", "TensorList", "GenericList"};
    size_t i = 0;

    while (i < types.len && (types.s[i] == '[' || types.s[i] == ' '))
        i++;
    if (i == types.len || types.s[i] != '"')
        return false;
    const struct osc_str first = {types.s + i + 1, types.len - (uint32_t)i - 1};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        if (osc_str_starts(first, osc_str_c(others[k])))
            return false;
    }
    return true;
}

/* The number of elements of the first input. A number has sizes [] too. */
static uint64_t elementwise_flops(struct osc_str dims, struct osc_str types)
{
    struct osc_shape s;

    if (!osc_shapes_element(dims, 0, &s))
        return 0;
    return s.n_dims > 0 ? product(&s) : is_tensor(types);
}

uint64_t osc_flops(enum osc_flops_rule rule, struct osc_str dims, struct osc_str inputs)
{
    struct osc_shape s;

    switch (rule) {
    case OSC_FLOPS_MM:
        return matrix_flops(dims, 0, false);
    case OSC_FLOPS_ADDMM:
        return osc_shapes_element(dims, 0, &s) ? matrix_flops(dims, 1, false) : 0;
    case OSC_FLOPS_BMM:
        return matrix_flops(dims, 0, true);
    case OSC_FLOPS_BADDBMM:
        return osc_shapes_element(dims, 0, &s) ? matrix_flops(dims, 1, true) : 0;
    case OSC_FLOPS_CONV2D:
        return conv2d_flops(dims, inputs);
    case OSC_FLOPS_ELEMENTWISE:
        return elementwise_flops(dims, inputs);
    case OSC_FLOPS_NONE:
    case OSC_FLOPS_RULES:
        break;
    }
    return 0;
}
