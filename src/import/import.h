/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h - from a file of any format we read to a sealed trace.
 *
 * Which format, and how it is compressed, is told by the first bytes, never by
 * the name. What is broken in part is read for the rest and counted in
 * osc_trace.findings; an error is returned when nothing could be read.
 *
 * Threading: one call per trace; it uses threads of its own inside.
 */
#ifndef OSC_IMPORT_IMPORT_H
#define OSC_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "model/trace.h"

/*
 * What to leave out before it is stored, so that a part of a huge trace fits into
 * memory. Begins (ph B and b) are always kept: their ends may lie inside. Times are
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

/*
 * Read PATH ("-": standard input) into T, which is zeroed. OSC_OK: T is sealed.
 * OSC_ELIMIT (of memory: osc_mem_limit()) and OSC_EIO with T->is_partial: T is sealed
 * too and covers what was read before the limit or the error. Anything else: T is
 * empty.
 */
OSC_MUST_USE osc_status osc_import_path(struct osc_trace *t, const char *path,
                                        const struct osc_import_options *o,
                                        struct osc_err *err);

/* The same for LEN bytes at DATA, which may be compressed; NAME is for messages. */
OSC_MUST_USE osc_status osc_import_memory(struct osc_trace *t, const char *name,
                                          struct osc_str data,
                                          const struct osc_import_options *o,
                                          struct osc_err *err);

#endif
