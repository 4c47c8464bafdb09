/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_reader.h - the state of the reader of recordings while it reads one.
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

/* How many damaged places `info` lists. */
#define OSC_RECORDS_DAMAGES_TOLD 100u

/* A place that cannot be read, and what the rest of the file says about it. */
struct osc_records_damage {
    uint64_t offset, n_bytes;
    size_t next; /* the first chunk after it */
    uint64_t n_records;
    uint64_t first_ticks, last_ticks; /* when they were recorded; 0: unknown */
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
    struct osc_wire_thread *threads; /* owned; from the parts and the live directory */
    size_t n_threads, cap_threads;
    struct osc_input *inputs; /* owned and open; the later parts */
    uint32_t n_inputs;
    uint64_t lost[OSC_LOSS_COUNT];      /* counted by threads */
    uint64_t no_thread[OSC_LOSS_COUNT]; /* counted by no thread; from the END chunks */
    struct osc_wire_before before;      /* totals of parts that are gone */
    uint64_t bad_before;                /* offset + 1 of a damaged chunk of them; 0: none */
    uint64_t n_unfinished;              /* slots */
    struct osc_wire_end end;
    bool has_end;  /* of the last part */
    bool has_mode; /* the recorder wrote only at certain times */
    bool is_live_used;
    bool is_followed;     /* by a part that is not among the inputs */
    bool is_live_damaged; /* nothing was read from the live directory */
    osc_who pid;
    uint64_t ticks_hz;
    uint64_t n_done;                 /* bytes of records read */
    unsigned char *payload, *packed; /* owned; buffers for a chunk and a segment */
    size_t cap_payload, cap_packed;
};

/* --- records_damage.c --- */

/* Add the damage D. */
OSC_MUST_USE osc_status osc_records_damaged(struct osc_records *n,
                                            const struct osc_records_damage *d);

/* Set *DATA to the payload of chunk I, valid until the next call; NULL: it is damaged, and the
 * damage is added. */
OSC_MUST_USE osc_status osc_records_payload(struct osc_records *n, size_t i,
                                            const unsigned char **data);

/*
 * Add the gaps of the file. The chunks around a gap say how many records precede them, and
 * when those were made; the content of the gap follows from that.
 */
OSC_MUST_USE osc_status osc_records_measure_gaps(struct osc_records *n);

/*
 * Remove the damage of a chunk that was not written completely if nothing is missing: either
 * the live directory has its content, or it is the index after the end.
 */
void osc_records_forgive_torn(struct osc_records *n);

/* Sort damages by offset. */
void osc_records_sort_damages(struct osc_records *n);

/* After all is read, count damage and losses as findings and list the damaged places. */
void osc_records_count(struct osc_records *n);

/* In the complete trace T, count sources that were requested by name or loaded but recorded
 * nothing, and a flight recorder or schedule that never wrote. */
void osc_records_count_absent(struct osc_trace *t);

/* --- records_reader.c --- */

/* As osc_reader.read. */
OSC_MUST_USE osc_status osc_records_read(struct osc_reading *r, struct osc_err *err);
