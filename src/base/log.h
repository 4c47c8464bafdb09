/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - what a library has to say that nobody asked: nothing, unless
 * OPSCOPE_LOG=debug.
 *
 * Then each message is one line on stderr, written at once, so that lines of several
 * threads and processes do not mix.
 *
 * Threading: thread-safe; not from signal handlers.
 */
#pragma once

/* "opscope[PID]: MESSAGE", cut at 500 bytes. Changes no errno. */
void osc_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
