/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex.h - regular expressions that take time linear in the text, whatever they are.
 *
 * As in JavaScript and POSIX: . [a-z] [^a-z] ( ) (?: ) | * + ? ^ $ and \d \w \s \D \W \S \b;
 * a backslash before any other character takes its meaning away. Braces are characters, because
 * names of C++ have them. ASCII letters match without regard to case. It works on bytes.
 *
 * All states of the automaton are followed at the same time (Thompson 1968), so that no pattern
 * is slow on any text.
 *
 * Threading: an expression belongs to one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "base/strbuf.h"

#define OSC_REGEX_LENGTH_MAX 1000u
#define OSC_REGEX_GROUPS_MAX 9u /* groups of which the place is kept: ( ), but not (?: ) */

struct osc_regex;

/* Compile PATTERN, or the text PATTERN if IS_TEXT. OSC_EINVAL: it is malformed or too long. The
 * caller closes *R. */
OSC_MUST_USE osc_status osc_regex_open(struct osc_regex **r, struct osc_str pattern,
                                       bool is_text, struct osc_err *err);
void osc_regex_close(struct osc_regex *r); /* R may be NULL */

/* Whether TEXT has a part that R matches. Linear is long for a long pattern and a long text:
 * where the account of the caller was cancelled (osc_mem_is_cancelled()), the answer comes at
 * once and means nothing. */
bool osc_regex_has(struct osc_regex *r, struct osc_str text);

/* A part of a text, from FROM to before TO; both UINT32_MAX: none. */
struct osc_regex_span {
    uint32_t from, to;
};

/* Make R ready for osc_regex_find(). OSC_ENOMEM. */
OSC_MUST_USE osc_status osc_regex_prepare(struct osc_regex *r);

/*
 * Find the part of TEXT that R, which is prepared, matches: the first one; *, + and ? take as
 * much as they can, or behind a further ? as little, and earlier choices are preferred, as in
 * JavaScript. SPANS, one more than groups, receives it and each group. Cancelling is as above.
 */
bool osc_regex_find(struct osc_regex *r, struct osc_str text, struct osc_regex_span *spans);

/* Append PATTERN, of which R was made, with what TEXT has at SPANS in the place of each group.
 */
void osc_regex_label(const struct osc_regex *r, struct osc_str pattern, struct osc_str text,
                     const struct osc_regex_span *spans, struct osc_strbuf *out);
