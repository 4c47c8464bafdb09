/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - the socket of the server, of TCP or a file, and the names of this machine.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>

#include "ask/folders/folder.h"
#include "base/status.h"

#define OSC_LISTEN_PORT 6006

/* Zeroed: on loopback, at OSC_LISTEN_PORT or the next port that is free. */
struct osc_listen_how {
    const char *path; /* a Unix socket to make, instead of all below; NULL: none */
    const char *host; /* NULL: 127.0.0.1 */
    bool binds_all;   /* every address of this machine, instead of host */
    bool has_port;    /* only this one; 0: any that is free */
    unsigned port;
};

struct osc_listening {
    int fd;           /* owned by whoever takes it over */
    unsigned port;    /* 0: it is a Unix socket */
    char *path;       /* of that, owned; NULL: there is none to remove */
    bool is_loopback; /* nobody but this machine reaches it */
    bool is_other;    /* the port is not the one that was wanted */
};

/* Open the socket *L. OSC_EINVAL: the host is unknown, or the path is too long; OSC_EIO: no
 * port is free, or not ours, or something is at the path. */
OSC_MUST_USE osc_status osc_listen_open(struct osc_listening *l,
                                        const struct osc_listen_how *how, struct osc_err *err);

/* Remove the file of L, and close it if nobody has taken it over. */
void osc_listen_close(struct osc_listening *l);

/* Add the name and all addresses of this machine to NAMES. */
OSC_MUST_USE osc_status osc_listen_names(struct osc_path_list *names);
