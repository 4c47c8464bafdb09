/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.h - lists of names and values that switch what is recorded, such as "io,net:2" and
 * "parse=100": see osc_enable() and osc_sample() in opscope/record.h.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define OSC_SWITCH_PATTERN_MAX 63u /* bytes */
#define OSC_SWITCH_RULES_MAX   64u
#define OSC_LEVEL_USUAL        1u
#define OSC_SAMPLED_N_MAX      65536u

/* What an item of a list says. */
struct osc_switch_rule {
    char pattern[OSC_SWITCH_PATTERN_MAX + 1]; /* a name, or the begin of names and '*' */
    uint32_t value;      /* the level of categories; or one in so many scopes is recorded, 0: by
                          * rate */
    uint32_t per_second; /* scopes that a thread records; 0: by value */
};

/* A kind of lists. */
struct osc_switch_kind {
    /* Read the item of LEN bytes at S; false: it is none. */
    bool (*read)(const char *s, size_t len, struct osc_switch_rule *rule);
    const char *what; /* what an item must be, for users */
};

extern const struct osc_switch_kind osc_switch_levels;  /* "io", "io:2", "-io" */
extern const struct osc_switch_kind osc_switch_samples; /* "parse=100", "parse=5000/s" */

/* Get the next item of the list at *LIST, without blanks around it, and move *LIST behind it;
 * false: there is none. Empty items are left out. */
bool osc_switch_next(const char **list, const char **item, size_t *len);

/* Zeroed, there are none. */
struct osc_switch_rules {
    struct osc_switch_rule v[OSC_SWITCH_RULES_MAX];
    uint32_t n;
};

/* Make NEXT of NOW and the items of LIST, which go before those that are there, and take the
 * place of those with their pattern. OSC_EINVAL: one is no item; OSC_ELIMIT: too many. */
OSC_MUST_USE osc_status osc_switch_rules_add(const struct osc_switch_rules *now,
                                             const struct osc_switch_kind *kind,
                                             const char *list, struct osc_switch_rules *next);

/* Whether RULE is for NAME, if no later one is. */
bool osc_switch_rule_is_for(const struct osc_switch_rule *rule, const char *name, size_t len);

/* The rule for NAME, the last one that matches; NULL: there is none. */
const struct osc_switch_rule *osc_switch_rules_find(const struct osc_switch_rules *rules,
                                                    const char *name, size_t len);
