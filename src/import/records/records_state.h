/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_state.h - the state of a recording while rows are made of its records.
 *
 * Shared by records_rows.h, which reads records one by one, deferred.h, which keeps the records
 * that need all others, and records_links.h.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/strbuf.h"
#include "import/build/typed.h"
#include "import/records/records_args.h"
#include "import/records/records_callers.h"
#include "import/records/records_clock.h"
#include "import/records/records_names.h"
#include "import/records/records_stacks.h"
#include "opscope/record.h"
#include "wire/pack.h"

/* --- what waits until all is read --------------------------------------------------------- */

struct osc_records_item {
    int64_t ts_ns, dur_ns;
    uint64_t order; /* the order of reading */
    uint32_t thread;
    osc_sid name;
    uint8_t kind;
    uint32_t id;      /* the record's id, if that is not a name */
    size_t word;      /* in osc_deferred.words */
    size_t slot, arg; /* in args.slots and args.words */
    uint32_t n_slots, n_args;
};

struct osc_records_device {
    osc_sid type, name; /* its family; its name, or none */
    uint32_t number;    /* in the records */
    uint32_t index;     /* N of FAMILY:N */
    uint32_t built;     /* its number in the builder */
    osc_sid text;       /* FAMILY:N */
    osc_sid family;
    int64_t built_index; /* N; -1: none */
    bool is_cpu;
    struct osc_device_limits limits;
    uint64_t hz;                    /* 0: unknown */
    struct osc_records_pair *pairs; /* owned */
    size_t n_pairs, cap_pairs;
    struct osc_records_fit fit;
    int64_t sum_bytes, least_bytes; /* allocated bytes: now, and the least so far */
};

struct osc_records_queue {
    uint32_t number, device;
    osc_sid name;
    osc_track_id track;
};

/* Where work was launched: the start of a call, made up or not. */
struct osc_records_launch {
    struct osc_arrow_end at;
    uint32_t range; /* number of the marked range it is in, or 0 (copies.h) */
    bool has_arrow; /* an arrow starts there already */
};

struct osc_deferred {
    struct osc_records_item *items;      /* owned */
    uint64_t *words;                     /* owned */
    struct osc_arguments args;           /* those of all items, one after the other */
    struct osc_records_device *devices;  /* owned */
    struct osc_records_queue *queues;    /* owned */
    struct osc_records_launch *launches; /* owned */
    struct osc_idmap launch_of;          /* correlation -> index in launches + 1 */
    size_t n_items, cap_items, n_words, cap_words;
    size_t n_devices, cap_devices, n_queues, cap_queues, n_launches, cap_launches;
};

/* --- copies of ranges on devices ---------------------------------------------------------- */

struct osc_records_copy {
    uint32_t range; /* index in osc_records_copies.ranges */
    uint32_t queue; /* its number */
    int64_t start_ns, end_ns;
};

/* Zeroed, there are none. */
struct osc_records_copies {
    osc_sid *ranges; /* owned; the names of ranges in which work was launched; of a step
                      * OSC_COPIES_UNNAMED until one knows that it counts */
    struct osc_records_copy *copies; /* owned; in order of their starts */
    struct osc_idmap of_step; /* step, see osc_copies_step() -> its index in ranges + 1 */
    struct osc_idmap at;      /* range and queue -> index in copies + 1 */
    size_t n_ranges, cap_ranges, n_copies, cap_copies;
};

/* --- threads and rows ------------------------------------------------------------------- */

/* The last record that can have arguments, until the next record shows that no more come. */
struct osc_records_held {
    uint8_t kind; /* of the record; 0: none */
    osc_sid name, category;
    osc_sid callers; /* `Call stack` of a Python function, while it has no other argument */
    int64_t ts_ns, dur_ns;
    size_t late; /* index + 1 in osc_deferred.items, or 0: a row */
};

/* Arguments of the scope at depth, counted from 1, that came after its children. */
struct osc_records_waiting {
    uint32_t depth;
    size_t n_slots, n_words; /* in osc_records_thread.waiting before these */
};

/* An open scope. */
struct osc_records_open {
    uint32_t caller; /* node of the innermost Python function: this scope or around it; or 0 */
    uint8_t kind;    /* enum osc_scope_kind */
    bool has_launched;
    bool is_counted; /* as a misplaced end */
    bool has_ended;  /* at ended_ns, while scopes that began in it are open */
    uint32_t token;  /* low half of the ticks of its begin */
    uint32_t row;    /* of its begin in chunk */
    osc_sid name;
    uint32_t step;    /* index + 1 in osc_deferred.items of the step it began in, or 0 */
    uint32_t marked;  /* its number in copies.h, or 0: it has none yet */
    uint32_t nearest; /* place + 1 of the innermost scope, from this one on, that may have
                       * copies; 0: none */
    int64_t ended_ns;
    int64_t latest_ns; /* of the ends of scopes in it, while some of its thread have ended */
    struct osc_chunk *chunk; /* borrowed; NULL: its end becomes a row of its own */
};

/* The end of a scope that is not among the innermost of its thread. */
struct osc_records_stray {
    uint32_t token;
    int64_t ts_ns;
};

struct osc_records_thread {
    uint64_t ordinal;
    osc_who tid;
    osc_track_id track;
    uint64_t torch_thread;         /* its number in PyTorch; 0: unknown */
    uint32_t depth;                /* number of open scopes */
    uint32_t n_ended;              /* of them that have ended */
    struct osc_records_open *open; /* owned; the open scopes, the innermost last */
    size_t cap_open;
    struct osc_idmap
        places; /* token -> place in open + 1; strays.c makes it when it needs it */
    struct osc_records_held held;
    struct osc_arguments args;    /* of held */
    struct osc_arguments waiting; /* of open scopes, the innermost last */
    struct osc_records_waiting *scopes;
    size_t n_scopes, cap_scopes;
    size_t step; /* index + 1 of the open step in osc_deferred.items, or 0 */
};

struct osc_records_rows {
    struct osc_builder *builder;     /* borrowed, like clock and names */
    struct osc_records_clock *clock; /* sorted */
    struct osc_records_names *names;
    struct osc_records_stacks stacks;   /* owned */
    struct osc_records_callers callers; /* owned */
    osc_who pid;
    struct osc_records_thread *threads; /* owned */
    size_t n_threads, cap_threads;
    struct osc_idmap by_ordinal, by_tid;
    struct osc_records_stray *strays; /* owned */
    size_t n_strays, cap_strays;
    osc_form_id begins[OSC_SCOPE_KIND_COUNT], completes[OSC_SCOPE_KIND_COUNT];
    osc_form_id end, instant, oom;
    osc_form_id called; /* the begin of a Python function with `Call stack`; made when the first
                           one is read */
    osc_sid name_oom, key_correlation, key_value, key_torch_thread, key_returned, category_flow;
    struct osc_deferred late;
    struct osc_records_copies copies;      /* owned */
    int64_t first_lost_ns[OSC_LOSS_COUNT]; /* of records LOST; OSC_NO_TIME: unknown */
    struct osc_strbuf text;
    uint64_t n_records;      /* read so far */
    uint64_t n_open;         /* scopes that were open at the end, except of Python functions */
    uint64_t open_end_ticks; /* when scopes end that no record ends; 0: unknown */
    bool is_scout;           /* only steps, and what measures them, are wanted */
    bool is_torch;           /* operators are recorded by PyTorch */
};

/* The kind of rows made of scopes of SCOPE_KIND, a number in a recording. */
static inline enum osc_kind osc_records_kind(uint64_t scope_kind)
{
    static const uint8_t kinds[OSC_SCOPE_KIND_COUNT] = {
        [OSC_SCOPE_PLAIN] = OSC_KIND_SCOPE,
        [OSC_SCOPE_OPERATOR] = OSC_KIND_OPERATOR,
        [OSC_SCOPE_ANNOTATION] = OSC_KIND_ANNOTATION,
        [OSC_SCOPE_MODULE] = OSC_KIND_MODULE,
        [OSC_SCOPE_RUNTIME] = OSC_KIND_RUNTIME,
        [OSC_SCOPE_DRIVER] = OSC_KIND_DRIVER,
        [OSC_SCOPE_COMMUNICATION] = OSC_KIND_COMMUNICATION,
        [OSC_SCOPE_DATALOADER] = OSC_KIND_DATALOADER,
        [OSC_SCOPE_OPTIMIZER] = OSC_KIND_OPTIMIZER,
        [OSC_SCOPE_PYTHON] = OSC_KIND_PYTHON,
        [OSC_SCOPE_OVERHEAD] = OSC_KIND_OVERHEAD,
    };

    return (
        enum osc_kind)kinds[scope_kind < OSC_SCOPE_KIND_COUNT ? scope_kind : OSC_SCOPE_PLAIN];
}
