/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/peer.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The state of an open connection in /proc/net/tcp. */
#define ESTABLISHED 1u

/* An end of a connection as /proc/net/tcp6 writes it, with the words of the machine. */
struct end {
    uint32_t words[4];
    unsigned port;
    bool is_v4;
};

static bool read_end(const struct sockaddr_storage *a, struct end *e)
{
    *e = (struct end){.port = 0};
    if (a->ss_family == AF_INET) {
        const struct sockaddr_in *const in = (const void *)a;

        e->words[0] = in->sin_addr.s_addr;
        e->port = ntohs(in->sin_port);
        e->is_v4 = true;
        return true;
    }
    if (a->ss_family == AF_INET6) {
        const struct sockaddr_in6 *const in = (const void *)a;

        memcpy(e->words, &in->sin6_addr, sizeof e->words);
        e->port = ntohs(in->sin6_port);
        /* A client of IPv4 at a socket of both has an address of IPv4 on its own side. */
        if (IN6_IS_ADDR_V4MAPPED(&in->sin6_addr)) {
            e->words[0] = e->words[3];
            e->is_v4 = true;
        }
        return true;
    }
    return false;
}

bool osc_peer_is_loopback(const struct sockaddr *a)
{
    struct sockaddr_storage copy = {0};
    struct end e;

    memcpy(&copy, a,
           a->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
    if (!read_end(&copy, &e))
        return false;
    if (e.is_v4)
        return (ntohl(e.words[0]) >> 24) == 127;
    return IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)(const void *)e.words);
}

/* Write E as in /proc/net/tcp and tcp6. */
static void write_end(char *to, size_t size, const struct end *e, bool is_v6)
{
    if (!is_v6)
        snprintf(to, size, "%08X:%04X", e->words[0], e->port);
    else if (e->is_v4) /* mapped */
        snprintf(to, size, "0000000000000000FFFF0000%08X:%04X", e->words[0], e->port);
    else
        snprintf(to, size, "%08X%08X%08X%08X:%04X", e->words[0], e->words[1], e->words[2],
                 e->words[3], e->port);
}

/* Find in the file PATH the user of the socket from FROM to TO. */
static bool find_in(const char *path, const char *from, const char *to, uid_t *user)
{
    FILE *const f = fopen(path, "re");
    char line[512], local[64], remote[64];
    unsigned uid, state;
    bool is_found = false;

    if (!f)
        return false;
    while (!is_found && fgets(line, sizeof line, f)) {
        /* sl local remote state queues timer retransmits uid. A socket that nobody has any more
         * is of user 0: only open ones say whose they are. */
        is_found = sscanf(line, " %*u: %63s %63s %x %*s %*s %*x %u", local, remote, &state,
                          &uid) == 4 &&
                   state == ESTABLISHED && strcmp(local, from) == 0 && strcmp(remote, to) == 0;
    }
    (void)fclose(f);
    if (is_found)
        *user = (uid_t)uid;
    return is_found;
}

/* Ask the kernel for the one socket from HERE to THERE, of FAMILY. */
static bool ask_kernel(int family, const struct end *here, const struct end *there, uid_t *user)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } ask = {.head = {.nlmsg_len = sizeof ask,
                      .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                      .nlmsg_flags = NLM_F_REQUEST},
             .body = {.sdiag_family = (uint8_t)family,
                      .sdiag_protocol = IPPROTO_TCP,
                      .idiag_states = 1u << ESTABLISHED,
                      .id = {.idiag_sport = htons((uint16_t)here->port),
                             .idiag_dport = htons((uint16_t)there->port),
                             .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
    struct {
        struct nlmsghdr head;
        struct inet_diag_msg body;
        char attributes[512];
    } told;
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    const size_t n = family == AF_INET ? 4 : sizeof here->words;

    if (fd < 0)
        return false;
    memcpy(ask.body.id.idiag_src, here->words, n);
    memcpy(ask.body.id.idiag_dst, there->words, n);
    const ssize_t got = send(fd, &ask, sizeof ask, 0) == (ssize_t)sizeof ask
                            ? recv(fd, &told, sizeof told, 0)
                            : -1;
    (void)close(fd);
    if (got < (ssize_t)(sizeof told.head + sizeof told.body) ||
        told.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || told.body.idiag_state != ESTABLISHED)
        return false;
    *user = told.body.idiag_uid;
    return true;
}

/* Find both ends of FD; for a Unix socket *USER at once. 0: neither is there. */
static int find_ends(int fd, struct end *here, struct end *there, uid_t *user)
{
    struct sockaddr_storage local = {0}, remote = {0};
    socklen_t n_local = sizeof local, n_remote = sizeof remote;
    struct ucred who;
    socklen_t n_who = sizeof who;

    if (getsockname(fd, (struct sockaddr *)&local, &n_local) != 0)
        return 0;
    if (local.ss_family == AF_UNIX) {
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n_who) != 0)
            return 0;
        *user = who.uid;
        return AF_UNIX;
    }
    return getpeername(fd, (struct sockaddr *)&remote, &n_remote) == 0 &&
                   read_end(&local, here) && read_end(&remote, there)
               ? local.ss_family
               : 0;
}

/* Find the user of the socket from THERE to HERE, if the kernel says it. As IPv4 it finds also
 * sockets of IPv6 with a mapped address. */
static bool find_fast(const struct end *here, const struct end *there, uid_t *user)
{
    return ask_kernel(there->is_v4 ? AF_INET : AF_INET6, there, here, user);
}

bool osc_peer_find_user_fast(int fd, uid_t *user)
{
    struct end here, there;
    const int family = find_ends(fd, &here, &there, user);

    return family == AF_UNIX || (family != 0 && find_fast(&here, &there, user));
}

bool osc_peer_find_user(int fd, uid_t *user)
{
    struct end here, there;
    char from[64], to[64];
    const int family = find_ends(fd, &here, &there, user);

    if (family == 0 || family == AF_UNIX)
        return family != 0;
    if (find_fast(&here, &there, user))
        return true;
    if (there.is_v4) {
        write_end(from, sizeof from, &there, false);
        write_end(to, sizeof to, &here, false);
        if (find_in("/proc/net/tcp", from, to, user))
            return true;
    }
    write_end(from, sizeof from, &there, true);
    write_end(to, sizeof to, &here, true);
    return find_in("/proc/net/tcp6", from, to, user);
}
