/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_names.h - names in other software that opscope recognises.
 *
 * A trace does not say what a call does, whether a kernel communicates, or what a PyTorch
 * label means; only the name does. All lists of such names are in known_names.c, those of
 * calls by device family, so that a new library or a new family is one entry there. Callers
 * should cache the answer by id of the string.
 *
 * Threading: constants and pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/kind.h"

/* What a host call with this name does, in whatever device family. */
enum osc_known_call {
    OSC_CALL_SYNC = 1,      /* returns when the device has finished what it names */
    OSC_CALL_ALLOCATOR = 2, /* allocates or frees device memory */
    OSC_CALL_GRAPH = 4,     /* launches a graph of kernels */
    OSC_CALL_LAUNCH = 8,    /* always launches something */
    OSC_CALL_FREE = 16,     /* gives device memory back */
};

unsigned osc_known_call(struct osc_str name);

/* The family of the devices that a call NAME drives, such as "cuda" or "hip"; "" if the name
 * does not tell. */
struct osc_str osc_known_call_device(struct osc_str name);

/* Whether NAME is a kernel of a communication library. */
bool osc_known_is_comm_kernel(struct osc_str name);

/* Whether host ranges called NAME are collectives. */
bool osc_known_is_collective(struct osc_str name);

/* Whether they are for torch.profiler, for TensorBoard's plugin, and of NCCL or RCCL. */
bool osc_known_is_torch_collective(struct osc_str name);
bool osc_known_is_plugin_collective(struct osc_str name);
bool osc_known_is_nccl(struct osc_str name);

/* Whether only collectives have an argument KEY. */
bool osc_known_is_collective_arg(struct osc_str key);

/* Where a copy goes, by its name. */
enum osc_copy_way {
    OSC_COPY_UNKNOWN,
    OSC_COPY_TO_DEVICE, /* from the host */
    OSC_COPY_FROM_DEVICE,
    OSC_COPY_ON_DEVICES, /* within one, or between two */
    OSC_COPY_WAYS
};

enum osc_copy_way osc_known_copy_way(struct osc_str name);

/*
 * The kind that the NAME of a host range implies: STEP, DATALOADER, OPTIMIZER, COMMUNICATION,
 * ANNOTATION, or NONE of these.
 */
enum osc_kind osc_known_label(struct osc_str name);

/* The kind of a host range of KIND, OPERATOR or ANNOTATION, whose name implies LABEL. */
enum osc_kind osc_known_kind(enum osc_kind kind, enum osc_kind label);

/*
 * Names of such rows in every table and in every file that other tools read, whoever recorded
 * them: a step is called OSC_KNOWN_STEP and its label; the other two are records of memory.
 */
#define OSC_KNOWN_STEP   "ProfilerStep#"
#define OSC_KNOWN_MEMORY "[memory]"
#define OSC_KNOWN_OOM    "[OutOfMemory]"

/* Whether NAME is the name of a step. */
bool osc_known_is_step(struct osc_str name);

/*
 * Device families by PyTorch's numbers in records of memory (c10::DeviceType). NULL and -1: no
 * such family.
 */
const char *osc_known_device_type(uint32_t number);
int32_t osc_known_device_number(struct osc_str family);
/* The first of the numbers that families get in our recordings if they have none in PyTorch: a
 * member `device_type.NUMBER` of the trace has the name. */
#define OSC_KNOWN_OWN_TYPE 64

/*
 * PyTorch's word for devices of FAMILY: "cuda" for "hip", since PyTorch for ROCm calls them so;
 * "privateuse1" for a family that it does not know.
 */
struct osc_str osc_known_device_word(struct osc_str family);

/* What graphs of kernels are called for FAMILY; "": it has none that are known. */
struct osc_str osc_known_graphs(struct osc_str family);

/*
 * Whether a process of a trace is a device, by its NAME or LABELS, as in "/device:GPU:0",
 * "Ascend Hardware" or "NPU". Programs have names and labels of other kinds.
 */
bool osc_known_is_device_process(struct osc_str name, struct osc_str labels);

/*
 * Whether devices of FAMILY with the compute capability MAJOR.MINOR (-1: unknown) have Tensor
 * Cores, whether these compute in TF32, and whether NCCL runs there, under whatever name.
 */
bool osc_known_has_tensor_cores(struct osc_str family, int64_t major);
bool osc_known_has_tf32(struct osc_str family, int64_t major);
bool osc_known_has_nccl(struct osc_str family, int64_t major, int64_t minor);
