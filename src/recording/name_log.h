/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_log.h - copies the string log of the live directory into STRINGS chunks.
 *
 * A name is in the log before a record can use it. So records are packed first, then the
 * log is written as far as it goes, then the records: no reader finds an unknown name.
 *
 *   - An entry that its thread has not finished becomes a hole and is written later; no
 *     record can use its name before.
 *   - The log is read through a descriptor, because it grows and is mapped elsewhere. If the
 *     host has closed the descriptor, the log is opened again in the live directory.
 *
 * Threading: one thread at a time; the log may be written to meanwhile.
 */
#pragma once

#include "base/status.h"
#include "recording/host_fd.h"
#include "recording/part_writer.h"

#define OSC_NAME_LOG_HOLES 8u

/* Bytes of the log with an entry that was not finished. */
struct osc_name_log_hole {
    uint64_t from, end;
    uint64_t n; /* entries in it that the part has already */
};

struct osc_name_log {
    struct osc_fd fd;
    uint64_t next; /* offset in the log: the part has everything before it but the holes */
    uint32_t n_holes;
    struct osc_name_log_hole holes[OSC_NAME_LOG_HOLES]; /* names of more are lost */
    unsigned char *bytes;                               /* owned; room for a chunk's payload */
    size_t room;
};

/* Open `strings` in the directory DIR_FD. */
OSC_MUST_USE osc_status osc_name_log_open(struct osc_name_log *log, int dir_fd);
void osc_name_log_close(struct osc_name_log *log);

/* A new part begins, without strings. */
void osc_name_log_rewind(struct osc_name_log *log);

/* Append new entries to F. After a failure the next call tries the same ones. */
OSC_MUST_USE osc_status osc_name_log_append(struct osc_name_log *log, struct osc_parts *f);
