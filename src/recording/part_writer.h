/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_writer.h - writes the .osc files of a recording: one file, or several parts.
 *
 *     NAME.osc, NAME.2.osc, NAME.3.osc, ...      each can be read alone
 *
 *   - A file has only complete chunks: a chunk that could not be written completely is
 *     cut off again. A failed write changes nothing else and can be repeated.
 *   - Users remove, move and cut files that are being written. A removed one is made anew, a
 *     cut one ends at its last complete chunk, and both go on from there. A moved one goes on
 *     where it is.
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

/* Zeroed except for the first three members, it has no part yet. */
struct osc_parts {
    const char *out; /* borrowed: absolute path of NAME.osc */
    uint64_t recording[2];
    uint64_t limit_bytes; /* 0: no limit */

    struct osc_fd fd;                   /* of the open part */
    bool is_open;                       /* even if the host has closed the descriptor */
    uint32_t part;                      /* the open part, else the last one; 0: none yet */
    uint32_t oldest;                    /* the oldest part that was not deleted */
    uint32_t n_chunks;                  /* in the open part */
    uint64_t bytes;                     /* of the open part: complete chunks */
    uint64_t n_records;                 /* in the open part */
    uint64_t kept_bytes;                /* of earlier parts that still exist */
    uint64_t all_bytes, all_records;    /* written in total */
    int error;                          /* errno of the last write; 0: it succeeded */
    int harm;                           /* what was done to a part: see osc_parts_look() */
    uint64_t root[2];                   /* device and inode of `/` when the part was opened */
    struct osc_wire_index_entry *index; /* owned; OSC_PARTS_INDEX_MAX of them, or NULL */
    char path[OSC_PARTS_PATH_BYTES];    /* of the open part, else of the last */
};

/* Write the path of PART to PATH: OUT for part 1, NAME.2.osc for part 2; false if it is too
 * long. */
bool osc_parts_name(const char *out, uint32_t part, char path[OSC_PARTS_PATH_BYTES]);

/* Create the next part. It replaces a recording or an empty file with its name. OSC_EIO, also
 * if another kind of file has the name; no part is open then. */
OSC_MUST_USE osc_status osc_parts_open(struct osc_parts *f);

/*
 * Find out whether somebody has removed, moved or cut the open part. F->harm is then ENOENT,
 * ESTALE or ENODATA, until F is zeroed. *IS_ANEW: what every part needs must be appended again.
 * OSC_EIO: the removed part could not be made anew; F->error gives the reason.
 */
OSC_MUST_USE osc_status osc_parts_look(struct osc_parts *f, bool *is_anew);

/*
 * Append a chunk. Of HEADER, type, n_items, first_ticks and last_ticks are used; payload_bytes
 * is the size of PAYLOAD. OSC_EIO: the file is unchanged, F->error gives the reason.
 */
OSC_MUST_USE osc_status osc_parts_append(struct osc_parts *f, struct osc_wire_header header,
                                         const void *payload);

/* Continue PART of F, which its process did not end, after its N CHUNKS; anything after them
 * is cut off. OSC_EIO: no part is open; the file may have been cut. */
OSC_MUST_USE osc_status osc_parts_resume(struct osc_parts *f, uint32_t part,
                                         const struct osc_wire_index_entry *chunks, size_t n);

/* Append END, index and trailer and close the part. OSC_EIO: it is closed without them. */
OSC_MUST_USE osc_status osc_parts_close(struct osc_parts *f, const struct osc_wire_end *end);

/* Close and delete the open part; its number is reused. */
void osc_parts_discard(struct osc_parts *f);

/* Close the part and free the index without writing. */
void osc_parts_forget(struct osc_parts *f);
