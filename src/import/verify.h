/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - every hash of an .osc file, checked.
 *
 * Reading checks what it uses, when it uses it, and goes on behind damage. Here all of
 * a file is read, whatever is in it, and each fault is told with its place: file header,
 * chunk headers (against the index too), payloads, the zeroes behind them, index and
 * trailer. Columns whose hashes are right are looked at as their readers do: whether
 * their values lie within bounds. Of a file without an end the live directory beside it is
 * looked at, too: whether its header, its length, its names and the tags of its blocks are
 * right.
 *
 * Threading: thread-safe; it calls back on its own thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct osc_verify_fault {
    uint64_t offset, n_bytes;
    uint16_t type;      /* of the chunk; 0: not known */
    uint64_t n_records; /* that cannot be read because of it */
    const char *what;   /* static: "hash of the payload is wrong" */
};

struct osc_verify {
    bool has_hashes; /* else it is of another format, and nothing was checked */
    bool has_index;
    uint64_t n_chunks, n_records, n_bytes, n_faults;

    /* Called for each fault. */
    void (*tell)(void *ctx, const struct osc_verify_fault *fault);
    void *ctx;

    /* Called now and then; what it returns does not matter. May be NULL. */
    bool (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_ctx;
};

/*
 * Check the file at PATH, and fill V, of which TELL and PROGRESS are set. OSC_OK also if there
 * are faults; OSC_EFORMAT if a newer version wrote it, or nothing of it is left.
 */
OSC_MUST_USE osc_status osc_verify_path(struct osc_verify *v, const char *path,
                                        struct osc_err *err);

/* The name of chunk type TYPE, static. */
const char *osc_verify_type_text(uint16_t type);
