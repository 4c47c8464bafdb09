/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.h - what events written in the same way have in common.
 *
 * A trace has millions of events and a few hundred ways to write one. A form is such a way:
 * the sort of record (shape), what it means (kind), and the list of arguments with their
 * types. An event stores only the id of its form and the values, as consecutive 32-bit words;
 * the form defines what each word means.
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
 * Fields of an event outside its args, such as the id of an arrow, are stored as arguments too
 * (is_member).
 *
 * Chrome's format has its own words for shape and kind. A form keeps them (chrome_ph,
 * category), so that such a trace can be written again unchanged; only the reader of that
 * format derives anything from them.
 *
 * Each form owns its slots, and no two forms share them: a copy of a form for other rows gets
 * slots of its own (osc_form_set_slots()). SLOTS is NULL if, and only if, N_SLOTS is 0.
 *
 * Threading: read-only once the trace is sealed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/status.h"

typedef struct osc_form_id {
    uint32_t v;
} osc_form_id;

/* How a record relates to time. */
enum osc_form_shape {
    OSC_SHAPE_NONE,
    /* Rows of the store of events. */
    OSC_SHAPE_RANGE,   /* a range of its track, with its duration in the record */
    OSC_SHAPE_BEGIN,   /* a range of its track; its end is another record, or missing */
    OSC_SHAPE_ASYNC,   /* a range of a process; begin and end share an id */
    OSC_SHAPE_INSTANT, /* a point in time */
    OSC_SHAPE_COUNTER, /* a value from this time on */
    /* Rows of the other store. */
    OSC_SHAPE_END,
    OSC_SHAPE_ASYNC_END,
    OSC_SHAPE_ARROW_FROM, /* an arrow starts here, */
    OSC_SHAPE_ARROW_STEP, /* passes here, */
    OSC_SHAPE_ARROW_TO,   /* ends here */
    OSC_SHAPE_ABOUT,      /* what a format says about a track or process */
    OSC_SHAPE_COUNT
};

static inline bool osc_shape_is_event(enum osc_form_shape s)
{
    return s >= OSC_SHAPE_RANGE && s <= OSC_SHAPE_COUNTER;
}

static inline bool osc_shape_is_other(enum osc_form_shape s)
{
    return s >= OSC_SHAPE_END && s < OSC_SHAPE_COUNT;
}

/* Whether S is a range of its track. */
static inline bool osc_shape_is_range(enum osc_form_shape s)
{
    return s == OSC_SHAPE_RANGE || s == OSC_SHAPE_BEGIN;
}

static inline bool osc_shape_is_arrow(enum osc_form_shape s)
{
    return s >= OSC_SHAPE_ARROW_FROM && s <= OSC_SHAPE_ARROW_TO;
}

/* What an arrow connects. */
enum osc_arrow_kind {
    OSC_ARROW_OTHER,
    OSC_ARROW_LAUNCH,  /* a host call to the work that it started on a device */
    OSC_ARROW_FORWARD, /* a forward operator to its backward operator */
    OSC_ARROW_KINDS
};

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

/* Arguments that analyses use; a form knows the slot of each. */
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
    X(SIZE, "size")                             \
    X(SEQUENCE_NUMBER, "Sequence number")       \
    X(FWD_THREAD, "Fwd thread id")              \
    X(INPUT_DIMS, "Input Dims")                 \
    X(INPUT_DIMS_OLD, "Input dims")             \
    X(INPUT_STRIDES, "Input Strides")           \
    X(INPUT_TYPE, "Input type")                 \
    X(CONCRETE_INPUTS, "Concrete Inputs")       \
    X(CALL_STACK, "Call stack")                 \
    X(EV_IDX, "Ev Idx")                         \
    X(RECORD_FUNCTION_ID, "Record function id") \
    X(PYTHON_ID, "Python id")                   \
    X(PYTHON_PARENT_ID, "Python parent id")     \
    X(PYTHON_MODULE_ID, "Python module id")     \
    X(MODULE_HIERARCHY, "Module Hierarchy")     \
    X(MODULE_PATH, "Module path")               \
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
    X(CORRELATION_ID, "correlation_id")         \
    X(CORRELATION_ID_OLD, "correlationId")      \
    X(TASK_TYPE, "Task Type")                   \
    X(FULL_NAME, "fullname")                    \
    X(STREAM_ID, "stream id")                   \
    X(STEP_NUM, "step_num")                     \
    X(GRAPH_ID, "graph id")                     \
    X(ID2, "id2")                               \
    X(ID_SCOPE, "scope")                        \
    X(LABELS, "labels")                         \
    X(DTYPE, "dtype")                           \
    X(DESC, "desc")                             \
    X(PROCESS_GROUP, "Process Group Name")      \
    X(GROUP_RANKS, "Process Group Ranks")       \
    X(GROUP_SIZE, "Group size")                 \
    X(IN_ELEMENTS, "In msg nelems")             \
    X(OUT_ELEMENTS, "Out msg nelems")           \
    X(SEQ, "Seq")                               \
    X(SAMPLED_CALLS, "sampled calls")           \
    X(STORAGES, "Storages")                     \
    X(STORAGES_2, "Storages 2")                 \
    X(STORAGES_3, "Storages 3")                 \
    X(STORAGES_4, "Storages 4")                 \
    X(STORAGES_5, "Storages 5")                 \
    X(STORAGES_6, "Storages 6")                 \
    X(STORAGES_7, "Storages 7")                 \
    X(STORAGES_8, "Storages 8")                 \
    X(STORAGE_DEVICES, "Storage devices")       \
    X(PARAMETERS, "Parameters")                 \
    X(PARAMETERS_BYTES, "Parameters bytes")     \
    X(OPTIMIZER_STATE, "Optimizer state")       \
    X(STATE_BYTES, "Optimizer state bytes")     \
    X(DEVICE_FAMILY, "device family")

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
    uint16_t word;  /* where its words start, relative to the event's first word */
    uint8_t type;   /* enum osc_arg_type */
    bool is_member; /* a field of the event itself, not one of its args */
};

/* FLOW_ID, BINDING_POINT, ID2 and ID_SCOPE are looked up among members, all other keys among
 * args. */
struct osc_form {
    uint8_t shape;    /* enum osc_form_shape */
    uint8_t kind;     /* enum osc_kind; a row's name and arguments may refine it */
    uint8_t arrow;    /* enum osc_arrow_kind, for arrows */
    bool is_device;   /* happens on a device, not on the host */
    bool is_frame;    /* a call in the program's language, not a range that somebody marked */
    bool is_profiler; /* the time in which the recorder says it was on */
    bool has_args;    /* the event had args, possibly empty */
    char chrome_ph;   /* the letter in a Chrome trace; NUL: not from Chrome */
    osc_sid category; /* the source's own word for the kind, or none */
    uint16_t n_slots; /* at most OSC_FORM_SLOTS_MAX */
    uint16_t n_words; /* of all values */
    struct osc_slot *slots;           /* owned, or NULL; in the order of the file */
    int16_t known[OSC_ARG_KEY_COUNT]; /* index in slots (the last of that key), or -1 */
};

#define OSC_FORM_SLOTS_MAX 16384

/*
 * Give F, whatever it has, a copy of the N SLOTS; what it had is not freed. On OSC_ENOMEM it
 * has none. SLOTS may be NULL if N is 0.
 */
OSC_MUST_USE osc_status osc_form_set_slots(struct osc_form *f, const struct osc_slot *slots,
                                           uint32_t n);

/* Keep only the first N slots of F. */
void osc_form_cut_slots(struct osc_form *f, uint32_t n);

/* Whether the source has no words of its own for shape and kind. */
static inline bool osc_form_is_neutral(const struct osc_form *f)
{
    return f->chrome_ph == '\0';
}

/* Whether events of the form are halves of asynchronous ranges as Chrome's format had them
 * first (phases S, T and F). */
static inline bool osc_form_is_old_async(const struct osc_form *f)
{
    return f->chrome_ph == 'S' || f->chrome_ph == 'T' || f->chrome_ph == 'F';
}

/* Number of words in a value of TYPE. */
static inline uint32_t osc_arg_words(enum osc_arg_type type)
{
    static const uint8_t words[] = {
        [OSC_ARG_NULL] = 0,   [OSC_ARG_TRUE] = 0,  [OSC_ARG_FALSE] = 0,
        [OSC_ARG_INT32] = 1,  [OSC_ARG_INT64] = 2, [OSC_ARG_DOUBLE] = 2,
        [OSC_ARG_STRING] = 1, [OSC_ARG_TEXT] = 1,  [OSC_ARG_NUMTEXT] = 1,
    };

    return words[type];
}
