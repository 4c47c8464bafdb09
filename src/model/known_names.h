/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_names.h - the names of other people's software that opscope goes by.
 *
 * What a call does, whether a kernel communicates, what a label of PyTorch means: the
 * trace does not say it, only the name does. All lists of such names stand in
 * known_names.c, those of calls by family of devices, so that a new library or a new
 * family is one entry there. Who asks keeps the answer by id of the string.
 *
 * Threading: constants and pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/kind.h"

/* What a host call of this name does, in whatever family has it. */
enum osc_known_call {
    OSC_CALL_SYNC = 1,      /* it returns when the device has done what it names */
    OSC_CALL_ALLOCATOR = 2, /* it takes device memory or gives it back */
    OSC_CALL_GRAPH = 4,     /* it launches a graph of kernels */
    OSC_CALL_LAUNCH = 8,    /* it always launches something */
};

unsigned osc_known_call(struct osc_str name);

/* Whether kernels called NAME are those of a library of communication. */
bool osc_known_is_comm_kernel(struct osc_str name);

/* Whether host ranges called NAME are collectives. */
bool osc_known_is_collective(struct osc_str name);

/* Whether an argument KEY is one that only collectives have. */
bool osc_known_is_collective_arg(struct osc_str key);

/*
 * What the NAME of a host range says that it is: STEP, DATALOADER, OPTIMIZER,
 * COMMUNICATION, or NONE of these.
 */
enum osc_kind osc_known_label(struct osc_str name);

/* What a host range of KIND, OPERATOR or ANNOTATION, is if its name says LABEL. */
enum osc_kind osc_known_kind(enum osc_kind kind, enum osc_kind label);

/*
 * Names that rows of these kinds have in every table and in every file that other tools
 * read, whoever recorded them: a step is this and its label, records of memory are the
 * other two.
 */
#define OSC_KNOWN_STEP   "ProfilerStep#"
#define OSC_KNOWN_MEMORY "[memory]"
#define OSC_KNOWN_OOM    "[OutOfMemory]"

/* Whether NAME is that of a step. */
bool osc_known_is_step(struct osc_str name);

/*
 * Families of devices by the numbers that PyTorch gives them in records of memory
 * (c10::DeviceType). NULL and -1: it has none.
 */
const char *osc_known_device_type(uint32_t number);
int32_t osc_known_device_number(struct osc_str family);
