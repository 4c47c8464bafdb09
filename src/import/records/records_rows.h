/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_rows.h - records of a recording become rows.
 *
 *   scopes          the begin as a row, which gets its duration with the end; an end that
 *                   arguments wait for, or whose begin is not known, as one of its own,
 *                   which seal pairs as it does all others
 *   args            of the record before them, if that takes any; else of the scope that
 *                   is innermost then: they wait for its end and stand on that
 *   Python          functions on a thread that PyTorch has numbered have what called them
 *                   as `Call stack` (native_callers.h)
 *   launches        in a scope that is no call of a runtime or driver one is made up, so
 *                   that the work is found to be of that scope
 *   what is late    memory, asynchronous ranges, steps, work of devices: they need what
 *                   other threads recorded, and are put in order of time at the end
 *                   (native_late.h)
 *
 * Records come segment by segment in order of the file; of one thread that is the order
 * of its calls.
 *
 * Threading: not locked.
 */
#ifndef OSC_IMPORT_RECORDS_RECORDS_ROWS_H
#define OSC_IMPORT_RECORDS_RECORDS_ROWS_H

#include "base/strbuf.h"
#include "import/build/typed.h"
#include "import/records/deferred.h"
#include "import/records/records_callers.h"
#include "import/records/records_clock.h"
#include "import/records/records_names.h"
#include "import/records/records_stacks.h"
#include "opscope/record.h"
#include "wire/pack.h"

/* The last record that takes arguments, until it is known that no more come. */
struct osc_records_held {
    uint8_t kind; /* of the record; 0: none */
    osc_sid name;
    osc_sid callers; /* `Call stack` of a function of Python, while no other argument came */
    int64_t ts_ns, dur_ns;
    size_t late; /* index + 1 in osc_deferred.items, or 0: a row */
};

/* Arguments of scope DEPTH, counted from 1, that came behind its children. */
struct osc_records_waiting {
    uint32_t depth;
    size_t n_slots, n_words; /* in osc_records_thread.waiting before these */
};

/* A scope that is open. */
struct osc_records_open {
    uint32_t caller; /* the innermost function of Python there, this one or around it; or 0 */
    uint8_t kind;    /* enum osc_scope_kind */
    uint32_t row;    /* of its begin in chunk */
    struct osc_chunk *chunk; /* borrowed; NULL: its end becomes a row, too */
};

struct osc_records_thread {
    uint64_t ordinal;
    osc_who tid;
    osc_track_id track;
    uint64_t torch_thread;         /* what PyTorch calls it; 0: not known */
    uint32_t depth;                /* scopes open */
    struct osc_records_open *open; /* owned; they, the innermost last */
    size_t cap_open;
    struct osc_records_held held;
    struct osc_arguments args;    /* of held */
    struct osc_arguments waiting; /* of open scopes, the innermost last */
    struct osc_records_waiting *scopes;
    size_t n_scopes, cap_scopes;
    size_t step; /* index + 1 of the open step in osc_deferred.items, or 0 */
};

/* What was lost for one cause. */
struct osc_records_loss {
    uint64_t n;
    int64_t first_ns; /* OSC_NO_TIME: not known */
};

struct osc_records_rows {
    struct osc_builder *builder;     /* borrowed, as all of these */
    struct osc_records_clock *clock; /* settled */
    struct osc_records_names *names;
    struct osc_records_stacks stacks;   /* owned */
    struct osc_records_callers callers; /* owned */
    osc_who pid;
    struct osc_records_thread *threads; /* owned */
    size_t n_threads, cap_threads;
    struct osc_idmap by_ordinal, by_tid;
    osc_form_id begins[OSC_SCOPE_KIND_COUNT], completes[OSC_SCOPE_KIND_COUNT], end, instant;
    osc_form_id called; /* the begin of a function of Python, with `Call stack`; made with the
                           first one */
    osc_sid key_correlation, key_value, key_torch_thread, key_returned, category_flow;
    struct osc_deferred late;
    struct osc_records_loss losses[OSC_LOSS_COUNT]; /* by the records LOST */
    struct osc_strbuf text;
    uint64_t n_records;      /* read so far */
    uint64_t open_end_ticks; /* when scopes end that no record ends; 0: nobody knows */
    bool is_scout;           /* steps alone are wanted */
    bool is_torch;           /* operators are PyTorch's own */
};

OSC_MUST_USE osc_status osc_records_rows_init(struct osc_records_rows *rows,
                                              struct osc_builder *b,
                                              struct osc_records_clock *clock,
                                              struct osc_records_names *names, osc_who pid);
void osc_records_rows_fini(struct osc_records_rows *rows);

/*
 * Make thread ORDINAL known; of threads with one TID the second and later ones are
 * TID.2 and so on. TID 0: not known. Threads are made known in order of their ordinals.
 */
OSC_MUST_USE osc_status osc_records_rows_thread(struct osc_records_rows *rows, uint64_t ordinal,
                                                uint32_t tid);

/* Take the packed records of S, which follow it at BYTES. False: they make no sense from
 * some record on. What the builder says of memory is in its status. */
bool osc_records_rows_take(struct osc_records_rows *rows, const struct osc_pack_segment *s,
                           const unsigned char *bytes);

/* What scopes of SCOPE_KIND are, as a recording has it. */
enum osc_kind osc_records_kind(uint64_t scope_kind);

/* Records are missing here: scopes that are open now stay so, since their ends may be. */
void osc_records_rows_break(struct osc_records_rows *rows);

/* No more records come: what was late becomes rows. */
void osc_records_rows_finish(struct osc_records_rows *rows);

#endif
