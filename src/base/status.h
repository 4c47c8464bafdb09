/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - what can go wrong, and how it is told.
 *
 * Everything that can fail returns an osc_status (opscope/opscope.h) and, where a
 * sentence helps, fills a struct osc_err that the caller owns (usually on its stack)
 * and passes last. NULL there means "the code is enough".
 *
 *   - Messages are lower case, without a full stop; they name the file and what
 *     was expected. The first failure wins: osc_fail() overwrites nothing that a
 *     deeper call has told already only if the caller passes another osc_err.
 *   - Nothing here allocates or locks.
 *
 * Threading: thread-safe; a struct osc_err belongs to one thread.
 */
#pragma once

#include <stdarg.h>
#include <stdint.h>

#include "opscope/opscope.h"

/* The text of CODE, static. */
const char *osc_status_text(osc_status code);

/* Fill ERR (may be NULL) with CODE and the formatted message; returns CODE. */
osc_status osc_fail(struct osc_err *err, osc_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, with the byte OFFSET of the input at which it went wrong. */
osc_status osc_fail_at(struct osc_err *err, osc_status code, uint64_t offset,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Put "PREFIX: " before the message of ERR (may be NULL); cut at its room. */
void osc_err_prefix(struct osc_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
