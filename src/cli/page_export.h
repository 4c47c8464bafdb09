/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_export.h - `opscope export -o run.html`.
 *
 * A page without private texts is made of a trace without them: the redacted set is written as
 * columns to a temporary folder and opened again, so that no answer can have what was taken
 * out.
 *
 * Threading: one thread.
 */
#pragma once

#include "ask/set.h"
#include "cli/command_options.h"
#include "page/one_file.h"

/* Fail if this build has no page. Returns the exit status, after a message. */
int osc_page_export_check(void);

/* Write the page of SET, which was opened for ARGS and, with --redact, redacted, to the
 * results. The callbacks and the context of HOW receive text and progress. A failure has its
 * sentence in ERR. */
OSC_MUST_USE osc_status osc_page_export(struct osc_set *set, const struct osc_args *args,
                                        const struct osc_page *how, struct osc_err *err);
