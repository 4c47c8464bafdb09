/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoints.h - what can be asked, one line each, and what the answers share.
 *
 *     session            version, limits, runs and how far they are loaded
 *     runs               runs, workers, spans and ranks; what was not taken, and why
 *     catalog            all tables, columns and options
 *     table/NAME?...     rows of a table; the query has the long options of `opscope table`
 *     tracks             what the timeline is made of: traces, tracks, series
 *     names/PAGE         names of its events
 *     cells, values      what to draw of a window of time, packed
 *     event/NUMBER       one event, with its arguments and links
 *     flame              stacks with their values, to be drawn
 *     progress           a stream of events: loading, ready, changed
 *
 * Each takes run=NAME; without it, it is about the first run. With fp=FINGERPRINT, as tracks
 * and session have it, the answer is 409 if the run has another one now. A new endpoint is one
 * function in a file of its own, one line here and one in meson.build.
 *
 * Threading: constants; a call belongs to one thread.
 */
#pragma once

#include "api/frames.h"
#include "api/keeper.h"
#include "api/respond.h"

struct osc_logdir;

/* Questions that are at work at a time, and that wait for their clients besides. */
#define OSC_API_QUESTIONS_MAX 4u
#define OSC_API_PAUSED_MAX    64u

struct osc_api {
    struct osc_keeper *keeper;
    uint32_t first;
    const struct osc_logdir *dirs; /* borrowed; or NULL */
    struct osc_frames frames;
    pthread_mutex_t lock; /* of the rest; a leaf */
    pthread_cond_t freed; /* a question has ended */
    unsigned n_questions, n_paused, n_streams;
    bool is_stopping;
};

struct osc_api_endpoint {
    const char *name;
    bool has_rest; /* the path goes on: table/NAME */
    void (*answer)(struct osc_api_call *c);
};

#define OSC_API_ENDPOINT_LIST(X) \
    X(session)                   \
    X(runs)                      \
    X(catalog)                   \
    X(table)                     \
    X(progress)                  \
    X(tracks)                    \
    X(names)                     \
    X(cells)                     \
    X(values)                    \
    X(flows)                     \
    X(event)                     \
    X(flame)

#define OSC_API_ENDPOINT_DECLARE(name) \
    extern const struct osc_api_endpoint osc_api_endpoint_##name;
OSC_API_ENDPOINT_LIST(OSC_API_ENDPOINT_DECLARE)
#undef OSC_API_ENDPOINT_DECLARE

/* All endpoints, ended by NULL. */
extern const struct osc_api_endpoint *const osc_api_endpoints[];

/* --- for endpoints: false means that C has been answered ------------------------------ */

/* Find the run that the pair NAME of the query of C names; without it the first. */
bool osc_api_find_run(struct osc_api_call *c, const char *name, uint32_t *run);

/* Wait until RUN, which C is about, is loaded. The caller releases *SET. False also: the client
 * knows the run, by the fingerprint that it may give as `fp`, with other files: numbers of
 * tracks, names and events meant others there. */
bool osc_api_take(struct osc_api_call *c, uint32_t run, struct osc_set **set,
                  struct osc_keeping *kept);

/* The same, whatever the client knows. */
bool osc_api_take_base(struct osc_api_call *c, uint32_t run, struct osc_set **set,
                       struct osc_keeping *kept);

/* Answer C that its run has other files than its client knows. */
void osc_api_refuse_changed(struct osc_api_call *c);

/* Begin to work on a question, which may take until osc_api_end_work(). */
bool osc_api_begin_work(struct osc_api_call *c);
void osc_api_end_work(struct osc_api_call *c);

/* As osc_respond_write(). While C, which is at work, waits for its client, its place is free
 * for others; unless so many wait that their memory matters. */
int osc_api_write(struct osc_api_call *c, const char *s, size_t len);
