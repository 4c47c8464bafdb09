/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h - the viewer's server: HTTP around the interface (api/api.h) and the files of the
 * page.
 *
 *   - Each connection has a thread, which waits for the one that answers its request and
 *     watches the client meanwhile: if it goes, the question is cancelled.
 *   - Limits: 8 KiB of address, 512 connections, 5 s for a head, 60 s without a request, 10 s
 *     for the first byte of an answer.
 *   - On loopback other users get a half of the connections, so that ours always finds room.
 *     Beyond it each machine gets a half, and several can take all.
 *   - Who may ask: guard.h. Beyond loopback, and for other users of this machine, a token.
 *
 * Threading: start and stop from one thread.
 */
#pragma once

#include "api/api.h"
#include "serve/listen.h"

struct osc_server;

/* All borrowed as long as the server runs. */
struct osc_server_config {
    struct osc_api *api;
    struct osc_listen_how listen;
    const char *prefix; /* of all paths, such as "/opscope"; NULL or "/": none */
    const char
        *hosts; /* names under which it is addressed, too, separated by commas; or NULL */
    void (*say)(void *ctx, const char *line); /* may be called by any thread */
    void *ctx;
};

OSC_MUST_USE osc_status osc_server_start(struct osc_server **s,
                                         const struct osc_server_config *config,
                                         struct osc_err *err);

/* Where the page is, with the token if one is needed, or unix:PATH; and whether the port is not
 * the usual one because that is taken. */
const char *osc_server_url(const struct osc_server *s);
bool osc_server_is_moved(const struct osc_server *s);

/* End all connections; the interface is stopped, too. False: some work does not end; then
 * neither may be freed, and the process shall exit. */
OSC_MUST_USE bool osc_server_stop(struct osc_server *s);
