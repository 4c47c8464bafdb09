/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - text from files, made fit for others.
 *
 * Names are bytes until somebody shows them. JSON and HTML want valid UTF-8, and
 * a terminal must not be steered by what a trace calls its operators.
 *
 *   - Valid is what Unicode 15, table 3-7 says: no surrogates, no overlong forms,
 *     nothing above U+10FFFF.
 *   - An invalid part becomes U+FFFD once per maximal subpart (Unicode 15,
 *     section 3.9), as browsers and Python do it.
 *
 * Threading: pure functions; the buffer is the caller's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/strbuf.h"

bool osc_utf8_valid(const char *s, size_t len);

/* Append STR, made valid. Returns how many parts were replaced. */
size_t osc_utf8_append_clean(struct osc_strbuf *b, struct osc_str str);

/*
 * Append STR, made valid, with control characters (C0, DEL, C1) written as \xNN:
 * one line that leaves the terminal as it was.
 */
void osc_utf8_append_terminal(struct osc_strbuf *b, struct osc_str str);

/*
 * Code points of STR if it is valid, which is how Python and torch count the
 * characters of a column: bytes that continue no other.
 */
size_t osc_utf8_width(struct osc_str str);
