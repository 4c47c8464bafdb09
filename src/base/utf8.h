/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - make text from files safe to show.
 *
 * Names are arbitrary bytes until they are shown. JSON and HTML need valid UTF-8, and the
 * names in a trace must not control a terminal.
 *
 *   - Valid is what Unicode 15, table 3-7 defines: no surrogates, no overlong forms,
 *     nothing above U+10FFFF.
 *   - Each maximal invalid subpart becomes one U+FFFD (Unicode 15, section 3.9), as in
 *     browsers and Python.
 *
 * Threading: pure functions; the buffer is the caller's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/strbuf.h"

bool osc_utf8_valid(const char *s, size_t len);

/* Append STR, made valid. Returns the number of replaced parts. */
size_t osc_utf8_append_clean(struct osc_strbuf *b, struct osc_str str);

/*
 * Append STR, made valid, with control characters (C0, DEL, C1) written as \xNN, and with what
 * a terminal does not show, or what turns the direction of writing, as \uNNNN or \UNNNNNNNN:
 * one line without control sequences, in the order in which it is stored.
 */
void osc_utf8_append_terminal(struct osc_strbuf *b, struct osc_str str);

/*
 * The same for a name in a column: what would only be a gap is written as \x20 or \uNNNN, too,
 * which are blanks at the start, at the end and behind others, and any other space than U+0020.
 */
void osc_utf8_append_name(struct osc_strbuf *b, struct osc_str str);

/*
 * Code points of STR if it is valid, which is how Python and torch count the
 * characters of a column: bytes that continue no other.
 */
size_t osc_utf8_width(struct osc_str str);

/*
 * Columns of a terminal that the valid STR takes: two for each wide East Asian character and
 * each pictograph (Unicode 15, UAX #11), none for accents that go with the character before
 * them, one for any other code point.
 */
size_t osc_utf8_columns(struct osc_str str);

/* Bytes of the longest start, and of the longest end, of the valid STR that take at most N
 * columns. */
size_t osc_utf8_head(struct osc_str str, size_t n);
size_t osc_utf8_tail(struct osc_str str, size_t n);
