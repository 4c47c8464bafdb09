/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - one format of traces: how to recognise and read it.
 *
 * A reader is one const struct osc_reader in a file of its own, and one line in
 * import/readers.c. It receives an open input, which may be compressed, and fills the trace
 * through builders (typed.h); sealing is common to all.
 *
 * Threading: constant.
 */
#pragma once

#include "codec/inflate.h"
#include "import/build/builder.h"
#include "import/build/options.h"
#include "import/bytes/input.h"

/* The input and output of a reader. */
struct osc_reading {
    struct osc_input *in;
    enum osc_inflate_format inflate; /* NONE: the input is not compressed */
    struct osc_loading *loading;
    const struct osc_import_options *options;
    unsigned n_threads; /* at least 1 */
    size_t block_bytes;
    bool is_sealed; /* set by a reader whose trace is sealed already */
};

struct osc_reader {
    const char *name; /* as `info` shows it */
    /* How well the first LEN bytes of the text fit: 0 not at all, 100 certainly. */
    int (*probe)(const char *head, size_t len);
    /* Fill the trace, as osc_import_path(), without sealing it. */
    osc_status (*read)(struct osc_reading *r, struct osc_err *err);
    /*
     * For formats in which the meaning of records is known only after all are read; else NULL.
     * KINDS completes the forms of T and calls osc_kinds_set(). TRACKS, called when tracks
     * have their events and processes, sets the names of tracks, devices of queues and devices
     * of T.
     */
    osc_status (*kinds)(struct osc_trace *t, unsigned n_threads);
    osc_status (*tracks)(struct osc_trace *t);
};

/* All readers; the last one is NULL. */
extern const struct osc_reader *const osc_readers[];
extern const struct osc_reader osc_reader_records;
