/* SPDX-License-Identifier: Apache-2.0 */
/*
 * respond.h - the responses that all endpoints make: JSON, errors, "not modified".
 *
 * An error is JSON: {"code": WORD, "message": SENTENCE, "what_to_do": SENTENCE or null,
 * "command": the command line that prints the same, or null}.
 *
 * Threading: one thread for a call.
 */
#pragma once

#include "api/exchange.h"
#include "api/url.h"
#include "base/strbuf.h"

struct osc_api;

/* A request that is being answered. */
struct osc_api_call {
    struct osc_api *api;
    const struct osc_api_request *request;
    const struct osc_api_sink *sink;
    struct osc_url url;
    const char *rest;   /* of the path, behind the name of the endpoint; "" */
    char tag[80];       /* the ETag of the response, or "" */
    bool is_begun;      /* the head is sent */
    bool is_incomplete; /* the body ends too early, and the client shall notice */
};

struct osc_api_error {
    int status;
    const char *code;
    const char *message;
    const char *what_to_do; /* or NULL */
    const char *command;    /* or NULL */
    const char *allow;      /* for 405; or NULL */
    unsigned retry_s;
};

void osc_respond_error(struct osc_api_call *c, const struct osc_api_error *e);

/* The error for the failure ST, whose sentence is in ERR (or NULL), of a question that COMMAND
 * (or NULL) asks, too. */
void osc_respond_failure(struct osc_api_call *c, osc_status st, const struct osc_err *err,
                         const char *command);

/* Send BODY, or an error if it is incomplete, and free it. */
void osc_respond_json(struct osc_api_call *c, struct osc_strbuf *body);

/* Begin a response of status 200 that has the tag of C. */
void osc_respond_begin(struct osc_api_call *c, const char *type);

/* Pass on a piece of the body. Not 0: the client is gone. */
int osc_respond_write(struct osc_api_call *c, const char *s, size_t len);

/*
 * Set the tag of C to what identifies an answer to its target about traces with FINGERPRINT,
 * one or several after each other. True: the client has this answer, and was told so.
 */
bool osc_respond_unchanged(struct osc_api_call *c, const char *fingerprint);
