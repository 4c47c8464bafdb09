/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/classify.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "model/known_names.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Parts of names of kernels that use Tensor Cores: the list of 2021. */
static const char *const tc_kernels_tb[] = {
    "h884",
    "s884",
    "h1688",
    "s1688",
    "hmma",
    "i8816",
    "16816",
    "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel",
    "conv1x1",
    "conv2d_c1_k1",
    "direct_group",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_warp_specialized_implicit_gemm",
    "xmma_gemm",
    "xmma_sparse_gemm",
    "c1688",
};

/* Further parts, of Ampere and later. */
static const char *const tc_kernels[] = {
    "tensorop", "nvjet_",     "wgmma",      "flash_fwd",  "flash_bwd",
    "fmha",     "xmma_fprop", "xmma_dgrad", "xmma_wgrad",
};

/* Parts, in any case, of names of kernels that use the matrix cores of AMD: the instructions,
 * and words of Composable Kernel, rocWMMA and MIOpen for them. */
static const char *const matrix_kernels[] = {"mfma", "wmma", "xdl", "gtcx"};

/* Parts of names of kernels that certainly do not use them. */
static const char *const no_tc_kernels[] = {
    "at::native::",
    "nccl",
    "simt",
    "sgemm", /* of single precision, not in TF32 */
    "scudnn",
    "gemv",
    "splitKreduce_kernel",
    "cudnn::bn_",
    "cudnn::ops::",
    "cudnn::winograd",
    "cudnn::detail::",
    "wgrad_alg0_engine",
    "wgrad_alg1_engine",
    "dgrad_engine",
    "OffsetsKernel",
    "im2col",
    "nchwToNhwc",
    "nhwcToNchw",
    "softmax_warp_",
    "cunn_",
    "multi_tensor_apply_kernel",
    "split_embedding_",
    "cub::",
    "rocprim",
    "__amd_rocclr_",
};

/* Operators that can use Tensor Cores: the list of 2021. */
static const char *const eligible_tb[] = {
    "aten::_convolution",
    "aten::conv1d",
    "aten::conv2d",
    "aten::conv3d",
    "aten::conv_tbc",
    "aten::conv_transpose1d",
    "aten::conv_transpose2d",
    "aten::conv_transpose3d",
    "aten::convolution",
    "aten::cudnn_convolution",
    "aten::cudnn_convolution_transpose",
    "aten::prelu",
    "aten::addmm",
    "aten::addmv",
    "aten::addr",
    "aten::matmul",
    "aten::mm",
    "aten::mv",
    "aten::linear",
    "aten::addbmm",
    "aten::baddbmm",
    "aten::bmm",
    "aten::chain_matmul",
    "aten::linalg_multi_dot",
    "aten::_thnn_fused_lstm_cell",
    "aten::_thnn_fused_gru_cell",
    "aten::lstm_cell",
    "aten::gru_cell",
    "aten::rnn_tanh_cell",
    "aten::rnn_relu_cell",
    "CudnnConvolutionBackward",
    "BmmBackward0",
    "aten::cudnn_convolution_transpose_backward",
    "CudnnConvolutionTransposeBackward",
    "MmBackward",
    "aten::cudnn_convolution_backward_weight",
    "aten::addmm_",
    "AddmvBackward",
    "MvBackward",
    "aten::cudnn_convolution_transpose_backward_weight",
    "aten::cudnn_convolution_transpose_backward_input",
    "AddmmBackward",
    "aten::cudnn_convolution_backward_input",
    "AddbmmBackward",
    "aten::cudnn_convolution_backward",
};

/* Operators of later versions. */
static const char *const eligible[] = {
    "aten::convolution_backward",
    "AddmmBackward0",
    "MmBackward0",
    "ConvolutionBackward0",
    "aten::scaled_dot_product_attention",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_mm",
    "aten::_grouped_mm",
    "aten::einsum",
};

/* Ranges that wrap operators and do not count as operators. */
static const char *const wrappers[] = {
    "DataParallel.forward",
    "DistributedDataParallel.forward",
};

static bool equals_any(struct osc_str s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (osc_str_eq(s, osc_str_c(list[i])))
            return true;
    }
    return false;
}

static bool has_any(struct osc_str s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (osc_str_has(s, osc_str_c(list[i])))
            return true;
    }
    return false;
}

/*
 * Whether NAME, of a kernel of Tensile (rocBLAS, hipBLASLt), has the size of matrix
 * instructions, as in Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN.
 */
static bool has_matrix_instruction(struct osc_str name)
{
    const char *const end = name.s + name.len;
    const char *at = name.s;

    if (!osc_str_has(name, OSC_STR("_MT")))
        return false;
    while ((at = memmem(at, (size_t)(end - at), "_MI", 3)) != NULL) {
        at += 3;
        if (at < end && *at >= '1' && *at <= '9')
            return true;
    }
    return false;
}

static bool uses_matrix_cores(struct osc_str name)
{
    for (size_t i = 0; i < COUNT(matrix_kernels); i++) {
        if (osc_str_has_case(name, osc_str_c(matrix_kernels[i])))
            return true;
    }
    return has_matrix_instruction(name);
}

uint16_t osc_classify_kernel(struct osc_str name)
{
    unsigned flags = OSC_NAME_SEEN_KERNEL;

    if (osc_known_is_comm_kernel(name))
        flags |= OSC_NAME_COMM_KERNEL;
    if (has_any(name, tc_kernels_tb, COUNT(tc_kernels_tb)))
        flags |= OSC_NAME_TC | OSC_NAME_TC_RULE | OSC_NAME_TC_TB;
    else if (has_any(name, tc_kernels, COUNT(tc_kernels)) || uses_matrix_cores(name))
        flags |= OSC_NAME_TC | OSC_NAME_TC_RULE;
    else if (has_any(name, no_tc_kernels, COUNT(no_tc_kernels)))
        flags |= OSC_NAME_TC_RULE;
    return (uint16_t)flags;
}

uint16_t osc_classify_host(struct osc_str name)
{
    const unsigned does = osc_known_call(name);
    unsigned flags = OSC_NAME_SEEN_HOST;

    if (osc_known_is_collective(name))
        flags |= OSC_NAME_COMM_HOST;
    if (osc_known_is_plugin_collective(name))
        flags |= OSC_NAME_COMM_TB;
    if (equals_any(name, eligible_tb, COUNT(eligible_tb)))
        flags |= OSC_NAME_ELIGIBLE | OSC_NAME_ELIGIBLE_TB;
    else if (equals_any(name, eligible, COUNT(eligible)))
        flags |= OSC_NAME_ELIGIBLE;
    if (equals_any(name, wrappers, COUNT(wrappers)) ||
        osc_str_starts(name, OSC_STR("Optimizer.")))
        flags |= OSC_NAME_WRAPPER;
    if (osc_str_starts(name, OSC_STR("Optimizer.step")))
        flags |= OSC_NAME_OPTIMIZER;
    flags |= does & OSC_CALL_SYNC ? OSC_NAME_SYNC : 0;
    flags |= does & OSC_CALL_ALLOCATOR ? OSC_NAME_ALLOCATOR : 0;
    flags |= does & OSC_CALL_GRAPH ? OSC_NAME_GRAPH : 0;
    flags |= does & OSC_CALL_LAUNCH ? OSC_NAME_LAUNCH : 0;
    return (uint16_t)flags;
}

static uint8_t classify_form(const struct osc_trace *t, const struct osc_form *f)
{
    unsigned flags = osc_shape_is_range((enum osc_form_shape)f->shape) ? OSC_FORM_RANGE : 0;

    flags |= f->is_device ? OSC_FORM_ON_DEVICE : 0;
    flags |= f->is_frame ? OSC_FORM_FUNCTION : 0;
    if (flags & OSC_FORM_RANGE) {
        const enum osc_kind kind = (enum osc_kind)f->kind;

        if (osc_kind_is_launch(kind))
            flags |= OSC_FORM_CALL;
        if (osc_kind_is_device_work(kind) || kind == OSC_KIND_SYNC)
            flags |= OSC_FORM_WORK;
        if (kind == OSC_KIND_OPERATOR && !(flags & OSC_FORM_ON_DEVICE))
            flags |= OSC_FORM_OPERATOR;
    }
    for (uint32_t i = 0; i < f->n_slots; i++) {
        const struct osc_slot *const s = &f->slots[i];

        if (s->is_member || s->type == OSC_ARG_NULL)
            continue;
        if (osc_known_is_collective_arg(osc_trace_str(t, s->key)))
            flags |= OSC_FORM_COMM;
    }
    return (uint8_t)flags;
}

/* Examine the name of row I of chunk K, unless that was done. */
static void see_row(const struct osc_trace *t, struct osc_classes *c, const struct osc_chunk *k,
                    uint32_t i)
{
    uint16_t *const flags = &c->names[k->name[i]];

    if (k->kind[i] == OSC_KIND_KERNEL) {
        if (!(*flags & OSC_NAME_SEEN_KERNEL))
            *flags |= osc_classify_kernel(osc_row_name(t, k, i));
        if (!c->has_device_comm && osc_is_range(c, k, i))
            c->has_device_comm = osc_is_comm_kernel(c, k, i);
    } else if (!(*flags & OSC_NAME_SEEN_HOST) &&
               (k->kind[i] == OSC_KIND_MODULE || !(c->forms[k->form[i]] & OSC_FORM_FUNCTION))) {
        *flags |= osc_classify_host(osc_row_name(t, k, i));
    }
}

osc_status osc_classes_make(const struct osc_trace *t, struct osc_classes *c)
{
    *c = (struct osc_classes){0};
    c->names = osc_calloc(osc_strings_bound(&t->strings) + (size_t)1, sizeof *c->names);
    c->n_names = osc_strings_bound(&t->strings);
    c->forms = osc_calloc(t->n_forms + (size_t)1, sizeof *c->forms);
    if (!c->names || !c->forms) {
        osc_classes_fini(c);
        return OSC_ENOMEM;
    }
    for (uint32_t f = 0; f < t->n_forms; f++)
        c->forms[f] = classify_form(t, &t->forms[f]);
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const chunk = t->events.chunks[k];

        for (uint32_t i = 0; i < chunk->n_rows; i++)
            see_row(t, c, chunk, i);
    }
    return OSC_OK;
}

void osc_classes_fini(struct osc_classes *c)
{
    osc_free(c->names);
    osc_free(c->forms);
    *c = (struct osc_classes){0};
}
