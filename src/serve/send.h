/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.h - make responses of libmicrohttpd: with the headers that every one has.
 *
 * Each function queues a response, and returns what the handler of a request returns.
 *
 * Threading: one thread for a connection.
 */
#pragma once

#include <microhttpd.h>

#include "serve/assets.h"
#include "serve/pipe.h"

/* A header for a response; NAME NULL: none. */
struct osc_send_header {
    const char *name, *value;
};

/* Send the N bytes at BODY, which are copied, with HEAD and one MORE header. */
enum MHD_Result osc_send_bytes(struct MHD_Connection *c, const struct osc_api_head *head,
                               const void *body, size_t n, struct osc_send_header more);

/* Send an error as the interface does: {"code", "message", "what_to_do"}. After 401 and 403 the
 * connection is closed. */
enum MHD_Result osc_send_error(struct MHD_Connection *c, int status, const char *code,
                               const char *message, const char *what_to_do);

/* Send the file A of the page, compressed if the client takes that. */
enum MHD_Result osc_send_asset(struct MHD_Connection *c, const struct osc_asset *a);

/* Send what comes out of PIPE, whose STATE has a head. The response leaves the pipe at its end.
 * With COMPRESSES the client takes gzip, and is far enough away for it. */
enum MHD_Result osc_send_pipe(struct MHD_Connection *c, struct osc_pipe *pipe,
                              const struct osc_pipe_state *state, bool compresses);
