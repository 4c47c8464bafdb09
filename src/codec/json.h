/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - read JSON tokens: exact numbers, unescaped strings.
 *
 * The slow and the fast path of the reader of traces share these functions, so that both read
 * a token in the same way. Nothing here depends on traces.
 *
 *   - A decimal number is never rounded through a double if integer nanoseconds are wanted:
 *     see osc_json_micros().
 *   - Common deviations from JSON (bare control characters, wrong escapes) are accepted and
 *     reported; see enum osc_json_flaw.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/wide.h"

/* The parts of a number token. */
struct osc_json_number {
    const char *start, *end; /* the token */
    bool is_integer;         /* no fraction, no exponent */
    bool fits_int64;         /* an integer in the range of int64_t */
    int64_t i;               /* its value, if fits_int64 */
};

/*
 * Read the number at P, which ends at END at the latest. False: there is no number of JSON;
 * with a leading zero or plus sign it is not one.
 */
bool osc_json_number(const char *p, const char *end, struct osc_json_number *out);

/* Read TEXT, which must be completely an integer of JSON in the range of int64_t; else false.
 */
bool osc_json_int(struct osc_str text, int64_t *value);

/* The double nearest to the number token [P, END). */
double osc_json_double(const char *p, const char *end);

/* A time in decimal microseconds, in units of 10^-18 ns. */
struct osc_json_micros {
    osc_wide atto;
};

/*
 * Read a number token [P, END) of microseconds; digits below 10^-18 ns are dropped. False: it
 * is not a number, or its nanoseconds exceed int64_t.
 */
bool osc_json_micros(const char *p, const char *end, struct osc_json_micros *out);

/*
 * Read a number token [P, END) of microseconds as WHOLE ones and the REST, which has the sign
 * of the token. False: it is not a number, or the whole ones exceed int64_t.
 */
bool osc_json_micros_whole(const char *p, const char *end, int64_t *whole,
                           struct osc_json_micros *rest);

/*
 * Like osc_json_micros(), for the time since SINCE_US microseconds. False: it is no number, or
 * the token as microseconds or the difference as nanoseconds exceed int64_t.
 */
bool osc_json_micros_since(const char *p, const char *end, int64_t since_us,
                           struct osc_json_micros *out);

/* Nanoseconds, rounded half up (towards positive infinity at a tie). */
int64_t osc_json_micros_ns(struct osc_json_micros m);

/* A + B in nanoseconds, rounded half up once. False: the sum exceeds int64_t. */
bool osc_json_micros_sum_ns(struct osc_json_micros a, struct osc_json_micros b, int64_t *ns);

enum osc_json_flaw {
    OSC_JSON_CONTROL = 1,   /* a bare control character */
    OSC_JSON_ESCAPE = 2,    /* a backslash that begins no valid escape: kept as it is */
    OSC_JSON_SURROGATE = 4, /* half a surrogate pair: read as U+FFFD */
};

/*
 * Unescape the string whose raw bytes between the quotation marks are [P, END), and append it
 * to OUT. Returns the flaws found (bits of enum osc_json_flaw).
 */
unsigned osc_json_unescape(const char *p, const char *end, struct osc_strbuf *out);

/* Append S as a JSON string with quotation marks; invalid UTF-8 becomes U+FFFD. */
void osc_json_quote(struct osc_strbuf *out, struct osc_str s);

/*
 * Append S like osc_json_quote(), but without quotation marks. Returns whether the appended
 * text differs from S.
 */
bool osc_json_escape(struct osc_strbuf *out, struct osc_str s);

/* Whether S can be in a JSON string without changes: nothing to escape, valid UTF-8. */
bool osc_json_is_plain(struct osc_str s);

/*
 * Whether TEXT is one JSON value by RFC 8259, with white space around it allowed and less than
 * 10,000 levels of nesting. If only its strings are wrong (control characters, wrong escapes,
 * invalid UTF-8) and MENDED is not NULL, append the corrected value and return true; a correct
 * value is not appended.
 */
bool osc_json_check(struct osc_str text, struct osc_strbuf *mended);

/*
 * Find the value, as raw text, of the member KEY in the first level of the JSON object TEXT.
 * False: TEXT is not an object or has no such member.
 */
bool osc_json_member(struct osc_str text, const char *key, struct osc_str *value);

/* The raw text VALUE without its quotation marks, if it has some; escapes stay. */
static inline struct osc_str osc_json_bare(struct osc_str value)
{
    return value.len >= 2 && value.s[0] == '"' ? (struct osc_str){value.s + 1, value.len - 2}
                                               : value;
}

/*
 * Read the next value of a JSON list as raw text. REST is first the list and then the rest of
 * it. False: the list has ended, or REST is not a list.
 */
bool osc_json_next(struct osc_str *rest, struct osc_str *value);

/*
 * Read the next member of a JSON object as raw text: KEY without its quotation marks, VALUE.
 * REST is first the object and then the rest of it. False: the object has ended, or REST is not
 * an object.
 */
bool osc_json_next_member(struct osc_str *rest, struct osc_str *key, struct osc_str *value);
