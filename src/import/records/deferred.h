/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred.h - records that become rows only once all of them have been read.
 *
 *   memory    the sum of what a device has given out goes by time, over all threads
 *   ranges    asynchronous ones end on other threads than they began on
 *   work      the clock of a device is fitted over all its readings
 *   launches  calls that launched work, where nobody recorded one
 *   steps     one row from begin to end, since scopes may reach across
 *
 * Threading: not locked.
 */
#ifndef OSC_IMPORT_RECORDS_DEFERRED_H
#define OSC_IMPORT_RECORDS_DEFERRED_H

#include "import/records/records_args.h"
#include "import/records/records_clock.h"

struct osc_records_rows;

struct osc_records_item {
    int64_t ts_ns, dur_ns;
    uint64_t order; /* in which they were read */
    uint32_t thread;
    osc_sid name;
    uint8_t kind;
    uint32_t id;      /* of the record, if it is no name */
    size_t word;      /* in osc_deferred.words */
    size_t slot, arg; /* in args.slots and args.words */
    uint32_t n_slots, n_args;
};

struct osc_records_device {
    osc_sid type, name; /* "cuda"; what it is called, or none */
    uint32_t number;    /* in the records */
    uint32_t index;     /* "cuda:1": 1 */
    uint32_t built;     /* what the builder calls it */
    osc_sid text;       /* "cuda:1" */
    bool is_cpu;
    struct osc_device_limits limits;
    uint64_t hz;                    /* 0: not known */
    struct osc_records_pair *pairs; /* owned */
    size_t n_pairs, cap_pairs;
    struct osc_records_fit fit;
    int64_t sum_bytes, least_bytes; /* of memory given out, as far as it was seen */
};

struct osc_records_queue {
    uint32_t number, device;
    osc_sid name;
    osc_track_id track;
};

struct osc_deferred {
    struct osc_records_item *items;     /* owned */
    uint64_t *words;                    /* owned */
    struct osc_arguments args;          /* of items, one after the other */
    struct osc_records_device *devices; /* owned */
    struct osc_records_queue *queues;   /* owned */
    size_t n_items, cap_items, n_words, cap_words;
    size_t n_devices, cap_devices, n_queues, cap_queues;
};

void osc_deferred_fini(struct osc_deferred *l);

/* Add ITEM with N WORDS; its place + 1, or 0: see the builder's status. */
size_t osc_deferred_add(struct osc_records_rows *rows, const struct osc_records_item *item,
                        const uint64_t *words, size_t n);

/* ITEM, counted from 0, has the arguments A. */
void osc_deferred_args(struct osc_records_rows *rows, size_t item,
                       const struct osc_arguments *a);

/* The device NUMBER, made if need be; NULL: see the builder's status. */
struct osc_records_device *osc_records_device(struct osc_records_rows *rows, uint32_t number);
struct osc_records_queue *osc_records_queue(struct osc_records_rows *rows, uint32_t number);

/* All items become rows, devices those of the trace. */
void osc_deferred_build(struct osc_records_rows *rows);

#endif
