/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_check.h - refuses options of osc_start() that cannot work, and keeps the reason.
 *
 * Threading: osc_start_check() from any thread; the others by the thread that starts.
 */
#pragma once

#include "base/status.h"
#include "opscope/record.h"

/* What is wrong with OPTIONS, which has all members: a sentence, static; NULL: nothing. */
const char *osc_start_check(const struct osc_start_options *options);

/* Store why a start failed: WHAT about PATH, which may be NULL; returns ST. */
osc_status osc_start_failed(osc_status st, const char *path, const char *what);

/* The start succeeded. */
void osc_start_succeeded(void);

/* What osc_start_failed() stored; "": the last start succeeded, or there was none. */
const char *osc_start_why(void);
