/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - one format of traces: how to tell it and how to read it.
 *
 * A reader is one const struct osc_reader in a file of its own and one line in
 * import/readers.c. It gets an open input, which may be compressed, and fills the trace
 * through builders (typed.h); sealing is common.
 *
 * Threading: constant.
 */
#pragma once

#include "codec/inflate.h"
#include "import/build/builder.h"
#include "import/build/options.h"
#include "import/bytes/input.h"

/* What a reader works on. */
struct osc_reading {
    struct osc_input *in;
    enum osc_inflate_format inflate; /* NONE: the input is the text itself */
    struct osc_loading *loading;
    const struct osc_import_options *options;
    unsigned n_threads; /* at least 1 */
    size_t block_bytes;
    bool is_sealed; /* set by a reader: what it has read is sealed already */
};

struct osc_reader {
    const char *name; /* as `info` shows it */
    /* How well the first LEN bytes of the text fit: 0 not at all, 100 for certain. */
    int (*probe)(const char *head, size_t len);
    /* Fill the trace. As osc_import_path() says, but nothing is sealed yet. */
    osc_status (*read)(struct osc_reading *r, struct osc_err *err);
    /*
     * For formats that say what records are only when all are read; else NULL. KINDS gives
     * the forms of T what they lack and calls osc_kinds_set(). TRACKS, when tracks have
     * their events and processes, names them, the devices of queues and those of T.
     */
    osc_status (*kinds)(struct osc_trace *t, unsigned n_threads);
    osc_status (*tracks)(struct osc_trace *t);
};

/* All readers, ended by NULL. */
extern const struct osc_reader *const osc_readers[];
extern const struct osc_reader osc_reader_native;
