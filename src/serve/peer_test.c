/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "serve/listen.h"
#include "support/unit.h"

enum way { V4, V6, V4_OF_V6, N_WAYS }; /* the last: a mapped address */

/* Connect to L by WAY; *ACCEPTED is the other end. -1: this machine lacks the family. */
static int connect_to(const struct osc_listening *l, enum way way, int *accepted)
{
    const int family = way == V4 ? AF_INET : AF_INET6;
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)l->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)l->port)};
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is_v4 = family == AF_INET;

    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    v6.sin6_addr = in6addr_loopback;
    if (way == V4_OF_V6)
        assert_int_equal(inet_pton(AF_INET6, "::ffff:127.0.0.1", &v6.sin6_addr), 1);
    if (fd < 0 || connect(fd, is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6,
                          is_v4 ? sizeof v4 : sizeof v6) != 0) {
        if (fd >= 0)
            (void)close(fd);
        return -1;
    }
    *accepted = accept(l->fd, NULL, NULL);
    assert_true(*accepted >= 0);
    return fd;
}

TEST(the_user_of_a_client_of_this_machine_is_found)
{
    static const struct osc_listen_how hows[] = {{.has_port = true},
                                                 {.has_port = true, .binds_all = true}};
    unsigned n = 0, n_fast = 0;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct osc_listening l;

        assert_int_equal(osc_listen_open(&l, &hows[i], NULL), OSC_OK);
        assert_int_equal(l.is_loopback, i == 0);
        for (enum way way = V4; way < N_WAYS; way++) {
            uid_t user = (uid_t)-1;
            int accepted;
            const int fd = i == 0 && way == V6 ? -1 : connect_to(&l, way, &accepted);

            if (fd < 0)
                continue;
            assert_true(osc_peer_find_user(accepted, &user));
            assert_int_equal(user, getuid());
            user = (uid_t)-1;
            if (osc_peer_find_user_fast(accepted, &user)) {
                assert_int_equal(user, getuid());
                n_fast++;
            }
            n++;
            (void)close(accepted);
            (void)close(fd);
        }
        (void)close(l.fd);
    }
    assert_true(n >= 2);
    assert_true(n_fast == n || n_fast == 0); /* kernels can lack it */
}

TEST(a_taken_port_is_left_to_its_owner)
{
    struct osc_listening first, second;
    struct osc_listen_how how = {.has_port = true};

    (void)state;
    assert_int_equal(osc_listen_open(&first, &how, NULL), OSC_OK);
    how.port = first.port;
    assert_int_equal(osc_listen_open(&second, &how, NULL), OSC_EIO);
    (void)close(first.fd);
}

TEST(a_unix_socket_is_of_its_user_alone)
{
    char folder[] = "/tmp/peer_test.XXXXXX", path[64];
    struct osc_listening l, second;
    struct osc_listen_how how = {.path = path};
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct osc_err err = {0};
    struct stat info;
    uid_t user = 1;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s", folder);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    assert_int_equal(osc_listen_open(&l, &how, &err), OSC_OK);
    assert_int_equal(l.port, 0);
    assert_true(l.is_loopback);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&a, sizeof a), 0);
    const int accepted = accept4(l.fd, NULL, NULL, SOCK_CLOEXEC);
    assert_true(osc_peer_find_user(accepted, &user));
    assert_int_equal(user, getuid());
    assert_int_equal(osc_listen_open(&second, &how, &err), OSC_EIO);
    assert_int_equal(stat(path, &info), 0); /* it is not the second one's to remove */
    (void)close(accepted);
    (void)close(fd);
    osc_listen_close(&l);
    assert_int_equal(stat(path, &info), -1);
    how.path = "";
    assert_int_equal(osc_listen_open(&l, &how, &err), OSC_EINVAL);
    char *const longest = osc_calloc(1, sizeof a.sun_path + 1);
    assert_non_null(longest);
    memset(longest, 'a', sizeof a.sun_path);
    how.path = longest;
    assert_int_equal(osc_listen_open(&l, &how, &err), OSC_EINVAL);
    osc_free(longest);
    assert_int_equal(rmdir(folder), 0);
}

static bool is_loopback(int family, const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    if (family == AF_INET) {
        assert_int_equal(inet_pton(family, text, &v4.sin_addr), 1);
        return osc_peer_is_loopback((struct sockaddr *)&v4);
    }
    assert_int_equal(inet_pton(family, text, &v6.sin6_addr), 1);
    return osc_peer_is_loopback((struct sockaddr *)&v6);
}

TEST(loopback_is_known_in_all_its_forms)
{
    (void)state;
    assert_true(is_loopback(AF_INET, "127.0.0.1"));
    assert_true(is_loopback(AF_INET, "127.9.9.9"));
    assert_true(is_loopback(AF_INET6, "::1"));
    assert_true(is_loopback(AF_INET6, "::ffff:127.0.0.1"));
    assert_false(is_loopback(AF_INET, "10.0.0.127"));
    assert_false(is_loopback(AF_INET6, "::ffff:10.0.0.1"));
    assert_false(is_loopback(AF_INET6, "fe80::1"));
    assert_false(is_loopback(AF_INET6, "::"));
}

UNIT_MAIN("peer")
