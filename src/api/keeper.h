/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - the runs that a server shows: loads them, and follows their files.
 *
 * One thread loads a run when it is first wanted, and looks at the files of loaded runs from
 * time to time. It spends at most a tenth of one processor on that: the more a look costs, the
 * later the next one. Several runs may be loaded; the least used are given up.
 *
 * A run that has changed has another fingerprint. If its files can no longer be read, what was
 * read of them stays.
 *
 * Threading: thread-safe after osc_keeper_start().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "opscope/trace.h"

/* A fingerprint as text (osc_frame_fingerprint()), with its NUL. */
#define OSC_KEEPER_PRINT_BYTES 33u

/* Runs that stay loaded at a time. */
#define OSC_KEEPER_LOADED_MAX 4u

enum osc_keeper_state {
    OSC_KEEPER_IDLE,    /* nobody wanted it yet, or it was given up */
    OSC_KEEPER_WANTED,  /* the thread has not come to it */
    OSC_KEEPER_LOADING, /* its files are read */
    OSC_KEEPER_READY,
    OSC_KEEPER_FAILED, /* it could not be read; it is tried again if it is wanted seconds later
                        */
};

/* A run: its name, and the paths that are opened for it. Copied. */
struct osc_keeper_run {
    const char *name;
    const char *const *paths;
    size_t n_paths;
    struct osc_str options; /* with which it is opened, as words of a question; or empty */
};

struct osc_keeper_config {
    const struct osc_keeper_run *runs;
    uint32_t n_runs;
    struct osc_how how;    /* without progress; its `only` must outlive the keeper */
    int64_t least_look_ns; /* between two looks at the files; 0: one second */
    struct osc_set *held; /* the first run, loaded already; then there is no thread, and the run
                           * stays as it is. Or NULL */
};

/* What is known of a run. */
struct osc_keeping {
    enum osc_keeper_state state;
    uint64_t done_bytes, total_bytes;         /* while it loads; a total of 0 is unknown */
    uint64_t serial;                          /* grows with every change of the run */
    char fingerprint[OSC_KEEPER_PRINT_BYTES]; /* "" unless it is ready */
    osc_status status;                        /* why it failed */
    char message[sizeof((struct osc_err *)0)->message]; /* the same, or why its files could not
                                                         * be read again; or "" */
};

struct osc_keeper;

/* *K is NULL after a failure. The caller frees it. */
OSC_MUST_USE osc_status osc_keeper_new(struct osc_keeper **k,
                                       const struct osc_keeper_config *config);

/* Start the thread and load run FIRST, unless it was loaded before. OSC_ENOMEM: there is no
 * thread. */
OSC_MUST_USE osc_status osc_keeper_start(struct osc_keeper *k, uint32_t first);

/* End the thread; all who wait return. False: it has not ended after seconds, as it waits for a
 * pipe to be written or a file system that does not answer; then K must not be freed. */
OSC_MUST_USE bool osc_keeper_stop(struct osc_keeper *k);
void osc_keeper_free(struct osc_keeper *k); /* once it is stopped; NULL is allowed */

uint32_t osc_keeper_n(const struct osc_keeper *k);
const struct osc_keeper_run *osc_keeper_run_at(const struct osc_keeper *k, uint32_t i);
void osc_keeper_look(struct osc_keeper *k, uint32_t i, struct osc_keeping *out);

/* Until when somebody waits. */
struct osc_keeper_wait {
    bool (*is_over)(void *ctx); /* asked every now and then */
    void *ctx;
};

/*
 * Wait until run I is loaded, and set *SET, which the caller releases, and *KEPT, how it is at
 * that time. A failure is that of loading; OSC_ECANCELED: WAIT was over, or the keeper stopped.
 */
OSC_MUST_USE osc_status osc_keeper_take(struct osc_keeper *k, uint32_t i,
                                        const struct osc_keeper_wait *wait,
                                        struct osc_set **set, struct osc_keeping *kept,
                                        struct osc_err *err);

/* Wait up to TIMEOUT_NS until run I has another serial than SEEN. False: the keeper has
 * stopped. */
bool osc_keeper_wait_for_change(struct osc_keeper *k, uint32_t i, uint64_t seen,
                                int64_t timeout_ns);
