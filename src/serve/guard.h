/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - which requests are let in: checks of headers, without a socket.
 *
 *   Host            a name or address of this server, unless a proxy looks after it; so a name
 *                   that an attacker points at this machine (DNS rebinding) reaches nothing
 *   Sec-Fetch-Site  cross-site or same-site, which is any other port of this machine: only to
 *                   open the page itself, as a link in another page does
 *   Origin          none, or the same as Host
 *   token           see struct osc_guard
 *
 * Threading: plain data; read-only once the server runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/strbuf.h"

#define OSC_TOKEN_BYTES 33u /* 128 bits in hexadecimal digits, and a NUL */

struct osc_guard {
    const char *const *names; /* borrowed; of this server, besides those of loopback */
    size_t n_names;
    bool is_behind_proxy; /* it decides which names are good */
    char token[OSC_TOKEN_BYTES];
    char cookie[32]; /* its name; it has the port, because ports share cookies */
};

/* Make the token, from random numbers of the kernel. OSC_EIO: there are none. */
OSC_MUST_USE osc_status osc_guard_make_token(struct osc_guard *g);

/* The headers of a request that matter; NULL: it has none such. */
struct osc_guard_headers {
    const char *host, *origin, *cookie;
    const char *fetch_site, *fetch_mode, *fetch_dest;
};

/* Whether TEXT, a header Host, names this server. */
bool osc_guard_knows_host(const struct osc_guard *g, const char *text);

/* Why a request is refused, for a page or for data; NULL: it is not. */
const char *osc_guard_refusal(const struct osc_guard *g, const struct osc_guard_headers *h,
                              bool is_page);

/* Whether TOKEN, as long as it says, is the token. Takes the same time for every wrong one. */
bool osc_guard_is_token(const struct osc_guard *g, const char *token, size_t len);

/* Whether the header COOKIE (NULL: none) has it. */
bool osc_guard_has_cookie(const struct osc_guard *g, const char *cookie);

/*
 * If the query of TARGET has a token: set *IS_RIGHT, and append TARGET without it to REST.
 * False: it has none.
 */
bool osc_guard_take_token(const struct osc_guard *g, const char *target, bool *is_right,
                          struct osc_strbuf *rest);
