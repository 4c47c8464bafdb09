/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - the connections of a server, and the time that each may take.
 *
 * libmicrohttpd counts from the last byte; who sends one now and then would keep a connection
 * for ever. Here the whole head counts, and the whole pause between requests. An overdue
 * connection is shut down, and its thread finds that out.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define OSC_WATCH_HEAD_NS  (INT64_C(5) * 1000000000)
#define OSC_WATCH_PAUSE_NS (INT64_C(60) * 1000000000)

/* A connection. The members up to due_ns belong to its thread. */
struct osc_watched {
    int fd;
    bool is_local;           /* the client is on this machine, and we know by whom it is run */
    bool is_ours, is_others; /* it is run by our user; it counts as one of others */
    int64_t due_ns;          /* under the lock; 0: it is at work */
    struct osc_watched *next, **at; /* under the lock */
};

struct osc_watch {
    pthread_mutex_t lock; /* of the list; a leaf */
    pthread_cond_t changed;
    struct osc_watched *first;
    pthread_t thread;
    bool is_stopping;
};

OSC_MUST_USE osc_status osc_watch_start(struct osc_watch *w);

/* Wait up to NS until no connection is at work. */
void osc_watch_wait(struct osc_watch *w, int64_t ns);

/* Tell all connections that their clients are gone. */
void osc_watch_shut(struct osc_watch *w);

/* End the thread, once no connection is left. */
void osc_watch_stop(struct osc_watch *w);

/* Add C, whose first head is to come; remove it before its socket is closed. */
void osc_watch_add(struct osc_watch *w, struct osc_watched *c);
void osc_watch_remove(struct osc_watch *w, struct osc_watched *c);

/* The time that C has from now on; 0: as long as it takes. */
void osc_watch_allow(struct osc_watch *w, struct osc_watched *c, int64_t ns);
