/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - how errors are reported.
 *
 * Everything that can fail returns an osc_status (opscope/opscope.h). If a sentence helps, it
 * also fills a struct osc_err, which the caller owns (usually on its stack) and passes last.
 * The caller passes NULL if the code is enough.
 *
 *   - Messages are lower case, without a full stop; they name the file and what was
 *     expected. osc_fail() overwrites an earlier message in the same osc_err: pass another
 *     one to keep the first.
 *   - Nothing here allocates or locks.
 *
 * Threading: thread-safe; a struct osc_err belongs to one thread.
 */
#pragma once

#include <stdarg.h>
#include <stdint.h>

#include "opscope/opscope.h"

/* Fill ERR (may be NULL) with CODE and the formatted message; returns CODE. */
osc_status osc_fail(struct osc_err *err, osc_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* osc_fail() with OFFSET, the byte of the input at which the error is. */
osc_status osc_fail_at(struct osc_err *err, osc_status code, uint64_t offset,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Put "PREFIX: " before the message of ERR (may be NULL); the result is cut to fit. */
void osc_err_prefix(struct osc_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
