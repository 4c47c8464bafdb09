/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - from operands to traces that tables can be made of.
 *
 *   operands -> paths (paths.h), parts of a recording together -> import -> rank, span, origin
 *            -> --rank, --span -> selection
 *
 * A file that was named must be readable, or nothing is shown. Of a directory the
 * readable ones are used, and the exit status says that some were not.
 *
 * Threading: one thread; the importer uses its own inside.
 */
#ifndef OSC_CLI_LOAD_H
#define OSC_CLI_LOAD_H

#include "cli/options.h"
#include "cli/paths.h"
#include "import/osc/part_links.h"
#include "model/trace.h"

/* Zeroed, it is empty. */
struct osc_loaded {
    struct osc_trace **traces; /* owned; what tables are made of, by rank and span */
    struct osc_trace **bases;  /* owned; what those of traces that are views are made of */
    const char **paths;        /* owned array of borrowed texts; at first parallel to traces */
    size_t cap_traces, cap_bases, cap_paths;
    struct osc_str *sources;     /* owned array of borrowed texts: the path of each trace */
    struct osc_paths files;      /* owned; each holds a trace or several */
    struct osc_part_links links; /* owned; which of files go on from which */
    uint32_t n_traces, n_bases, n_sources;
    const char *operand;     /* borrowed; NULL: there are several */
    uint32_t n_steps_before; /* left out while loading */
    uint32_t n_unread;       /* files for which there was no memory left */
    bool may_list_again;     /* if a directory turns out to have changed while it was read */
    bool is_outdated;        /* it has: nothing of it counts, list it again */
    bool has_failed;         /* exit 1 in the end, whatever is shown */
    bool is_misused;         /* exit 2 at once: the trace does not have what is selected */
    char *torch_version;     /* owned; NULL: no trace says it */
};

/*
 * Load what ARGS name, leaving room as RESERVE says (budget.h). Of a recording that goes on
 * meanwhile parts end, begin and, with a limit, vanish: then its directory is listed and read
 * again, some times. OSC_EXIT_DONE, or the status to exit with, after a message.
 */
int osc_load(struct osc_loaded *l, const struct osc_args *args,
             struct osc_import_reserve reserve);
void osc_loaded_fini(struct osc_loaded *l);

/* Make what DEF needs of every trace. The same results. */
int osc_load_facts(struct osc_loaded *l, const struct osc_args *args, uint32_t facts);

/*
 * Say that DOING it failed with ST: as ERR does, unless it was for lack of memory; then
 * which file was too much, T's or (NULL) all of them, and what to do. The status to
 * exit with.
 */
int osc_load_fail(const struct osc_loaded *l, const struct osc_trace *t, osc_status st,
                  const struct osc_err *err, const char *doing);

#endif
