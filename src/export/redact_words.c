/* SPDX-License-Identifier: Apache-2.0 */
/* The words that are kept when a trace is redacted: they come from known software, so they
 * contain no secrets of a program. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "export/redact.h"

/* Whole words, separated by blanks; digits and underscores may follow a word. */
static const char words[] =
    /* kinds, categories, metadata and counters */
    " cpu_op operator hpu_op user_annotation gpu_user_annotation runtime Runtime Operator"
    " cuda_runtime xpu_runtime mtia_runtime glow_runtime privateuse1_runtime cuda_driver"
    " xpu_driver privateuse1_driver kernel Kernel mtia_ccp_events memcpy gpu_memcpy Memcpy"
    " memset gpu_memset Memset cuda_sync xpu_sync cuda_event python python_function"
    " collective_comm communication annotation driver sync overhead scope module"
    " dataloader optimizer other cpu_instant_event ac2g async async_cpu_to_gpu async_gpu"
    " fwdbwd forward_backward flow trace Trace cuda_profiler_range counter instant alloc"
    " free range step memory OutOfMemory mark process_name process_labels"
    " process_sort_index thread_name thread_sort_index name labels sort_index GPU CPU XPU"
    " NPU device Device host Host stream Stream queue opscope_queue thread Thread process main"
    " pt_main_thread pt_autograd_ pt_gloo_runloop Spans Traces Utilization value Total"
    " Allocated Reserved Iteration Start PyTorch Profiler Record Window End opscope"
    /* operators and labels of PyTorch */
    " forward backward Forward Backward op detach detach_ record_param_comms"
    " AccumulateGrad ProfilerStep enumerate DataLoader DataPipe"
    " _SingleProcessDataLoaderIter _MultiProcessingDataLoaderIter __next__ Optimizer"
    " DistributedDataParallel CompiledFunction CompiledFunctionBackward SGD Adam AdamW nn"
    " Module Linear Bilinear Embedding EmbeddingBag Conv ConvTranspose BatchNorm LayerNorm"
    " GroupNorm InstanceNorm RMSNorm Dropout ReLU GELU SiLU Sigmoid Tanh Softmax"
    " LogSoftmax Flatten Identity Sequential ModuleList ModuleDict MaxPool AvgPool"
    " AdaptiveAvgPool AdaptiveMaxPool LSTM GRU RNN Transformer TransformerEncoder"
    " TransformerEncoderLayer TransformerDecoder TransformerDecoderLayer"
    " MultiheadAttention NonDynamicallyQuantizableLinear CrossEntropyLoss MSELoss NLLLoss"
    " BCELoss Adagrad Adadelta Adamax RMSprop NAdam RAdam LBFGS Rprop ASGD step zero_grad"
    /* communication */
    " nccl gloo mpi ucc xccl hccl all_reduce allreduce allreduce_ all_gather allgather"
    " _all_gather_base _allgather_base all_gather_into_tensor all_to_all alltoall"
    " all_to_allv broadcast reduce reduce_scatter _reduce_scatter_base"
    " reduce_scatter_tensor gather scatter send recv barrier wait coalesced"
    " all_gather_into_tensor_coalesced reduce_scatter_tensor_coalesced"
    /* calls of runtimes that belong to no single family */
    " INVALID Context Event Sync Synchronize Wait HtoD DtoH DtoD HtoH PtoP Pinned Pageable"
    " Unified Managed Array Unknown"
    /* types, and words between names of kernels */
    " void bool char short int long signed unsigned float double half __half __half2"
    " size_t const int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t"
    " __nv_bfloat16 nv_bfloat16 __nv_fp8_e4m3 float2 float4 int2 int4 true false lambda"
    " operator anonymous namespace TrivialOffsetCalculator OffsetCalculator LoadWithCast"
    " StoreWithCast LoadWithoutCast StoreWithoutCast Policy type"
    /* lines of XLA, TensorFlow, Ascend, ROCm and others, and sorts of work on them */
    " XLA Ops Modules Sparse Core Steps Offload Async TensorFlow Scope Name MemcpyH2D MemcpyD2H"
    " MemcpyD2D MemcpyP2P copy done start Compute functions Ascend Hardware Task Scheduler AI"
    " AICPU Op CANN AscendCL Overlap Analysis Computing Free HCCL Communication Plane Trace"
    " Model ID Step Iteration Time Refresh COPY Markers and Ranges HIP HSA API Barriers Graph "
    "RANK"
    " HOST DEVICE M2D D2M M2M D2D M2S S2M D2S S2D bytes Tile AI_CORE AI_CPU AI_VECTOR_CORE "
    "MIX_AIC MIX_AIV AIV KERNEL_AICORE KERNEL_AICPU"
    " KERNEL_AIVEC EVENT_RECORD EVENT_WAIT NOTIFY_RECORD NOTIFY_WAIT MEMCPY_ASYNC SDMA"
    " SDMA_SQE PCIE_DMA_SQE WRITE_VALUE WRITE_VALUE_SQE PROFILER_TRACE_EX MODEL_MAINTAINCE"
    " MEMWAIT_VALUE CAPTURE_RECORD CAPTURE_WAIT REDUCE_ASYNC_V PLACE_HOLDER_SQE"
    " STREAM_ACTIVE LABEL_SET LABEL_SWITCH Critical Path"
    " EVENT_RESET MEMCPYHtoD MEMCPYDtoH MEMCPYDtoD MEMCPYPtoP MEMSET CopyHostToDevice"
    " CopyDeviceToHost CopyDeviceToDevice FillBuffer UserMarker frame ops Hip CUDA NVTX nvtx"
    " AllReduce AllGather ReduceScatter AllToAll Broadcast"
    /* arrows and frames of such traces */
    " Flow_H2D CL_Flow_H2D Flow_D2H CL_Flow_D2H async_npu async_task_queue enqueue dequeue "
    "HostToDevice cpu_to_cuda DataFlow api_op"
    /* devices */
    " NVIDIA Tesla GeForce Quadro RTX GTX A B H L P T V GH GB SXM PCIe AMD Instinct Radeon"
    " MI X Intel Graphics Data Center Max Arc ";

/* First words of names of generated kernels, library kernels and runtime calls. */
static const char *const families[] = {
    "cuda",
    "cuLaunch",
    "cuMem",
    "cuStream",
    "cuEvent",
    "cuCtx",
    "cuModule",
    "cuFunc",
    "cuGraph",
    "hip",
    "hsa_",
    "zeCommand",
    "zeEvent",
    "zeFence",
    "zeMem",
    "zeKernel",
    "zeModule",
    "zeContext",
    "zeDevice",
    "zeDriver",
    "zeInit",
    "clFinish",
    "clWaitForEvents",
    "urEnqueue",
    "clEnqueue",
    "cudnn",
    "cublas",
    "cusparse",
    "nccl",
    "rccl",
    "msccl",
    "oneccl_",
    "hcom_",
    "Hccl",
    "nvshmem",
    "userbuffers_",
    "kuserbuffers_",
    "ampere_",
    "volta_",
    "turing_",
    "maxwell_",
    "sm70_",
    "sm75_",
    "sm80_",
    "sm86_",
    "sm90_",
    "sm100_",
    "cutlass_",
    "Cijk_",
    "igemm_",
    "gemv",
    "splitKreduce_kernel",
    "triton_poi_fused",
    "triton_red_fused",
    "triton_per_fused",
    "triton_tem_fused",
    "aclnn",
};

/* Namespaces of PyTorch and of its kernel libraries. */
static const char *const namespaces[] = {
    "aten",
    "prims",
    "prim",
    "torch",
    "autograd",
    "c10d",
    "_c10d_functional",
    "c10d_functional",
    "symm_mem",
    "deep_ep",
    "vllm",
    "sglang",
    "aiter",
    "quickreduce",
    "flashinfer",
    "tensorrt_llm",
    "c10",
    "at",
    "quantized",
    "fbgemm",
    "inductor",
    "profiler",
    "at_cuda_detail",
    "cub",
    "thrust",
    "cutlass",
    "cudnn",
    "cublasLt",
    "std",
    "rocprim",
    "pytorch_flash",
    "flash",
};

/* Prefixes that analyses need, whatever follows. */
static const char *const prefixes[] = {
    "nn.Module: ",
    "Optimizer.step#",
    "Optimizer.zero_grad#",
    "ProfilerStep#",
    "nccl:",
    "gloo:",
    "mpi:",
    "ucc:",
    "xccl:",
    "hccl:",
    "autograd::engine::evaluate_function: ",
    "Total ",
};

#define N_OF(array) (sizeof(array) / sizeof *(array))

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether WORD is like "1", "64", "3ul" or "80GB": digits, and at most two letters. */
static bool is_number(struct osc_str word)
{
    uint32_t n = 0;

    while (n < word.len && isdigit((unsigned char)word.s[n]))
        n++;
    return n > 0 && n + 2 >= word.len && !memchr(word.s, '_', word.len);
}

static bool is_listed(struct osc_str word)
{
    char padded[64];
    const int n = snprintf(padded, sizeof padded, " %.*s ", (int)word.len, word.s);

    return word.len > 0 && n < (int)sizeof padded && strstr(words, padded);
}

static bool has_prefix(struct osc_str s, const char *const *of, size_t n, bool is_whole)
{
    for (size_t i = 0; i < n; i++) {
        const struct osc_str known = osc_str_c(of[i]);

        if (is_whole ? osc_str_eq(s, known) : osc_str_starts(s, known))
            return true;
    }
    return false;
}

static bool is_namespace(struct osc_str word)
{
    return has_prefix(word, namespaces, N_OF(namespaces), true) ||
           has_prefix(word, families, N_OF(families), false);
}

/* Whether WORD is listed, belongs to a family, or is an autograd node such as AddBackward0. */
static bool is_known(struct osc_str word)
{
    struct osc_str stem = word;

    while (stem.len > 0 && strchr("0123456789_", stem.s[stem.len - 1]))
        stem.len--;
    if (stem.len > 2 && stem.s[stem.len - 1] == 'd' &&
        isdigit((unsigned char)stem.s[stem.len - 2]))
        stem.len -= 2; /* Conv2d */
    return is_listed(word) || is_listed(stem) ||
           has_prefix(word, families, N_OF(families), false) ||
           (stem.len < word.len && osc_str_ends(stem, OSC_STR("Backward")));
}

/* The words of names of devices that are paths, "/job:worker/replica:0/task:0/device:GPU:0". */
static const char *const path_words[] = {
    "device", "host",   "job", "replica", "task",   "worker", "ps",  "localhost",
    "chief",  "stream", "all", "Compute", "memcpy", "CPU",    "GPU", "TPU",
    "XPU",    "NPU",    "cpu", "gpu",     "tpu",    "CUSTOM"};

/* Whether TEXT is the path of a device, as XLA and TensorFlow call processes. */
static bool is_device_path(struct osc_str text)
{
    uint32_t end;

    if (text.len < 2 || text.s[0] != '/')
        return false;
    for (uint32_t i = 0; i < text.len; i = end) {
        end = i + 1;
        if (!is_word_char(text.s[i])) {
            if (text.s[i] == '\0' || !strchr("/:() ", text.s[i]))
                return false;
            continue;
        }
        while (end < text.len && is_word_char(text.s[end]))
            end++;
        const struct osc_str word = {text.s + i, end - i};
        if (!is_number(word) && !has_prefix(word, path_words, N_OF(path_words), true))
            return false;
    }
    return osc_str_has(text, OSC_STR(":"));
}

/* The state of reading a text. */
struct reading {
    bool has_namespace; /* a known one: names after "::" belong to it */
    bool is_chain;      /* the previous word belonged to a namespace */
    bool is_number;     /* the previous word was a number */
    uint32_t n_words, n_numbers;
};

/* Whether WORD of TEXT, which begins at FROM, is known in its place. */
static bool takes_word(struct reading *r, struct osc_str text, uint32_t from,
                       struct osc_str word)
{
    const struct osc_str rest = {word.s + word.len, text.len - from - word.len};
    const bool is_member = from > 1 && text.s[from - 1] == ':' && text.s[from - 2] == ':';
    const bool is_suffix = r->is_chain && from > 0 && text.s[from - 1] == '.';

    r->is_number = false;
    r->is_chain =
        is_suffix || (is_member ? r->has_namespace
                                : osc_str_starts(rest, OSC_STR("::")) && is_namespace(word));
    r->has_namespace = r->has_namespace || r->is_chain;
    if (!r->is_chain && (is_member || osc_str_starts(rest, OSC_STR("::"))))
        return false;
    r->is_number = !r->is_chain && is_number(word);
    r->n_words++;
    r->n_numbers += r->is_number;
    return r->is_chain || r->is_number || is_known(word);
}

/* Whether each word of TEXT is known, and only brackets and commas separate them. */
static bool is_public(struct osc_str text)
{
    struct reading r = {.n_words = 0};
    uint32_t end;

    if (osc_str_starts(text, OSC_STR("name ")))
        return false; /* names that were redacted look like this, and are numbered again */
    for (uint32_t i = 0; i < text.len; i = end) {
        const char c = text.s[i];

        end = i + 1;
        if (is_word_char(c)) {
            while (end < text.len && is_word_char(text.s[end]))
                end++;
            if (!takes_word(&r, text, i, (struct osc_str){text.s + i, end - i}))
                return false;
        } else if (c == '.') {
            /* Reject host addresses and anything written like them. */
            if (i == 0 || !is_word_char(text.s[i - 1]) || r.is_number)
                return false;
        } else if (c == '\0' || !strchr(" <>(),:&*{}[]#+-|~;", c)) {
            return false;
        }
    }
    return r.n_words > r.n_numbers || r.n_words == 1;
}

/* Whether TEXT is a Python frame in PyTorch itself, "torch/nn/functional.py(1): relu". */
static bool is_torch_frame(struct osc_str text)
{
    uint32_t n = 0;

    while (n < text.len && text.s[n] != '\0' &&
           (is_word_char(text.s[n]) || strchr("/.(): <>", text.s[n])))
        n++;
    return n == text.len && osc_str_starts(text, OSC_STR("torch/")) &&
           osc_str_has(text, OSC_STR(".py("));
}

bool osc_redact_host(struct osc_str text, struct osc_redact_part *host)
{
    const char *const open = text.len > 0 ? memchr(text.s, '<', text.len) : NULL;
    const char *const end = open ? memrchr(text.s, '>', text.len) : NULL;
    const char *const path = text.len > 0 ? memmem(text.s, text.len, " /", 2) : NULL;

    if (path &&
        is_device_path((struct osc_str){path + 1, text.len - (uint32_t)(path + 1 - text.s)})) {
        *host = (struct osc_redact_part){0, (uint32_t)(path - text.s)};
        return true;
    }
    if (!end || end < open)
        return false;
    const struct osc_str before = {text.s, (uint32_t)(open - text.s)};
    if (!(osc_str_ends(before, OSC_STR("HOST")) || osc_str_ends(before, OSC_STR("DEVICE"))) ||
        !is_public(before))
        return false;
    *host = (struct osc_redact_part){before.len + 1, (uint32_t)(end - text.s)};
    for (const char *p = end + 1; p < text.s + text.len; p++) {
        if (*p == '\0' || !strchr("0123456789abcdef:.# ", *p))
            return false;
    }
    return true;
}

uint32_t osc_redact_keeps(struct osc_str text)
{
    if (is_public(text) || is_torch_frame(text) || is_device_path(text))
        return text.len;
    for (size_t i = 0; i < N_OF(prefixes); i++) {
        if (osc_str_starts(text, osc_str_c(prefixes[i])))
            return osc_str_c(prefixes[i]).len;
    }
    return 0;
}
