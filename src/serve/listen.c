/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "serve/peer.h"

/* Ports behind the usual one that are tried. */
#define PORTS_TRIED 100u

#define BACKLOG 1024

/* An address of either family. */
union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
};

static void set_port(union address *a, unsigned port)
{
    if (a->any.sa_family == AF_INET6)
        a->v6.sin6_port = htons((uint16_t)port);
    else
        a->v4.sin_port = htons((uint16_t)port);
}

/* Open a socket that listens at A; -1 with errno. */
static int open_at(const union address *a, socklen_t len, bool binds_all)
{
    const int on = 1, off = 0;
    const int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (binds_all && a->any.sa_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, &a->any, len) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    const int failure = errno;
    (void)close(fd);
    errno = failure;
    return -1;
}

/* The port of the socket FD. */
static unsigned port_of(int fd)
{
    union address a = {.room = {0}};
    socklen_t len = sizeof a;

    if (getsockname(fd, &a.any, &len) != 0)
        return 0;
    return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

/* Open L at the address A, at the port that HOW says. */
static osc_status open_port(struct osc_listening *l, union address *a, socklen_t len,
                            const struct osc_listen_how *how, struct osc_err *err)
{
    const unsigned first = how->has_port ? how->port : OSC_LISTEN_PORT;
    const unsigned n = how->has_port ? 1 : PORTS_TRIED;

    l->fd = -1;
    for (unsigned i = 0; i < n && l->fd < 0; i++) {
        set_port(a, first + i);
        l->fd = open_at(a, len, how->binds_all);
        if (l->fd < 0 && errno != EADDRINUSE)
            break;
        l->is_other = i > 0;
    }
    if (l->fd >= 0) {
        l->port = port_of(l->fd);
        l->is_loopback = osc_peer_is_loopback(&a->any);
        return OSC_OK;
    }
    if (errno == EADDRINUSE && how->has_port)
        return osc_fail(err, OSC_EIO,
                        "port %u is taken; leave out --port, and the next free one is used",
                        first);
    if (errno == EADDRINUSE)
        return osc_fail(err, OSC_EIO, "ports %u to %u are taken; --port 0 takes any", first,
                        first + n - 1);
    return osc_fail(err, OSC_EIO, "port %u: %s", first, strerror(errno));
}

/* Open the Unix socket at PATH, which only this user may use. */
static osc_status open_path(struct osc_listening *l, const char *path, struct osc_err *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const size_t n = strlen(path) + 1;

    if (n == 1 || n > sizeof a.sun_path)
        return osc_fail(err, OSC_EINVAL, "--socket: a path has 1 to %zu bytes, not %zu",
                        sizeof a.sun_path - 1, n - 1);
    memcpy(a.sun_path, path, n);
    l->path = osc_malloc(n);
    if (!l->path)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    memcpy(l->path, path, n);
    l->is_loopback = true;
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* The file gets the mode that the socket has when it is bound. */
    if (l->fd >= 0 && fchmod(l->fd, S_IRUSR | S_IWUSR) == 0 &&
        bind(l->fd, (const struct sockaddr *)&a, sizeof a) == 0 && listen(l->fd, BACKLOG) == 0)
        return OSC_OK;
    const osc_status st =
        errno == EADDRINUSE
            ? osc_fail(err, OSC_EIO, "%s: is there already; remove it if no server uses it",
                       path)
            : osc_fail(err, OSC_EIO, "%s: %s", path, strerror(errno));
    osc_free(l->path); /* not ours */
    l->path = NULL;
    osc_listen_close(l);
    return st;
}

osc_status osc_listen_open(struct osc_listening *l, const struct osc_listen_how *how,
                           struct osc_err *err)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    union address a = {.room = {0}};

    *l = (struct osc_listening){.fd = -1};
    if (how->path)
        return open_path(l, how->path, err);
    if (how->binds_all) {
        a.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
        if (open_port(l, &a, sizeof a.v6, how, err) == OSC_OK)
            return OSC_OK;
        a.v4 = (struct sockaddr_in){.sin_family = AF_INET}; /* a machine without IPv6 */
        return open_port(l, &a, sizeof a.v4, how, err);
    }
    const char *const host = how->host ? how->host : "127.0.0.1";
    const int failure = getaddrinfo(host, NULL, &hints, &found);
    if (failure != 0)
        return osc_fail(err, OSC_EINVAL, "--host: '%s': %s", host, gai_strerror(failure));
    const socklen_t len = found->ai_addrlen;
    memcpy(&a, found->ai_addr, len);
    freeaddrinfo(found);
    return open_port(l, &a, len, how, err);
}

void osc_listen_close(struct osc_listening *l)
{
    if (l->path)
        (void)unlink(l->path);
    osc_free(l->path);
    l->path = NULL;
    if (l->fd >= 0)
        (void)close(l->fd);
    l->fd = -1;
}

osc_status osc_listen_names(struct osc_path_list *names)
{
    char text[HOST_NAME_MAX + 1] = "";
    struct ifaddrs *all = NULL;
    osc_status st = OSC_OK;

    if (gethostname(text, sizeof text - 1) == 0 && text[0])
        st = osc_path_list_add(names, NULL, text);
    if (getifaddrs(&all) != 0)
        return st;
    for (const struct ifaddrs *i = all; i && st == OSC_OK; i = i->ifa_next) {
        const int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
        const void *const at =
            family == AF_INET
                ? (const void *)&((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr
            : family == AF_INET6
                ? (const void *)&((struct sockaddr_in6 *)(void *)i->ifa_addr)->sin6_addr
                : NULL;

        if (at && inet_ntop(family, at, text, sizeof text))
            st = osc_path_list_add(names, NULL, text);
    }
    freeifaddrs(all);
    return st;
}
