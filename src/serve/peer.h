/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - who is at the other end of a connection on this machine.
 *
 * Threading: pure functions that read /proc.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Whether A is an address of loopback. */
bool osc_peer_is_loopback(const struct sockaddr *a);

/* Find the user whose process has the other end of the socket FD. False: it is not on this
 * machine, or the system does not say. */
bool osc_peer_find_user(int fd, uid_t *user);
