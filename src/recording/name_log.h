/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_log.h - copies the string log of the live directory into STRINGS chunks.
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
#ifndef OSC_RECORDING_NAME_LOG_H
#define OSC_RECORDING_NAME_LOG_H

#include "base/status.h"
#include "recording/host_fd.h"
#include "recording/part_writer.h"

#define OSC_NAME_LOG_HOLES 8u

/* Bytes of the log in which there was more than the whole entries that were found. */
struct osc_name_log_hole {
    uint64_t from, end;
    uint64_t n; /* entries in it that are in the part already */
};

struct osc_name_log {
    struct osc_fd fd;
    uint64_t next; /* offset in the log: all before it is in the part, but for holes */
    uint32_t n_holes;
    struct osc_name_log_hole holes[OSC_NAME_LOG_HOLES]; /* of more, the names get lost */
    unsigned char *bytes;                               /* owned; room for a chunk's payload */
    size_t room;
};

/* Open `strings` in the directory DIR_FD. */
OSC_MUST_USE osc_status osc_name_log_open(struct osc_name_log *log, int dir_fd);
void osc_name_log_close(struct osc_name_log *log);

/* Another part begins, which has no strings yet. */
void osc_name_log_rewind(struct osc_name_log *log);

/* Append what is new to F. On failure the same is tried next time. */
OSC_MUST_USE osc_status osc_name_log_append(struct osc_name_log *log, struct osc_parts *f);

#endif
