/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - check every hash of an .osc file.
 *
 * Reading checks only what it uses, and continues after damage. Here the whole file is read,
 * and each fault is reported with its place: file header, chunk headers (also against the
 * index), payloads, padding, index and trailer. Columns with correct hashes are checked as
 * their readers do: their values must be in bounds. If the file has no end, the live directory
 * next to it is checked too: its header, its length, its names and the tags of its blocks.
 *
 * Threading: thread-safe; callbacks run on the calling thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct osc_verify_fault {
    uint64_t offset, n_bytes;
    uint16_t type;      /* of the chunk; 0: unknown */
    uint64_t n_records; /* records that cannot be read because of it */
    const char *what;   /* static: "hash of the payload is wrong" */
};

struct osc_verify {
    bool has_hashes; /* false: another format, nothing was checked */
    bool has_index;
    uint64_t n_chunks, n_records, n_bytes, n_faults;

    /* Called for each fault. */
    void (*tell)(void *ctx, const struct osc_verify_fault *fault);
    void *ctx;

    /* Called now and then; the result is ignored. May be NULL. */
    bool (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_ctx;
};

/*
 * Check the file at PATH and fill V, in which TELL and PROGRESS are set. OSC_OK even if there
 * are faults; OSC_EFORMAT: a newer version wrote the file, or nothing of it is left.
 */
OSC_MUST_USE osc_status osc_verify_path(struct osc_verify *v, const char *path,
                                        struct osc_err *err);

/* The name of chunk type TYPE, static. */
const char *osc_verify_type_text(uint16_t type);
