/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - debug messages of a library: printed only if OPSCOPE_LOG=debug.
 *
 * Each message is one line on stderr, written by one call, so that lines of several threads
 * and processes do not mix.
 *
 * Threading: thread-safe; not from signal handlers.
 */
#pragma once

/* Print "opscope[PID]: MESSAGE", cut at 500 bytes. errno is preserved. */
void osc_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
