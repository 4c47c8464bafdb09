/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namelog.h - copies the string log of the live directory into STRINGS chunks.
 *
 * A name is in the log before a record can use it. So records are packed first, then
 * what the log has by then is written, and then the records: no reader meets a name that
 * it does not know.
 *
 *   - An entry that its thread has not finished is noted and written later, once it is;
 *     nobody can use its name before.
 *   - The log is read through a descriptor: it grows, and is mapped elsewhere. If the host
 *     has closed that, it is opened again in the live directory of the file.
 *
 * Threading: one thread at a time; the log may be written to meanwhile.
 */
#ifndef OSC_RECORDER_NAMELOG_H
#define OSC_RECORDER_NAMELOG_H

#include "base/status.h"
#include "recorder/fd.h"
#include "recorder/parts.h"

#define OSC_NAMELOG_HOLES 8u

/* Bytes of the log in which there was more than the whole entries that were found. */
struct osc_namelog_hole {
    uint64_t from, end;
    uint64_t n; /* entries in it that are in the part already */
};

struct osc_namelog {
    struct osc_fd fd;
    uint64_t next; /* offset in the log: all before it is in the part, but for holes */
    uint32_t n_holes;
    struct osc_namelog_hole holes[OSC_NAMELOG_HOLES]; /* of more, the names get lost */
    unsigned char *bytes;                             /* owned; room for a chunk's payload */
    size_t room;
};

/* Open `strings` in the directory DIR_FD. */
OSC_MUST_USE osc_status osc_namelog_open(struct osc_namelog *log, int dir_fd);
void osc_namelog_close(struct osc_namelog *log);

/* Another part begins, which has no strings yet. */
void osc_namelog_rewind(struct osc_namelog *log);

/* Append what is new to F. On failure the same is tried next time. */
OSC_MUST_USE osc_status osc_namelog_append(struct osc_namelog *log, struct osc_parts *f);

#endif
