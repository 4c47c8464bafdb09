/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept.h - which codings a client takes: the header Accept-Encoding (RFC 9110, 12.5.3).
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>

/* Whether the header ACCEPTED (NULL: none) takes CODING, such as "gzip": it names it, or else
 * "*", with a weight above 0. */
bool osc_accept_takes(const char *accepted, const char *coding);
