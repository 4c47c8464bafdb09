/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.h - what events of one make have in common.
 *
 * A trace has millions of events and a few hundred ways to write one. A form is
 * such a way: the phase, the category and the list of arguments with their types.
 * An event stores the id of its form and the values alone, as 32-bit words one
 * after the other; the form says what each word means.
 *
 *   type       words  stored as
 *   NULL           0  in the form alone
 *   TRUE, FALSE    0  in the form alone
 *   INT32          1  two's complement
 *   INT64          2  low word first
 *   DOUBLE         2  IEEE 754, low word first
 *   STRING         1  id of the bytes
 *   TEXT           1  id of the bytes: JSON text of a list or an object
 *   NUMTEXT        1  id of the bytes: a number that no other type holds exactly
 *
 * Members of an event other than ph, name, cat, pid, tid, ts, dur and args are
 * arguments too (is_member): flow ids, scopes, binding points.
 *
 * Threading: read-only once the trace is sealed.
 */
#ifndef OSC_MODEL_FORM_H
#define OSC_MODEL_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"

typedef struct osc_form_id {
    uint32_t v;
} osc_form_id;

enum osc_arg_type {
    OSC_ARG_NULL,
    OSC_ARG_TRUE,
    OSC_ARG_FALSE,
    OSC_ARG_INT32,
    OSC_ARG_INT64,
    OSC_ARG_DOUBLE,
    OSC_ARG_STRING,
    OSC_ARG_TEXT,
    OSC_ARG_NUMTEXT,
};

/* Arguments that analyses ask for; a form knows where it keeps each. */
#define OSC_ARG_KEY_LIST(X)                     \
    X(CORRELATION, "correlation")               \
    X(EXTERNAL_ID, "External id")               \
    X(EXTERNAL_ID_OLD, "external id")           \
    X(DEVICE, "device")                         \
    X(STREAM, "stream")                         \
    X(GRID, "grid")                             \
    X(BLOCK, "block")                           \
    X(REGISTERS, "registers per thread")        \
    X(SHARED_MEMORY, "shared memory")           \
    X(BLOCKS_PER_SM, "blocks per SM")           \
    X(OCCUPANCY, "est. achieved occupancy %")   \
    X(BYTES_COPIED, "bytes")                    \
    X(SEQUENCE_NUMBER, "Sequence number")       \
    X(FWD_THREAD, "Fwd thread id")              \
    X(INPUT_DIMS, "Input Dims")                 \
    X(INPUT_DIMS_OLD, "Input dims")             \
    X(INPUT_TYPE, "Input type")                 \
    X(CONCRETE_INPUTS, "Concrete Inputs")       \
    X(CALL_STACK, "Call stack")                 \
    X(EV_IDX, "Ev Idx")                         \
    X(RECORD_FUNCTION_ID, "Record function id") \
    X(PYTHON_ID, "Python id")                   \
    X(PYTHON_PARENT_ID, "Python parent id")     \
    X(PYTHON_MODULE_ID, "Python module id")     \
    X(MODULE_HIERARCHY, "Module Hierarchy")     \
    X(DEVICE_TYPE, "Device Type")               \
    X(DEVICE_ID, "Device Id")                   \
    X(ADDR, "Addr")                             \
    X(BYTES, "Bytes")                           \
    X(TOTAL_ALLOCATED, "Total Allocated")       \
    X(TOTAL_RESERVED, "Total Reserved")         \
    X(COLLECTIVE_NAME, "Collective name")       \
    X(IS_ASYNC, "Is asynchronous")              \
    X(FLOW_ID, "id")                            \
    X(BINDING_POINT, "bp")                      \
    X(NAME, "name")                             \
    X(LABELS, "labels")

enum osc_arg_key {
#define OSC_ARG_KEY_ENUM(name, text) OSC_ARG_KEY_##name,
    OSC_ARG_KEY_LIST(OSC_ARG_KEY_ENUM)
#undef OSC_ARG_KEY_ENUM
        OSC_ARG_KEY_COUNT
};

/* The text of KEY, static. */
const char *osc_arg_key_text(enum osc_arg_key key);

struct osc_slot {
    osc_sid key;
    uint16_t word;  /* where its words start, counted from the event's first */
    uint8_t type;   /* enum osc_arg_type */
    bool is_member; /* of the event itself, not of its args */
};

/* FLOW_ID and BINDING_POINT look among members only, all others among args only. */
struct osc_form {
    uint8_t ph;       /* the phase as in the file: 'X', 'i', … */
    uint8_t has_args; /* the event had an args object, be it empty */
    uint8_t kind;   /* enum osc_kind by phase and category alone, see import/chrome/dialect.h */
    bool is_device; /* the category is of what happens on a device, not on the host */
    osc_sid category;                 /* as in the file; none if absent */
    uint16_t n_slots;                 /* at most OSC_FORM_SLOTS_MAX */
    uint16_t n_words;                 /* of all values together */
    struct osc_slot *slots;           /* owned by the trace; in order of the file */
    int16_t known[OSC_ARG_KEY_COUNT]; /* index in slots (the last of that key), or -1 */
};

#define OSC_FORM_SLOTS_MAX 16384

/* Words that a value of TYPE takes. */
static inline uint32_t osc_arg_words(enum osc_arg_type type)
{
    static const uint8_t words[] = {
        [OSC_ARG_NULL] = 0,   [OSC_ARG_TRUE] = 0,  [OSC_ARG_FALSE] = 0,
        [OSC_ARG_INT32] = 1,  [OSC_ARG_INT64] = 2, [OSC_ARG_DOUBLE] = 2,
        [OSC_ARG_STRING] = 1, [OSC_ARG_TEXT] = 1,  [OSC_ARG_NUMTEXT] = 1,
    };

    return words[type];
}

#endif
