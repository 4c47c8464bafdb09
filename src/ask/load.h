/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - from paths to traces that tables can be made of.
 *
 *   operands -> paths (paths.h), parts of a recording together -> import -> rank, span, origin
 *            -> ranks and spans of the view; what it leaves of each: chosen.h
 *
 * A file that was named must be readable, or there is nothing. Of a directory the readable
 * ones are used, and has_failed says that some were not.
 *
 * Threading: one thread; the importer uses its own inside.
 */
#pragma once

#include "ask/paths.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "derive/select.h"
#include "import/import.h"
#include "import/osc/part_links.h"
#include "model/trace.h"
#include "opscope/trace.h"

struct osc_loaded;

/*
 * Who looks at each of several files as it is read, instead of their being kept. Of one file
 * nothing is gained: it is kept.
 */
struct osc_visitor {
    /* T, which is freed afterwards, was read from PATH; L has no traces. */
    osc_status (*visit)(void *ctx, const struct osc_loaded *l, struct osc_trace *t,
                        const char *path, struct osc_err *err);
    void (*restart)(void *ctx); /* forget what was visited: a directory is listed again */
    void *ctx;
};

/* What to load. All of it is borrowed. */
struct osc_load {
    const char *const *paths;
    size_t n_paths;
    const struct osc_how *how;
    const struct osc_view *view; /* what is outside of it is left out */
    bool with_callers;           /* as osc_selection has it */
    bool selects_late; /* the table chooses rows itself: all of each trace is loaded */
    struct osc_import_reserve reserve; /* budget.h */
    bool has_digests;                  /* of the files, for fingerprints and to load it again */
    const struct osc_loaded *before;   /* what of it is as it was is not read again; or NULL */
    /* Gets what there is to say in the end, a line each, though all failed. May be NULL. */
    void (*hear)(void *ctx, const char *line);
    void *hear_ctx;
    const struct osc_visitor *visitor; /* NULL: traces are kept */
};

/* Zeroed, it is empty. */
struct osc_loaded {
    struct osc_trace **traces; /* held (held.h); what tables are made of, by rank and span */
    const char **paths;        /* owned array of borrowed texts; at first parallel to traces */
    size_t cap_traces, cap_paths;
    struct osc_paths files;      /* owned; each holds a trace or several */
    struct osc_part_links links; /* owned; which of files go on from which */
    struct osc_digest *units;    /* owned; of files that are read as one; zero: they changed */
    size_t cap_units;
    uint32_t n_units;
    uint32_t n_traces;
    uint32_t n_read;         /* traces that were kept or visited */
    uint32_t n_kept;         /* of them, of before */
    const char *operand;     /* borrowed; NULL: there are several */
    uint32_t n_steps_before; /* left out while loading */
    uint32_t n_unread;       /* files for which there was no memory left */
    bool is_windowed;        /* of a trace only what is near the selected steps or times */
    bool may_list_again;     /* if a directory turns out to have changed while it was read */
    bool is_outdated;        /* it has: nothing of it counts, list it again */
    bool is_visited;         /* they are gone: a visitor has seen them */
    bool has_failed;         /* some of it could not be read to its end */
    char *torch_version;     /* owned; NULL: no trace says it */
    struct osc_strbuf notes; /* what there is to say (note.h) */
};

/*
 * Load what O says. Of a recording that goes on meanwhile parts end, begin and, with a limit,
 * vanish: then its directory is listed and read again, some times. The caller frees L in
 * any case.
 */
OSC_MUST_USE osc_status osc_load(struct osc_loaded *l, const struct osc_load *o,
                                 struct osc_err *err);
void osc_loaded_fini(struct osc_loaded *l);

/* Find out whether loading O gives L once more: *IS_SO. OSC_ENOMEM. */
OSC_MUST_USE osc_status osc_loaded_is_current(const struct osc_loaded *l,
                                              const struct osc_load *o, bool *is_so);

/* Find in KEEP, one for each of the N TRACES, those that VIEW's ranks and spans name.
 * OSC_ENOTFOUND: none, and which ranks and spans there are. */
OSC_MUST_USE osc_status osc_loaded_ranks(bool *keep, struct osc_trace *const *traces,
                                         uint32_t n, const struct osc_view *view,
                                         struct osc_err *err);

/* The least and the greatest of the ranks and spans of some traces. Zeroed, of none. */
struct osc_rank_span {
    int32_t least_rank, most_rank, least_span, most_span;
    uint32_t n;
};

void osc_rank_span_add(struct osc_rank_span *r, int32_t rank, int32_t span);

/* None of them was asked for: OSC_ENOTFOUND, and what there is. */
osc_status osc_rank_span_fail(const struct osc_rank_span *r, struct osc_err *err);

/*
 * DOING it failed with ST: ERR says so already, unless it was for lack of memory; then say
 * which file was too much, T's or (NULL) all of them, and what to do. What to return.
 */
osc_status osc_loaded_fail(const struct osc_loaded *l, const struct osc_trace *t, osc_status st,
                           const char *doing, struct osc_err *err);
