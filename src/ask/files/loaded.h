/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded.h - what to load, and what was loaded (load.h).
 *
 * Threading: plain data.
 */
#pragma once

#include "ask/files/share.h"
#include "ask/folders/paths.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "derive/select.h"
#include "import/import.h"
#include "import/osc/part_links.h"
#include "model/trace.h"
#include "opscope/trace.h"

struct osc_loaded;
struct osc_joined; /* see join.h */

/*
 * Callbacks that get each of several files as soon as it is read; then it is freed. A single
 * file is kept, because visiting it would save nothing.
 */
struct osc_visitor {
    /* T, which is freed afterwards, is trace PART of file I of L, which has no traces. */
    osc_status (*visit)(void *ctx, const struct osc_loaded *l, struct osc_trace *t, uint32_t i,
                        uint32_t part, struct osc_err *err);
    /* To visit files on several threads, or NULL: make a visitor for the traces of one file,
     * which another thread uses (NULL: out of memory); and add what it has to CTX, in the order
     * of the files, or drop it if !IS_KEPT. Its context is freed. */
    void *(*fork)(void *ctx);
    osc_status (*join)(void *ctx, void *forked, bool is_kept);
    void (*restart)(void *ctx); /* discard all visited traces: all will be visited again */
    /* All were visited. If *IS_DONE becomes false, all are visited again. If that is not
     * possible (a pipe is read once), or not enough after some times, traces are kept. NULL:
     * one visit is enough. */
    osc_status (*end)(void *ctx, bool *is_done);
    bool takes_all; /* a single file, too, is visited, and those that cannot be read again */
    void *ctx;
};

/* What to load. All members are borrowed. */
struct osc_load {
    const char *const *paths;
    size_t n_paths;
    const struct osc_how *how;
    const struct osc_view *view; /* events outside of it may be left out */
    bool with_callers;           /* see struct osc_selection */
    bool selects_late;           /* the table selects rows itself: whole traces are loaded */
    struct osc_import_reserve reserve; /* budget.h */
    bool has_digests;                  /* of files, for fingerprints and refreshes */
    const struct osc_loaded *before;   /* its unchanged files are not read again; or NULL */
    /* The account of the question for which the files are read: it is charged too, and a file
     * for which its limit does not suffice fails the load. NULL: they are read for a set. */
    struct osc_mem_account *asker;
    /* Called at the end with each note, even if loading failed. May be NULL. */
    void (*hear)(void *ctx, const char *line);
    void *hear_ctx;
    const struct osc_visitor *visitor; /* NULL: traces are kept */
    bool keeps_parts;       /* to ask: visit every file, to write the parts of the answers */
    struct osc_share share; /* with keeps_parts */
    const struct osc_origin_of *origins; /* with keeps_parts: those of all traces, by file and
                                          * part, if the questions name times; or NULL */
    uint32_t n_origins;
    const struct osc_joined *joined; /* to ask: parts, instead of files; or NULL */
};

/* Zeroed, it is empty. */
struct osc_loaded {
    struct osc_trace **traces; /* held (held.h); sorted by rank and span */
    const char **paths; /* owned array of borrowed texts; parallel to traces until sorted */
    size_t cap_traces, cap_paths;
    struct osc_paths files;      /* owned; each has one trace or several */
    struct osc_part_links links; /* owned; which files are parts of one recording */
    struct osc_digest *units;    /* owned; of files read as one; zero: they changed */
    size_t cap_units;
    uint32_t n_units;
    bool *is_other;  /* owned; for each file whether it is of another share; NULL: none is */
    uint64_t listed; /* with a share: a hash of the names and sizes of all files */
    uint32_t n_traces;
    uint32_t n_read;         /* traces that were kept or visited */
    uint32_t n_kept;         /* of them, those that before had already */
    const char *operand;     /* borrowed; NULL: there are several */
    uint32_t n_steps_before; /* steps that were left out while loading */
    uint32_t n_unread;       /* files for which there was no memory left */
    bool is_windowed;        /* traces have only events near the selected steps or times */
    bool may_list_again;     /* list again if a directory changes while it is read */
    bool is_short;           /* memory did not suffice to read several files at a time */
    bool is_serial;          /* read one file after the other */
    bool is_outdated;        /* a directory has changed: discard all and list it again */
    bool is_visited;         /* the traces were passed to a visitor and freed */
    bool has_failed;         /* some file could not be read to its end */
    char *torch_version;     /* owned; NULL: unknown */
    struct osc_strbuf notes; /* for the user (note.h) */
};

void osc_loaded_fini(struct osc_loaded *l);

/*
 * Complete the message of ERR after the activity DOING failed with ST. If memory was short, the
 * message names the file that was too large, T's or (NULL) all of them, and what to do; other
 * failures already have a message. Returns the status to return.
 */
osc_status osc_loaded_fail(const struct osc_loaded *l, const struct osc_trace *t, osc_status st,
                           const char *doing, struct osc_err *err);
