/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.h - lists of names and values that switch what is recorded, such as "io,net:2" and
 * "parse=100": see osc_enable() and osc_sample() in opscope/record.h.
 *
 * A pattern is a name, or the begin of names and '*'.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSC_SWITCH_PATTERN_MAX 63u /* bytes */
#define OSC_SWITCH_RULES_MAX   64u

struct osc_switch_pattern {
    char text[OSC_SWITCH_PATTERN_MAX + 1];
};

/* Whether P is "*". */
bool osc_switch_is_all(const struct osc_switch_pattern *p);
bool osc_switch_matches(const struct osc_switch_pattern *p, const char *name, size_t len);

/* Get the next item of the list at *LIST, without blanks around it, and move *LIST behind it;
 * false: there is none. Empty items are left out. */
bool osc_switch_next(const char **list, const char **item, size_t *len);

/* What an item must be. */
#define OSC_SWITCH_LEVEL_HELP   "a category with or without a level, such as io or io:2"
#define OSC_SWITCH_SAMPLED_HELP "a name with a number, such as parse=100 or parse=5000/s"

#define OSC_LEVEL_USUAL   1u
#define OSC_SAMPLED_N_MAX 65536u

/* Categories and their level; 0: off. */
struct osc_switch_level {
    struct osc_switch_pattern pattern;
    uint8_t level;
};

/* Scopes, of which one in N is recorded or as many in a second as a thread may; the other
 * member is 0. */
struct osc_switch_sampled {
    struct osc_switch_pattern pattern;
    uint32_t n;
    uint32_t per_second;
};

/* Read the item of LEN bytes at S, such as "io", "io:2" or "-io"; false: it is none. */
bool osc_switch_read_level(const char *s, size_t len, struct osc_switch_level *rule);

/* Read the item of LEN bytes at S, such as "parse=100" or "parse=5000/s"; false: it is none. */
bool osc_switch_read_sampled(const char *s, size_t len, struct osc_switch_sampled *rule);

/* Whether the item of LEN bytes at S is one of these. */
bool osc_switch_is_level(const char *s, size_t len);
bool osc_switch_is_sampled(const char *s, size_t len);
