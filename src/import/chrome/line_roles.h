/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_roles.h - what a line of a picture holds, by the names of its process and thread.
 *
 * Each dialect (model/producer.h) has names of its own. The roles are those of lines.h, with
 * more detail.
 *
 * Threading: pure functions.
 */
#pragma once

#include "model/producer.h"
#include "model/trace.h"

enum osc_line_role {
    OSC_LINE_HOST,      /* nothing to change, unless a name tells a call */
    OSC_LINE_CALLS,     /* calls of a runtime */
    OSC_LINE_OPERATORS, /* operators of a framework */
    OSC_LINE_LABELS,    /* ranges that the program marked */
    OSC_LINE_WORK,      /* kernels, copies, memsets */
    OSC_LINE_COPIES,    /* copies */
    OSC_LINE_TRANSFERS, /* copies, and work of the network */
    OSC_LINE_BARRIERS,  /* synchronisations */
    OSC_LINE_MARKS,     /* ranges over work */
    OSC_LINE_STEPS,     /* steps of the device */
    OSC_LINE_SUMMARY,   /* repeats other lines */
};

#define OSC_LINE_NO_INDEX (-1)

/* What a track is, and the device to which it belongs. */
struct osc_line {
    enum osc_line_role role;
    const char *sort;    /* static: "gpu", "tpu"; NULL: no device */
    int64_t index;       /* of the device, or OSC_LINE_NO_INDEX */
    struct osc_str host; /* what the name of the process says before the device */
};

/* The line of TRACK of T, which has DIALECT. */
struct osc_line osc_line_of(const struct osc_trace *t, enum osc_dialect dialect,
                            const struct osc_track *track);

/* Whether a process called PROCESS is one of TensorFlow's timeline: a device, or its streams.
 */
bool osc_line_is_tensorflow(struct osc_str process);

/* Whether a process called PROCESS is one of unitrace: "[RANK 3 ]HOST<node>", or a device. */
bool osc_line_is_unitrace(struct osc_str process);

/* The place of PROCESS among those that draw the work of Ascend, the most trusted first; -1: it
 * does not. */
int osc_line_ascend_rank(struct osc_str process);

/* Whether NAME says in MindSpore's timeline that a stream ran: "stream_540_parallel_0". */
bool osc_line_is_stream_run(struct osc_str name);

/* Whether S is one of LIST, which ends with NULL. */
bool osc_line_is_one_of(struct osc_str s, const char *const *list);
