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

#include "base/status.h"
#include "base/str.h"

#define OSC_REGEX_LENGTH_MAX 1000u

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
