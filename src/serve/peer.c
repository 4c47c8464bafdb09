/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

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
    unsigned uid;
    bool is_found = false;

    if (!f)
        return false;
    while (!is_found && fgets(line, sizeof line, f)) {
        /* sl local remote state queues timer retransmits uid */
        is_found =
            sscanf(line, " %*u: %63s %63s %*x %*s %*s %*x %u", local, remote, &uid) == 3 &&
            strcmp(local, from) == 0 && strcmp(remote, to) == 0;
    }
    (void)fclose(f);
    if (is_found)
        *user = (uid_t)uid;
    return is_found;
}

bool osc_peer_find_user(int fd, uid_t *user)
{
    struct sockaddr_storage local = {0}, remote = {0};
    socklen_t n_local = sizeof local, n_remote = sizeof remote;
    struct ucred who;
    socklen_t n_who = sizeof who;
    struct end here, there;
    char from[64], to[64];

    if (getsockname(fd, (struct sockaddr *)&local, &n_local) != 0)
        return false;
    if (local.ss_family == AF_UNIX) {
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n_who) != 0)
            return false;
        *user = who.uid;
        return true;
    }
    if (getpeername(fd, (struct sockaddr *)&remote, &n_remote) != 0 ||
        !read_end(&local, &here) || !read_end(&remote, &there))
        return false;
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
