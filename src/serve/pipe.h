/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.h - a response on its way from the thread that answers to the one that sends it.
 *
 * The answering thread waits while the pipe is full, so an answer of any length needs little
 * memory. Whoever is the last to leave frees the pipe.
 *
 * Threading: one thread answers (osc_pipe_sink(), osc_pipe_end()), one takes (the others).
 */
#pragma once

#include <stdint.h>

#include "api/exchange.h"

#define OSC_PIPE_BYTES (256u << 10)

struct osc_pipe;

/* What the taking thread finds. Texts are valid until it leaves. */
struct osc_pipe_state {
    const struct osc_api_head *head; /* NULL: not there yet */
    bool is_full;
    bool is_ended, is_whole; /* nothing follows; the body is complete */
    size_t n_bytes;          /* that wait to be taken */
    int64_t work_ns;         /* since when it is worked on (base/clock.h); 0: it is not yet */
};

/* A pipe with two users; NULL: out of memory. */
struct osc_pipe *osc_pipe_new(void);

/* Pulled by osc_pipe_give_up(). */
struct osc_cancel *osc_pipe_cancel(struct osc_pipe *p);

/* Where the answering thread puts the response; borrowed. */
const struct osc_api_sink *osc_pipe_sink(struct osc_pipe *p);

/* The response is complete (IS_WHOLE) or is not; the answering thread leaves. */
void osc_pipe_end(struct osc_pipe *p, bool is_whole);

/* Wait up to TIMEOUT_NS for the head, the end, a full pipe, or, if TAKES, for any byte. */
struct osc_pipe_state osc_pipe_wait(struct osc_pipe *p, bool takes, int64_t timeout_ns);

/* Move up to LEN bytes to TO; returns how many. */
size_t osc_pipe_take(struct osc_pipe *p, char *to, size_t len);

/* Let the answer stop; what it sends is dropped if IS_GONE. */
void osc_pipe_give_up(struct osc_pipe *p, bool is_gone);

/* The taking thread leaves. */
void osc_pipe_leave(struct osc_pipe *p);
