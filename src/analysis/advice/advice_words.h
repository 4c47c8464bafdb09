/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_words.h - parts of the sentences of `advice`.
 *
 * Each is made from the numbers of a row alone, so that it is right for merged ranks, too:
 * names are those of the first part, and are not said of several.
 *
 * Threading: pure functions.
 */
#pragma once

#include "analysis/advice/advice_list.h"
#include "analysis/words.h"
#include "names/labels.h"

/* PART in percent of WHOLE, such as 12.3 %, with N_DIGITS behind the point (percent.h). */
void osc_words_percent(struct osc_strbuf *out, int64_t part, int64_t whole, int n_digits);

/* "33.4 % of the step time (1.2 s)". */
void osc_words_share(struct osc_strbuf *out, const struct osc_advice_numbers *n);

/*
 * Set what N shows of its names, which stay in LABELS: short enough for a sentence, C++ names
 * of device work folded (subject, if IS_WORK), and different if the names are.
 */
OSC_MUST_USE osc_status osc_words_show_names(struct osc_advice_numbers *n, bool is_work,
                                             struct osc_labels *labels);

/* Whether NAME may be said: there is one, and the row is that of one part. */
bool osc_words_has_name(const struct osc_advice_numbers *n, struct osc_str name);

/* CALL with its module, which is that of the devices that the call SUBJECT drives, or else of
 * those that did the work. */
void osc_words_torch_call(struct osc_strbuf *out, const struct osc_advice_numbers *n,
                          const char *call);

/* Whether WORD, which begins with a space, is among the traits, and whether they have a
 * device: the work is that of devices. */
bool osc_words_has_trait(const struct osc_advice_numbers *n, const char *word);
bool osc_words_has_device(const struct osc_advice_numbers *n);

/* "75.6 ms of the 82.0 ms in which FAMILY:0 has no work (33.4 % of the step time)". */
void osc_words_idle(struct osc_strbuf *out, const struct osc_advice_numbers *n);

/* That recording functions makes the host slower, if they were: a further sentence. */
void osc_words_functions_cost(struct osc_strbuf *out, const struct osc_advice_numbers *n);

/* What launches fewer kernels, without what the program does already. */
void osc_words_fewer_launches(struct osc_strbuf *out, const struct osc_advice_numbers *n);
