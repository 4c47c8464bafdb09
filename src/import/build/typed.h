/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.h - what readers say of a trace, in the words of the model.
 *
 *     osc_track_id main = osc_build_track(b, pid, tid);           // a thread of a process
 *     uint32_t npu = osc_build_device(b, &(struct osc_device){.family = ..., .index = 0});
 *     osc_track_id queue = osc_build_queue(b, npu, 7, name);
 *     osc_build_event(b, &(struct osc_record){.shape = OSC_SHAPE_RANGE,
 *                     .kind = OSC_KIND_OPERATOR, .track = main, ...}, &args);
 *     osc_build_step(b, &(struct osc_step_row){.track = main, .label = label, ...}, NULL);
 *     osc_build_memory(b, &(struct osc_memory_row){.track = main, .device = npu, ...}, NULL);
 *     osc_build_arrow(b, OSC_ARROW_LAUNCH, &call, &kernel);
 *
 * A reader names kinds, tracks, devices; nobody derives them from names. What events have
 * beside that are arguments (arguments.h) under the keys of model/form.h.
 *
 *   - A row is known by its track and its start until the batch is joined, so an arrow
 *     goes from the start of one range to that of another. Of several that start there
 *     the innermost is meant; of forward and backward operators that with a sequence number.
 *   - Device work is launched by the call with the same argument `correlation`, or, where
 *     it has none, by the call that an arrow OSC_ARROW_LAUNCH comes from.
 *   - A kernel with the argument `Collective name` communicates.
 *
 * Every status is sticky in osc_builder.status.
 *
 * Threading: as builder.h; devices, members and names are locked by the loading.
 */
#pragma once

#include "import/build/arguments.h"

/* Append R with the arguments A (NULL: none). R needs no slots. */
void osc_build_event(struct osc_builder *b, struct osc_record *r,
                     const struct osc_arguments *a);

/* Set the program's name for a thread or queue, and the name of a process. The last one
 * wins. */
void osc_build_track_name(struct osc_builder *b, osc_track_id track, osc_sid name);
void osc_build_process_name(struct osc_builder *b, osc_track_id track, osc_sid name);

/*
 * Add a device by family, index (-1: none), model and limits (osc_device_limits_init()); its
 * name is made from them. Returns a number for the functions below; UINT32_MAX: out of memory.
 */
uint32_t osc_build_device(struct osc_builder *b, const struct osc_device *device);

/* The name of the device, as tracks show it: "npu:1". */
osc_sid osc_build_device_name(const struct osc_builder *b, uint32_t device);

/* The queue NUMBER of the device; it may have a name. Rows on it are work of the device. */
osc_track_id osc_build_queue(struct osc_builder *b, uint32_t device, osc_who number,
                             osc_sid name);

/* A step of the program; it is open if it has no duration. */
struct osc_step_row {
    osc_track_id track;
    struct osc_str label;
    int64_t ts_ns, dur_ns;
};

/* ARGS, its arguments, may be NULL. */
void osc_build_step(struct osc_builder *b, const struct osc_step_row *step,
                    const struct osc_arguments *args);
/* The name of the step LABEL. */
osc_sid osc_build_step_name(struct osc_builder *b, struct osc_str label);

#define OSC_BYTES_UNKNOWN INT64_MIN

/* An allocation or release of memory. */
struct osc_memory_row {
    osc_track_id track;
    int64_t ts_ns;
    uint32_t device;
    uint64_t address;
    int64_t bytes; /* negative: a release */
    /* Totals of the device from then on, or OSC_BYTES_UNKNOWN. A total may be negative if the
     * allocator started counting late. */
    int64_t allocated_bytes, reserved_bytes;
};

/* Append a memory record. MORE are further arguments; NULL: none. */
void osc_build_memory(struct osc_builder *b, const struct osc_memory_row *memory,
                      const struct osc_arguments *more);

/* Append a value of the counter NAME, valid from TS_NS on. */
void osc_build_counter(struct osc_builder *b, osc_track_id track, osc_sid name, int64_t ts_ns,
                       double value);

/* Where an arrow starts or ends. */
struct osc_arrow_end {
    osc_track_id track;
    int64_t ts_ns;
};

void osc_build_arrow(struct osc_builder *b, enum osc_arrow_kind kind,
                     const struct osc_arrow_end *from, const struct osc_arrow_end *to);

/*
 * Append a single end of an arrow of KIND, with shape ARROW_FROM, STEP or TO. All ends with one
 * KIND, CATEGORY and ID form one arrow. Do not use it together with osc_build_arrow() for one
 * kind: that one chooses ids.
 */
void osc_build_arrow_end(struct osc_builder *b, enum osc_form_shape shape,
                         enum osc_arrow_kind kind, osc_sid category, uint64_t id,
                         const struct osc_arrow_end *at);

/* Add a member of the source outside its events. For one KEY the last VALUE wins. */
void osc_build_member(struct osc_builder *b, osc_sid key, osc_sid value, bool is_string);
