/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - one format of traces: how to recognise and read it.
 *
 * A reader is one const struct osc_reader in a file of its own, and one line in
 * import/readers.c. It receives an open input, which may be compressed, and fills the trace
 * through builders (typed.h); sealing is common to all.
 *
 * The reader that fits best reads a file. If none fits well, and import/foreign.h knows what
 * the file is, it is refused; else the best one reads it, or the first of all if none fits at
 * all, and says what is wrong with it.
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

/* How well a text fits a reader: a number from 0, not at all, to 100, certainly. */
enum {
    OSC_FIT_NONE = 0,
    OSC_FIT_WEAK = 10, /* up to this it may as well be of another format */
    OSC_FIT_GOOD = 50,
    OSC_FIT_SURE = 100,
};

struct osc_reader {
    const char *name; /* as `info` shows it */
    /* Of its files in directories and on servers, separated by blanks, without those of
     * compression: ".json". NULL: none, and its files are read only where they are named. */
    const char *suffixes;
    /* How well the first LEN bytes of the text fit. */
    int (*probe)(const char *head, size_t len);
    /* Whether a file of a directory is a trace, by the first LEN bytes of its text, of which
     * there are more than for PROBE; NULL: each file with such a suffix is one. */
    bool (*begins)(const char *text, size_t len);
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
    /* The text has the members that others get from their devices and times (members.h). */
    bool has_members;
};

/* All readers; the last one is NULL. The first one reads what fits none. */
extern const struct osc_reader *const osc_readers[];

/* That of recordings, which are several files, or a directory while they are written. */
extern const struct osc_reader osc_reader_records;
