/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - write traces as files for other tools.
 *
 * A writer is one file that ends in one const struct, and one line in exporters.c. It receives
 * sealed traces, cut to the selection, and passes text to a sink; it does not open files.
 *
 *   - The output is valid in its format whatever bytes a name has: invalid UTF-8 becomes
 *     U+FFFD, control characters are escaped or replaced.
 *   - The same traces give the same bytes with any number of threads, except for the places
 *     where compression restarts.
 *
 * Threading: one export at a time per trace; it uses threads inside.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/trace.h"

/* Receives text. Calls never overlap, but may come from any thread. */
struct osc_export_sink {
    osc_status (*write)(void *ctx, const char *s, size_t len);
    /* May be NULL; false: stop. DONE of TOTAL rows have been written. */
    bool (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
};

struct osc_export {
    struct osc_trace *const *traces; /* borrowed; with the facts of the exporter */
    uint32_t n_traces;
    const char *stack;  /* --stack, or NULL */
    const char *metric; /* --metric, or NULL */
    bool with_counters; /* supports --counters */
    bool no_stacks;   /* --no-stacks: events are written without their argument `Call stack` */
    bool is_redacted; /* --redact: stacks that the events say they have are gone */
    unsigned n_threads; /* 0: all processors */
    struct osc_export_sink sink;
};

struct osc_exporter {
    const char *name;     /* for --format */
    const char *suffixes; /* of file names, separated by blanks */
    const char *help;
    bool is_table;       /* writes a table: write() is NULL */
    bool is_page;        /* writes a page with the answers of the viewer: write() is NULL */
    bool takes_stack;    /* supports --stack and --metric */
    bool takes_counters; /* supports --counters and --no-stacks */
    bool takes_callers;  /* also needs the callers of selected rows */
    bool takes_many;     /* writes several traces to one file */
    /* Set *FACTS to the facts that write() needs for X, or fail with a sentence about wrong
     * options; may be NULL. */
    osc_status (*facts)(const struct osc_export *x, uint32_t *facts, struct osc_err *err);
    osc_status (*write)(const struct osc_export *x, struct osc_err *err);
};

/* The exporters, ended by NULL; the one called NAME; the one for a file called PATH. */
extern const struct osc_exporter *const osc_exporters[];
const struct osc_exporter *osc_exporter_find(const char *name);
const struct osc_exporter *osc_exporter_of_path(const char *path);
