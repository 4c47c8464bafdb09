/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - who is at the other end of a connection on this machine.
 *
 * Threading: pure functions that ask the kernel, or read /proc.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Whether A is an address of loopback. */
bool osc_peer_is_loopback(const struct sockaddr *a);

/* Find the user whose process has the other end of the socket FD. False: it is not on this
 * machine, it is closed, or the system does not say. */
bool osc_peer_find_user(int fd, uid_t *user);

/* The same, only if that takes no time: false also where it would mean to read a table of all
 * sockets. */
bool osc_peer_find_user_fast(int fd, uid_t *user);
