/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - how to read a trace.
 *
 * Threading: plain values.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Which events to leave out before they are stored, so that part of a huge trace fits into
 * memory. A range whose end is a separate record is always kept, since its end may lie inside.
 * Times are on the clock of the file. Zeroed, nothing is left out.
 */
struct osc_import_keep {
    bool is_on;
    bool is_scout;        /* keep only steps, to find them and the start of the trace */
    bool has_work;        /* a scout: keep device work and calls as well, by which steps are
                           * measured, with their correlation ids and no other arguments */
    int64_t from_ns;      /* leave out events that start before, except ranges that last
                           * longer and are not steps */
    int64_t host_to_ns;   /* leave out host events that start then or later */
    int64_t device_to_ns; /* leave out device events that start then or later */
};

/*
 * Memory to leave free for derivations: bytes for each row, string and so on.
 * Reading stops when only that much is left.
 */
struct osc_import_reserve {
    uint32_t event_bytes, other_bytes; /* of the two stores */
    uint32_t string_bytes;             /* for each distinct string, in addition to its text */
    uint32_t track_bytes, form_bytes;
    uint32_t fixed_bytes; /* in any case */
    bool for_text;        /* plus as much as the text of the file */
};

/* Zeroed: the defaults. */
struct osc_import_options {
    unsigned n_threads; /* 0: all processors */
    bool no_args;       /* keep only the arguments that analyses need */
    struct osc_import_keep keep;
    struct osc_import_reserve reserve;
    uint32_t unit_bytes;  /* for tests: bytes of text per thread and turn; 0: automatic */
    uint32_t block_bytes; /* for tests: bytes to read at once; 0: automatic */
    uint32_t part;        /* which trace of a file with several (osc_trace.n_parts) */
    const char **later;   /* files of the later parts of a recording */
    uint32_t n_later;
    const char *kernel; /* which fast path: "plain", "avx2"; "none": only the slow path; NULL:
                         * the best for this processor */

    /* Called now and then on the calling thread; false cancels. May be NULL. */
    bool (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_ctx;
};
