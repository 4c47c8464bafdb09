/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - JSON tokens: numbers exactly, strings unescaped.
 *
 * The pieces that the reader of traces is put together from, shared by its slow,
 * forgiving path and its fast one, so that both read a token alike. Nothing here
 * knows what a trace is.
 *
 *   - A decimal number is never rounded through a double where an integer of
 *     nanoseconds is wanted: see osc_json_micros().
 *   - Text that is not JSON but common (bare control characters, wrong escapes)
 *     is read and reported; see enum osc_json_flaw.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/wide.h"

/* A number token, taken apart. */
struct osc_json_number {
    const char *start, *end; /* the token */
    bool is_integer;         /* no fraction, no exponent */
    bool fits_int64;         /* an integer that INT64 holds */
    int64_t i;               /* its value, if fits_int64 */
};

/*
 * Read the number at P, which ends before END at the latest. False if there is no
 * JSON number; a leading zero or a leading plus sign is none.
 */
bool osc_json_number(const char *p, const char *end, struct osc_json_number *out);

/* All of TEXT is a JSON integer that INT64 holds; its value, else false. */
bool osc_json_int(struct osc_str text, int64_t *value);

/* The double nearest to the number token [P, END). */
double osc_json_double(const char *p, const char *end);

/* A time in decimal microseconds, in units of 10^-18 ns. */
struct osc_json_micros {
    osc_wide atto;
};

/*
 * Read a number token [P, END) of microseconds; digits beyond 10^-18 ns are
 * dropped. False beyond what INT64 nanoseconds hold, or if it is no number.
 */
bool osc_json_micros(const char *p, const char *end, struct osc_json_micros *out);

/* Nanoseconds, rounded half up (towards positive infinity at a tie). */
int64_t osc_json_micros_ns(struct osc_json_micros m);

/* A + B in nanoseconds, rounded half up once. False if INT64 does not hold it. */
bool osc_json_micros_sum_ns(struct osc_json_micros a, struct osc_json_micros b, int64_t *ns);

enum osc_json_flaw {
    OSC_JSON_CONTROL = 1,   /* a bare control character */
    OSC_JSON_ESCAPE = 2,    /* a backslash before what cannot be escaped: kept as it is */
    OSC_JSON_SURROGATE = 4, /* half a surrogate pair: read as U+FFFD */
};

/*
 * Append the string whose raw bytes between the quotation marks are [P, END),
 * unescaped, to OUT. Returns the flaws met (bits of enum osc_json_flaw).
 */
unsigned osc_json_unescape(const char *p, const char *end, struct osc_strbuf *out);

/* Append S as a JSON string with its quotation marks; not UTF-8 becomes U+FFFD. */
void osc_json_quote(struct osc_strbuf *out, struct osc_str s);

/*
 * Append S as osc_json_quote() does, but without quotation marks. Returns whether
 * that changed anything.
 */
bool osc_json_escape(struct osc_strbuf *out, struct osc_str s);

/* Whether S stands in a JSON string as it is: nothing to escape, valid UTF-8. */
bool osc_json_is_plain(struct osc_str s);

/*
 * Whether TEXT is one JSON value by RFC 8259, white space around it allowed, and
 * nested less than 10,000 levels deep. If its strings alone are wrong (control
 * characters, wrong escapes, not UTF-8) and OUT is not NULL, append it mended and
 * return true; a value that is right is not appended.
 */
bool osc_json_check(struct osc_str text, struct osc_strbuf *mended);

/*
 * The value of member KEY of the JSON object TEXT, as raw text, its first level
 * only. False if TEXT is no object or has no such member.
 */
bool osc_json_member(struct osc_str text, const char *key, struct osc_str *value);

/*
 * The next value of a JSON list, as raw text. REST is the list at first and then what
 * is left of it. False at its end, or if it is none.
 */
bool osc_json_next(struct osc_str *rest, struct osc_str *value);
