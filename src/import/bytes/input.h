/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - a source of text: a file, a pipe, memory, or an inflating thread.
 *
 * Threading: a source belongs to one thread; an inflating one runs a thread of its own.
 * Several sources may read one descriptor at different offsets.
 */
#pragma once

#include "base/str.h"
#include "import/bytes/text_window.h"

/* An open input. */
struct osc_input {
    const char *path; /* borrowed; for messages */
    int fd;           /* -1: memory */
    bool is_stdin;
    bool is_live;        /* PATH is a live directory, FD its file `blocks` */
    char *beside;        /* owned: the live directory to read for an empty file, or NULL */
    bool can_seek;       /* a regular file: read at offsets, with a known size */
    uint64_t size;       /* bytes, if can_seek or from memory */
    struct osc_str data; /* for memory */
    /* Its first bytes, also for a pipe: enough for the table at the start of a compressed
     * block and some text after it. */
    char probe[1024];
    size_t n_probe;
    bool probe_is_unread; /* for a pipe: probe is the first data to return */
};

/*
 * Determine how to read IN, which has a path and a descriptor described by INFO, and read its
 * first bytes. Directories and devices are refused.
 */
struct stat;
OSC_MUST_USE osc_status osc_input_measure(struct osc_input *in, const struct stat *info,
                                          struct osc_err *err);

void osc_input_open_memory(struct osc_input *in, const char *name, struct osc_str data);
void osc_input_close(struct osc_input *in);

/* Read LEN bytes at OFFSET of FD to TO. OSC_EFORMAT: the file ends before; OSC_EIO. */
OSC_MUST_USE osc_status osc_fd_read(int fd, uint64_t offset, void *to, size_t len);

/* Blocks of IN as stored, from OFFSET on (0 if it cannot seek). */
struct osc_raw_blocks {
    struct osc_blocks blocks; /* first, so that a pointer to it is a pointer to this */
    struct osc_input *in;     /* borrowed */
    uint64_t offset;
    size_t block_bytes;
    char *buffers[2]; /* owned, used in turn */
    unsigned turn;
};

void osc_raw_blocks_init(struct osc_raw_blocks *r, struct osc_input *in, uint64_t offset,
                         size_t block_bytes);
void osc_raw_blocks_fini(struct osc_raw_blocks *r);
