/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - what the recorder writes for each call: kinds of records and their slots.
 *
 * A record is one to OSC_RECORD_SLOTS_MAX slots of 16 bytes, little-endian:
 *
 *              0               8        12     14  15
 *     slot 0   value           id       tag    kind n_slots
 *     slot 1.. two words of 64 bits, or bytes of text
 *
 *   value   the time in ticks for timed kinds, otherwise the payload
 *   id      a name (offset in the string log / 8), or what the kind defines
 *   tag     tag of the block that holds it (wire/live.h); written last, so a slot with
 *           another tag is unfinished
 *
 * Records of a thread are in the order of their calls. A call in a signal handler can stand
 * before the call that it interrupted and have a slightly later time.
 *
 * Threading: constants and pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct osc_record_slot {
    uint64_t value;
    uint64_t word; /* id | tag << 32 | kind << 48 | n_slots << 56 */
};

#define OSC_RECORD_SLOT_BYTES 16u
#define OSC_RECORD_SLOTS_MAX  200u

/*
 * number, name, timed, what the id is, 64-bit words after slot 0 (text apart), and
 * what they are. Of COMPLETE and BEGIN there is one kind for each osc_scope_kind.
 */
#define OSC_RECORD_KIND_LIST(X)                                                              \
    X(0x01, END, true, NONE, 0, "")                                                          \
    X(0x02, INSTANT, true, NAME, 0, "")                                                      \
    X(0x03, COUNTER_I64, true, NAME, 2, "value, 0")                                          \
    X(0x04, COUNTER_F64, true, NAME, 2, "value (IEEE 754), 0")                               \
    X(0x05, ALLOC, true, DEVICE, 2, "address, bytes")                                        \
    X(0x06, FREE, true, DEVICE, 2, "address, bytes")                                         \
    X(0x07, ALLOC_TOTAL, true, DEVICE, 4, "address, bytes, allocated, reserved bytes")       \
    X(0x08, FREE_TOTAL, true, DEVICE, 4, "address, bytes, allocated, reserved bytes")        \
    X(0x09, STEP_BEGIN, true, NONE, 2, "number of the step, how")                            \
    X(0x0a, STEP_END, true, NONE, 0, "")                                                     \
    X(0x0b, FLOW_BEGIN, true, NONE, 2, "id of the arrow, 0")                                 \
    X(0x0c, FLOW_END, true, NONE, 2, "id of the arrow, 0")                                   \
    X(0x0d, ASYNC_BEGIN, true, NAME, 2, "id of the range, osc_scope_kind")                   \
    X(0x0e, ASYNC_END, true, NAME, 2, "id of the range, osc_scope_kind")                     \
    X(0x0f, WORK, true, NAME, 8,                                                             \
      "queue | work kind << 32, correlation, append, submit, start, end (device ticks), "    \
      "bytes, 0")                                                                            \
    X(0x10, DEVICE_CLOCK, true, DEVICE, 2, "device ticks, ticks to after; the time: before") \
    X(0x11, LAUNCH, true, NONE, 2, "correlation, 0; of the innermost scope")                 \
    X(0x12, THREAD_NAME, true, NAME, 0, "")                                                  \
    X(0x13, PAUSE, true, NONE, 0, "")                                                        \
    X(0x14, RESUME, true, NONE, 0, "")                                                       \
    X(0x15, LOST, true, CAUSE, 0, "the id: why records before this one are missing")         \
    X(0x16, DEVICE, true, NAME, 4, "device, index, memory bytes, clock Hz; the id: family")  \
    X(0x17, DEVICE_NAME, true, NAME, 2, "device, 0")                                         \
    X(0x18, QUEUE, true, NAME, 2, "queue, device")                                           \
    X(0x19, METADATA, false, NAME, 0, "value: name of the value; the id: key")               \
    X(0x1a, PROCESS_NAME, true, NAME, 0, "")                                                 \
    X(0x1b, END_OF, true, BEGIN, 0, "the id: low half of the time of a BEGIN")               \
    X(0x20, ARG_I64, false, NAME, 0, "value: the integer; the id of all ARGs: key")          \
    X(0x21, ARG_F64, false, NAME, 0, "value: IEEE 754")                                      \
    X(0x22, ARG_BOOL, false, NAME, 0, "value: 0 or 1")                                       \
    X(0x23, ARG_NAME, false, NAME, 0, "value: a name")                                       \
    X(0x24, ARG_I64S, false, NAME, 0, "value: how many; then as many words, padded to 2")    \
    X(0x25, ARG_TEXT, false, NAME, 0, "value: bytes; then the text, padded to 16")           \
    X(0x26, ARG_JSON, false, NAME, 0, "value: bytes; then JSON text, padded to 16")          \
    X(0x27, ARGS, false, NONE, 0,                                                            \
      "value: a name, whose bytes are names: key, JSON text, key, ...")                      \
    X(0x28, ARG_STACK, false, STACK_END, 0,                                                  \
      "value: frames; their addresses, 0: none, padded to 2")

enum osc_record_kind {
#define OSC_RECORD_KIND_ENUM(number, name, timed, id, words, what) OSC_RECORD_##name = (number),
    OSC_RECORD_KIND_LIST(OSC_RECORD_KIND_ENUM)
#undef OSC_RECORD_KIND_ENUM
        OSC_RECORD_BEGIN = 0x40, /* + osc_scope_kind: timed; id is the name */
    OSC_RECORD_COMPLETE = 0x60,  /* + osc_scope_kind: value is the start; then duration, 0 */
    OSC_RECORD_KIND_END = 0x80
};

/* Marks a step that counts only if something ends it; 0: any other step. */
#define OSC_STEP_IF_ENDED 1u

/* Key of the ARG_I64 with the number of calls for which a scope stands, if not only itself. */
#define OSC_SAMPLED_KEY "sampled calls"

/* Key of the METADATA with the ticks at which scopes end that have no end record. */
#define OSC_RECORD_FACT_OPEN_END "open_scopes_end_ticks"

/* Keys of the METADATA with what is sampled: a name, or the begin of names and '*', follows.
 * The value is "100" (one in 100 calls), "5000/s" or "1" (all). */
#define OSC_RECORD_FACT_SAMPLE "sample."

/* Key of the METADATA with the limits of a device, whose number follows: numbers, -1 if
 * unknown, in the order of docs/format.md. */
#define OSC_RECORD_FACT_LIMITS "device_limits."

/* Why records were lost, in the order of the members of struct osc_losses: X(CAUSE, the member,
 * the words behind "3 records were lost"). Findings (dropped_MEMBER) and words of status
 * (lost_MEMBER) follow. How many were is counted in one place, osc_live_thread.lost
 * (wire/live.h); LOST only says where. */
#define OSC_LOSS_LIST(X)                          \
    X(FULL, full, "for which memory had no room") \
    X(TOO_BIG, too_big, "too long")               \
    X(NESTED, nested, "made in signal handlers")  \
    X(LATE, late, "made after the end")

#define OSC_LOSS_NUMBER(cause, member, words) OSC_LOSS_##cause,
enum osc_loss { OSC_LOSS_LIST(OSC_LOSS_NUMBER) OSC_LOSS_COUNT };
#undef OSC_LOSS_NUMBER

/* Most frames of an ARG_STACK; the innermost comes first. */
#define OSC_RECORD_FRAMES_MAX 128u

/* Why an ARG_STACK has no more frames; stored in its id. */
enum osc_stack_end {
    OSC_STACK_WHOLE,  /* the outermost frame is included */
    OSC_STACK_CUT,    /* it has more than OSC_RECORD_FRAMES_MAX frames */
    OSC_STACK_BROKEN, /* code without frame pointers: the callers are unknown */
};

static inline uint64_t osc_record_word(uint32_t id, uint32_t tag, uint32_t kind,
                                       uint32_t n_slots)
{
    return id | (uint64_t)tag << 32 | (uint64_t)kind << 48 | (uint64_t)n_slots << 56;
}

/*
 * Read the word of a slot that its thread may be writing: if the tag matches, the whole record
 * is complete. The word may be stored in two halves, the half with the tag last, so one load
 * of the whole word never sees the tag without the rest.
 */
static inline uint64_t osc_record_look(const struct osc_record_slot *slot)
{
    /* acquire: pairs with the release of the recording call. */
    return __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);
}

static inline uint32_t osc_record_id(uint64_t word)
{
    return (uint32_t)word;
}

static inline uint32_t osc_record_tag(uint64_t word)
{
    return (uint32_t)(word >> 32) & 0xffff;
}

static inline uint32_t osc_record_kind(uint64_t word)
{
    return (uint32_t)(word >> 48) & 0xff;
}

static inline uint32_t osc_record_n_slots(uint64_t word)
{
    return (uint32_t)(word >> 56);
}
