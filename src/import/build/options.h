/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - how a trace is to be read.
 *
 * Threading: plain values.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * What to leave out before it is stored, so that a part of a huge trace fits into
 * memory. Ranges whose end is a record of its own are always kept: it may lie inside. Times are
 * on the clock of the file. Zeroed, nothing is left out.
 */
struct osc_import_keep {
    bool is_on;
    bool is_scout;        /* keep steps alone, to learn where they and the trace begin */
    int64_t from_ns;      /* events that start before are left out, but for ranges of
                             the host that last longer and are no steps */
    int64_t host_to_ns;   /* host events that start then or later too */
    int64_t device_to_ns; /* and those of a device */
};

/*
 * Room to leave below osc_mem_limit() for what will be made of the trace: bytes for
 * each of what it holds. Reading stops when no more than that is left.
 */
struct osc_import_reserve {
    uint32_t event_bytes, other_bytes; /* of the two stores */
    uint32_t string_bytes;             /* for each distinct one, beside copies of its text */
    uint32_t track_bytes, form_bytes;
    uint32_t fixed_bytes; /* whatever it holds */
    bool for_text;        /* and as much as there was text */
};

/* Zeroed: the defaults. */
struct osc_import_options {
    unsigned n_threads; /* 0: all processors */
    bool no_args;       /* keep only the arguments that analyses need */
    struct osc_import_keep keep;
    struct osc_import_reserve reserve;
    uint32_t unit_bytes;  /* for tests: how much text one thread takes; 0: by itself */
    uint32_t block_bytes; /* for tests: how much is read at once; 0: by itself */
    uint32_t part;        /* which trace of a file that holds several (osc_trace.n_parts) */
    const char **later;   /* files of parts that go on from it (native_parts.h) */
    uint32_t n_later;
    const char *kernel; /* "plain", "avx2": which fast path; "none": slow path alone;
                           NULL: the best that this processor has */

    /* Called now and then from the calling thread; false cancels. May be NULL. */
    bool (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_ctx;
};
