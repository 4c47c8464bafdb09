/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse.h - times, sizes and whole numbers as users write them.
 *
 * All of the text has to be one value. Where it is none, what the pointer points to is not
 * defined.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Parse "10us", "1.5ms", "2s" or "250" (nanoseconds). False: malformed. */
bool osc_parse_time(const char *text, int64_t *ns);

/* Parse "512M", "1.5GiB" or "1000000" (bytes). */
bool osc_parse_size(const char *text, uint64_t *bytes);

/* Parse a decimal integer within [LEAST, MOST]. */
bool osc_parse_whole(const char *text, int64_t least, int64_t most, int64_t *value);
