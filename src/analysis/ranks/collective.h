/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.h - what the name, the types and the sizes of a collective imply.
 *
 * Libraries spell the same operation in many ways: nccl:_all_gather_base, c10d::allgather_,
 * ncclDevKernel_AllGather_RING_LL, MPI_Allgather. Case, underscores, hyphens and what comes
 * behind the name of the operation do not matter. Whether a range communicates at all is not
 * decided here but by derive/classify.h.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Operation, its name, whether no rank can leave it before all have come, whether each rank
 * sends as much as every other one, and what the links carry of each byte of the message in a
 * group of n, as nccl-tests defines it (NONE: no bandwidth, WHOLE: 1, SHARE: (n - 1) / n,
 * TWICE: 2 (n - 1) / n).
 */
#define OSC_COLLECTIVE_LIST(X)                             \
    X(OTHER, "", false, false, NONE)                       \
    X(ALL_REDUCE, "all_reduce", true, true, TWICE)         \
    X(ALL_GATHER, "all_gather", true, true, SHARE)         \
    X(REDUCE_SCATTER, "reduce_scatter", true, true, SHARE) \
    X(ALL_TO_ALLV, "all_to_allv", true, false, SHARE)      \
    X(ALL_TO_ALL, "all_to_all", true, false, SHARE)        \
    X(SEND_RECV, "send_recv", false, false, WHOLE)         \
    X(BROADCAST, "broadcast", false, true, WHOLE)          \
    X(REDUCE, "reduce", false, true, WHOLE)                \
    X(GATHER, "gather", false, false, SHARE)               \
    X(SCATTER, "scatter", false, false, SHARE)             \
    X(BARRIER, "barrier", true, true, NONE)                \
    X(SEND, "send", false, false, WHOLE)                   \
    X(RECV, "recv", false, false, WHOLE)

enum osc_collective {
#define OSC_COLLECTIVE_ENUM(name, text, joins, even, factor) OSC_COLLECTIVE_##name,
    OSC_COLLECTIVE_LIST(OSC_COLLECTIVE_ENUM)
#undef OSC_COLLECTIVE_ENUM
        OSC_COLLECTIVE_COUNT
};

/* The operation that NAME names, of a kernel or of a host range. */
enum osc_collective osc_collective_of(struct osc_str name);

/* The name of OP; empty for OTHER. */
struct osc_str osc_collective_name(enum osc_collective op);

/* Whether all ranks leave OP at about the same time, so that its ends show their clocks. */
bool osc_collective_joins(enum osc_collective op);

/* Whether each rank sends as much as every other one. */
bool osc_collective_is_even(enum osc_collective op);

/* The bytes of the tensors with the sizes DIMS ("Input Dims") of the types TYPES ("Input
 * type"), both JSON; -1: not known. */
int64_t osc_collective_input_bytes(struct osc_str dims, struct osc_str types);

/* The first type among TYPES that is one of a tensor; empty: none. */
struct osc_str osc_collective_input_type(struct osc_str types);

/* Bus bandwidth / algorithm bandwidth in a group of N; 0: none. */
double osc_collective_bus_factor(enum osc_collective op, uint32_t n);
