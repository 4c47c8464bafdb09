/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_file.h - a run as one HTML file: the page of the viewer with the answers to what it asks.
 *
 * The answers are those of api/, asked in this process (questions.h), so they are the same as
 * those of the server. Not all fits into OSC_PAGE_BYTES: tables have their first
 * OSC_PAGE_ROWS rows, the timeline has the cells of a few resolutions (levels.h), and what is
 * least likely to be asked for is left out. The page says so.
 *
 * The file asks for nothing: its policy for contents names its script and style sheet by their
 * hashes and forbids the rest.
 *
 * Threading: one thread.
 */
#pragma once

#include "page/page_plan.h"

/* Whether this build has the page; if not, *WHY says what to do. */
bool osc_page_is_there(const char **why);

OSC_MUST_USE osc_status osc_page_write(const struct osc_page *page, struct osc_err *err);
