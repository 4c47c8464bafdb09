/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - where text comes from: a file, a pipe, memory, an inflating thread.
 *
 * Threading: a source belongs to one thread; the inflating one runs a thread of
 * its own behind it. Several sources may read one descriptor at different offsets.
 */
#pragma once

#include "base/str.h"
#include "import/bytes/text_window.h"

/* An open input. */
struct osc_input {
    const char *path; /* borrowed; for messages */
    int fd;           /* or -1: memory */
    bool is_stdin;
    bool is_live;        /* PATH is a live directory, FD its file `blocks` */
    char *beside;        /* owned: the live directory that is read for an empty file, or NULL */
    bool can_seek;       /* a regular file: read at offsets, size known */
    uint64_t size;       /* bytes, if can_seek or memory */
    struct osc_str data; /* of memory */
    /* Its first bytes, also of a pipe: enough for the table that a compressed block begins
     * with, and some text behind it. */
    char probe[1024];
    size_t n_probe;
    bool probe_is_unread; /* of a pipe: to be handed out before anything else */
};

/*
 * IN has a path and a descriptor, of which INFO tells: find out how it is to be read, and
 * read its first bytes. A directory and a device are refused.
 */
struct stat;
OSC_MUST_USE osc_status osc_input_measure(struct osc_input *in, const struct stat *info,
                                          struct osc_err *err);

void osc_input_open_memory(struct osc_input *in, const char *name, struct osc_str data);
void osc_input_close(struct osc_input *in);

/* Blocks of IN as it is stored, from OFFSET on (0 for what cannot seek). */
struct osc_raw_blocks {
    struct osc_blocks blocks; /* first, so that a pointer to it is one to this */
    struct osc_input *in;     /* borrowed */
    uint64_t offset;
    size_t block_bytes;
    char *buffers[2]; /* owned, used in turn */
    unsigned turn;
};

void osc_raw_blocks_init(struct osc_raw_blocks *r, struct osc_input *in, uint64_t offset,
                         size_t block_bytes);
void osc_raw_blocks_fini(struct osc_raw_blocks *r);
