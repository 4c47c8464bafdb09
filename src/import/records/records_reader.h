/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_reader.h - what the reader of recordings knows while it reads one.
 *
 * Threading: not locked.
 */
#pragma once

#include "import/build/reader.h"
#include "import/osc/live_dir.h"
#include "import/osc/osc_file.h"
#include "import/records/records_clock.h"
#include "import/records/records_names.h"
#include "import/records/records_rows.h"
#include "import/records/segment_order.h"

/* Damaged places that `info` tells one by one. */
#define OSC_RECORDS_DAMAGES_TOLD 100u

/* Bytes that cannot be read, and what the rest of the file says about them. */
struct osc_records_damage {
    uint64_t offset, n_bytes;
    size_t next; /* the first chunk behind it */
    uint64_t n_records;
    uint64_t first_ticks, last_ticks; /* when they were recorded; 0: not known */
    bool is_cut;                      /* the file ends there */
};

struct osc_records {
    struct osc_reading *r; /* borrowed */
    struct osc_builder builder;
    struct osc_file file;
    struct osc_live_dir live;
    struct osc_records_clock clock;
    struct osc_records_names names;
    struct osc_segment_order order;
    struct osc_records_rows rows;
    struct osc_records_damage *damages; /* owned */
    size_t n_damages, cap_damages;
    struct osc_wire_thread *threads; /* owned; as parts and the live directory say */
    size_t n_threads, cap_threads;
    struct osc_input *inputs; /* owned, and open: later parts */
    uint32_t n_inputs;
    uint64_t lost[OSC_LOSS_COUNT];      /* by what threads counted themselves */
    uint64_t no_thread[OSC_LOSS_COUNT]; /* by what no thread counts, as the ends say */
    struct osc_wire_before before;      /* the first part */
    uint64_t n_unfinished;              /* slots */
    struct osc_wire_end end;
    bool has_end; /* of the last part */
    bool is_live_used;
    bool is_followed;     /* by a part that is not among the inputs */
    bool is_live_damaged; /* what lies beside the file: nothing of it was read */
    osc_who pid;
    uint64_t ticks_hz;
    uint64_t n_done;                 /* bytes of records taken */
    unsigned char *payload, *packed; /* owned; of a chunk, of a segment */
    size_t cap_payload, cap_packed;
};

/* --- native_damage.c --- */

/* Note damage D. */
OSC_MUST_USE osc_status osc_records_damaged(struct osc_records *n,
                                            const struct osc_records_damage *d);

/* The payload of chunk I, good until the next call; NULL if it is damaged, which is noted. */
OSC_MUST_USE osc_status osc_records_payload(struct osc_records *n, size_t i,
                                            const unsigned char **data);

/*
 * Note the gaps of the file. What they have held, the chunks around them say: how many
 * records were before each, and when those were.
 */
OSC_MUST_USE osc_status osc_records_measure_gaps(struct osc_records *n);

/*
 * Forget the damage of a chunk that was not written to its end, where nothing is missing: what
 * it holds is in the live directory, which is used, or it is the index behind the end.
 */
void osc_records_forgive_torn(struct osc_records *n);

/* By their places in the file. */
void osc_records_sort_damages(struct osc_records *n);

/* All has been read: count damage and losses as findings, and tell the places. */
void osc_records_count(struct osc_records *n);

/* All is in T: count sources that were asked for by name, or loaded, and brought nothing, and
 * a flight recorder or schedule that never wrote. */
void osc_records_count_absent(struct osc_trace *t);

/* --- native.c --- */

/* As osc_reader.read. */
OSC_MUST_USE osc_status osc_records_read(struct osc_reading *r, struct osc_err *err);
