/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storages.h - which memory the tensors of a call lie in, so that the data flow is known.
 *
 * An operator has the argument `Storages`: a list of integers. The first one says what the call
 * is: 1 an operator with a schema that its inputs fit, 2 a backward function, 0 neither. Then
 * comes the address of the storage of each tensor in the order of the inputs, also of those in
 * lists, negative if the schema says that the call writes there. Tensors without memory are
 * left out. A list too long for one argument goes on in `Storages 2` to `Storages 8`; what is
 * longer still is cut. If one of the tensors is not on the CPU, `Storage devices` says of each
 * where it is: 256 x c10::DeviceType + index. What exceeds one argument is cut.
 *
 *   - Inputs fit a schema by the rule of torch's own memory profiler: where it demands a
 *     tensor, there is one with memory.
 *   - What a schema says is looked up once for each operator and thread.
 *
 * Threading: one table of schemas for each thread.
 */
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include "opscope/record.h"

struct osc_torch_options; // recorder.h

namespace osc_torch
{

/* What is known of an operator. Bits are arguments, of which those beyond 63 are ignored. */
struct Schema {
    uint64_t hash;    /* of its name and overload; 0: none */
    uint64_t written; /* arguments that it changes */
    uint64_t tensors; /* arguments that must be tensors */
    uint64_t lists;   /* arguments that must be lists of tensors */
    bool is_known;    /* there is a schema */
};

constexpr size_t kSchemas = 2048;

constexpr size_t kInOne = 384;           /* integers of one argument: osc_arg_i64s() */
constexpr size_t kStorages = 8 * kInOne; /* of one call, with the first integer */

/* Zeroed, it is empty. */
struct Schemas {
    Schema all[kSchemas];
    int64_t list[kStorages], devices[kInOne]; /* scratch */
};

/* Add the argument to the innermost range, which is FN, whose name is NAME; not without one. */
void put_storages(Schemas *schemas, const at::RecordFunction &fn, osc_name name);

/* A session begins. Once in it the metadata `tensors_on_devices` tell that a call took a tensor
 * of another device than the CPU, whose memory may have no records; such calls have the
 * argument `Storage devices`. */
void begin_storages();

/* The address of the memory of TENSOR; 0: it has none, or no sizes of its own. */
int64_t storage_of(const at::Tensor &tensor);

/* Whether all is recorded that torch needs for its own categories of memory; then this is, too.
 */
bool has_storages(const osc_torch_options &options);

/* The overload of FN's operator; NULL: torch 2.6 does not say it. */
const char *overload_of(const at::RecordFunction &fn);

} // namespace osc_torch
