/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - a request and where its response goes, without a socket.
 *
 * The response is pushed: head first, then the body in pieces, from the thread that answers.
 * So a table of any length needs no memory, and a test can collect what a client would get.
 *
 * Threading: plain data; a request and its sink belong to one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "opscope/trace.h"

struct osc_api_request {
    const char *method;        /* "GET" */
    const char *target;        /* path and query as sent, without the prefix of the server */
    const char *if_none_match; /* this header, or NULL */
    struct osc_cancel *cancel; /* pulled when the client is gone or has waited too long */
};

/* The head of a response. Texts are borrowed during begin(). */
struct osc_api_head {
    int status;
    const char *type;  /* of the body, or NULL */
    const char *tag;   /* ETag, with its quotation marks, or NULL */
    const char *allow; /* methods, or NULL */
    const char *file;  /* the name under which a browser saves it, or NULL */
    unsigned retry_s;  /* Retry-After; 0: none */
    bool is_live;      /* pass on each piece at once: it is a stream of events */
    bool is_kept;      /* it never changes: browsers may keep it for ever */
};

struct osc_api_sink {
    /* Called once, before any write(). */
    void (*begin)(void *ctx, const struct osc_api_head *head);
    /* May wait for the client. Not 0: it is gone. */
    int (*write)(void *ctx, const char *s, size_t len);
    /* Whether the client is gone. */
    bool (*is_gone)(void *ctx);
    /* Work on a question begins: from now on the time for one counts. May be NULL. */
    void (*work)(void *ctx);
    /* Whether write() of LEN bytes will wait for the client. NULL: it never does. */
    bool (*is_full)(void *ctx, size_t len);
    void *ctx;
};
