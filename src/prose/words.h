/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - numbers and names in sentences.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"

/* NS with a unit, such as 12.3 ms; and N bytes, such as 15.2 GiB. */
void osc_words_time(struct osc_strbuf *out, int64_t ns);
void osc_words_bytes(struct osc_strbuf *out, int64_t n);

/* What something grew by: +12.3 %, or 2.1 x if it more than doubled. BASE is positive. */
void osc_words_growth(struct osc_strbuf *out, double base, double now);

/* NAME that would read as words of the sentence, in quotes; any other as osc_words_name(). */
void osc_words_quoted(struct osc_strbuf *out, struct osc_str name);

/* Most columns of a name in a sentence. */
#define OSC_WORDS_NAME_WIDTH 120

/* NAME, shortened to fit a sentence. */
void osc_words_name(struct osc_strbuf *out, struct osc_str name);

/* NAME, which may be of a kernel, as tables show it: short, and with its arguments folded
 * unless HAS_FULL_NAMES. */
void osc_words_symbol(struct osc_strbuf *out, struct osc_str name, bool has_full_names);

/* The first 96 bytes of NAME, of which a sentence needs no more to be understood. */
void osc_words_head(struct osc_strbuf *out, struct osc_str name);
