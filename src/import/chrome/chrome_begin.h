/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_begin.h - whether the beginning of a text is that of a trace.
 *
 * Threading: pure function.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the LEN bytes at TEXT, the beginning of a file, name trace events, or members that
 * stand before them. Other JSON does not. What is no JSON counts as a trace, a damaged one. */
bool osc_chrome_begins(const char *text, size_t len);
