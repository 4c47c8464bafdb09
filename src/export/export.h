/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - traces as files for other tools.
 *
 * A writer is one file that ends in one const struct, and one line in exporters.c.
 * It gets sealed traces, cut to what was asked for, and hands text to a sink; it
 * knows nothing of files.
 *
 *   - What is written is valid in its format whatever bytes a name has: not UTF-8
 *     becomes U+FFFD, control characters are escaped or replaced.
 *   - The same traces give the same bytes, with any number of threads, but for
 *     where compression begins anew.
 *
 * Threading: one export at a time per trace; threads are used inside.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/trace.h"

/* Where text goes. Calls come one after the other, from any thread. */
struct osc_export_sink {
    osc_status (*write)(void *ctx, const char *s, size_t len);
    /* May be NULL; false: stop. DONE of TOTAL rows are written. */
    bool (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
};

struct osc_export {
    struct osc_trace *const *traces; /* borrowed; with the facts of the exporter */
    uint32_t n_traces;
    const char *stack;  /* --stack, or NULL */
    const char *metric; /* --metric, or NULL */
    bool with_counters; /* --counters */
    bool is_redacted;   /* --redact: stacks that events say are gone */
    unsigned n_threads; /* 0: all processors */
    struct osc_export_sink sink;
};

struct osc_exporter {
    const char *name;     /* of --format */
    const char *suffixes; /* of files, apart by blanks */
    const char *help;
    bool is_table;       /* it is a table: there is no write() */
    bool takes_stack;    /* --stack and --metric */
    bool takes_counters; /* --counters */
    bool takes_callers;  /* it wants the callers of what is selected, too */
    bool takes_many;     /* several traces make one file */
    /* Facts that write() rests on for X, or a misuse told in ERR; NULL: none. */
    osc_status (*facts)(const struct osc_export *x, uint32_t *facts, struct osc_err *err);
    osc_status (*write)(const struct osc_export *x, struct osc_err *err);
};

/* The exporters, ended by NULL; the one called NAME; the one of a file called PATH. */
extern const struct osc_exporter *const osc_exporters[];
const struct osc_exporter *osc_exporter_find(const char *name);
const struct osc_exporter *osc_exporter_of_path(const char *path);
