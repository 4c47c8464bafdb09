/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_writer.h - writes the .osc files of a recording: one, or parts.
 *
 *     NAME.osc, NAME.2.osc, NAME.3.osc, ...      each can be read alone
 *
 *   - A file has whole chunks only: a chunk that could not be written to its end is cut off
 *     again. A failed write changes nothing else and can be repeated.
 *   - With a limit, the oldest parts are deleted, so that all parts together stay below it
 *     if a single part does.
 *   - A file has mode 0600 and replaces a file of the same name.
 *
 * Threading: one thread at a time.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"
#include "recording/host_fd.h"
#include "wire/chunk.h"

#define OSC_PARTS_PATH_BYTES 4096u
/* The most chunks in an index, 4.5 MiB; files with more chunks have none. */
#define OSC_PARTS_INDEX_MAX 65536u

/* With all but the first three zeroed, there is no part yet. */
struct osc_parts {
    const char *out; /* borrowed: absolute path of NAME.osc */
    uint64_t recording[2];
    uint64_t limit_bytes; /* 0: none */

    struct osc_fd fd;                   /* of the open part */
    bool is_open;                       /* even if the host has closed the descriptor */
    uint32_t part;                      /* the open one, else the last; 0: none yet */
    uint32_t oldest;                    /* that was not deleted */
    uint32_t n_chunks;                  /* in the open part */
    uint64_t bytes;                     /* of the open part: whole chunks */
    uint64_t n_records;                 /* in the open part */
    uint64_t kept_bytes;                /* of the parts before it that are still there */
    uint64_t all_bytes, all_records;    /* ever written */
    int error;                          /* errno of the last write; 0: it succeeded */
    struct osc_wire_index_entry *index; /* owned; OSC_PARTS_INDEX_MAX of them, or NULL */
    char path[OSC_PARTS_PATH_BYTES];    /* of the open part, else of the last */
};

/* NAME.osc for part 1 of OUT, NAME.2.osc for part 2; false if that is too long. */
bool osc_parts_name(const char *out, uint32_t part, char path[OSC_PARTS_PATH_BYTES]);

/* Create the next part, in place of a recording or an empty file of its name if need be.
 * OSC_EIO, also where something else has the name; then there is none open. */
OSC_MUST_USE osc_status osc_parts_open(struct osc_parts *f);

/*
 * Append a chunk: of HEADER type, n_items, first_ticks and last_ticks count, and
 * payload_bytes of PAYLOAD. OSC_EIO: the file is as before, F->error says why.
 */
OSC_MUST_USE osc_status osc_parts_append(struct osc_parts *f, struct osc_wire_header header,
                                         const void *payload);

/* Continue PART of F, which its process did not end: what follows its N CHUNKS is cut off.
 * OSC_EIO: no part is open; the file may have been cut. */
OSC_MUST_USE osc_status osc_parts_resume(struct osc_parts *f, uint32_t part,
                                         const struct osc_wire_index_entry *chunks, size_t n);

/* Append END, index and trailer and close the part. OSC_EIO: it is closed without them. */
OSC_MUST_USE osc_status osc_parts_close(struct osc_parts *f, const struct osc_wire_end *end);

/* Close and delete the open part; its number is used again. */
void osc_parts_discard(struct osc_parts *f);

/* Close the part and free the index without writing. */
void osc_parts_forget(struct osc_parts *f);
