/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - get one document from a server, by libcurl.
 *
 *   - http and https only. Proxies are those of the usual variables (https_proxy, no_proxy).
 *   - A redirect is followed, five times at most, but never from https to http. Credentials
 *     go only to the host for which they were given; a signed request is not redirected at all.
 *   - A server that sends nothing for 20 seconds has failed.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"

/* How to sign requests for S3 (Signature Version 4). */
struct osc_http_signer {
    const char *key, *secret; /* borrowed */
    const char *token;        /* of the session; or NULL */
    const char *region;
};

struct osc_http_request {
    const char *url;
    const char *name;                     /* of it in messages: without a password */
    const struct osc_http_signer *signer; /* NULL: not signed */
    int fd;                               /* where the body goes; -1: into body */
    struct osc_strbuf *body;              /* at most 64 MiB */
    /* Called from time to time; false stops. May be NULL. TOTAL of 0 is not known. */
    bool (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);
    void *ctx;
    bool is_page; /* an answer as text/html is expected, not an error page */
};

/*
 * Get R. OSC_ENOTFOUND: the server does not have it. OSC_EIO: it cannot be reached, refuses, or
 * answers with something else; ERR says what. OSC_ECANCELED. OSC_EINVAL: this program was built
 * without libcurl.
 */
OSC_MUST_USE osc_status osc_http_get(const struct osc_http_request *r, struct osc_err *err);
