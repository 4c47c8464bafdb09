/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/switches.h"

#include <string.h>

#include "base/str.h"

bool osc_switch_next(const char **list, const char **item, size_t *len)
{
    static const char between[] = " \t,";

    *item = *list + strspn(*list, between);
    *len = strcspn(*item, ",");
    *list = *item + *len;
    while (*len > 0 && strchr(between, (*item)[*len - 1]))
        --*len;
    return *len > 0;
}

static bool set_pattern(struct osc_switch_rule *rule, const char *s, size_t len)
{
    if (len == 0 || len > OSC_SWITCH_PATTERN_MAX)
        return false;
    memcpy(rule->pattern, s, len);
    rule->pattern[len] = '\0';
    return true;
}

/* Read LEN digits at S as a number up to MAX; false: they are something else. */
static bool read_number(const char *s, size_t len, uint32_t max, uint32_t *value)
{
    uint64_t n = 0;

    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(s[i] - '0');
        if (n > max)
            return false;
    }
    *value = (uint32_t)n;
    return len > 0;
}

static bool read_level(const char *s, size_t len, struct osc_switch_rule *rule)
{
    const bool is_off = len > 0 && s[0] == '-';
    const char *const colon = memrchr(s, ':', len);

    *rule = (struct osc_switch_rule){.value = is_off ? 0 : OSC_LEVEL_USUAL};
    if (is_off)
        return set_pattern(rule, s + 1, len - 1);
    if (colon && (colon == s || colon[-1] != ':')) { /* not the end of "::" */
        if (!read_number(colon + 1, len - (size_t)(colon + 1 - s), INT8_MAX, &rule->value))
            return false;
        len = (size_t)(colon - s);
    }
    return set_pattern(rule, s, len);
}

static bool read_sampled(const char *s, size_t len, struct osc_switch_rule *rule)
{
    const char *const equals = memrchr(s, '=', len);
    size_t digits;

    *rule = (struct osc_switch_rule){.value = 0};
    if (!equals || !set_pattern(rule, s, (size_t)(equals - s)))
        return false;
    digits = len - (size_t)(equals + 1 - s);
    if (digits > 2 && memcmp(s + len - 2, "/s", 2) == 0)
        return read_number(equals + 1, digits - 2, UINT32_MAX, &rule->per_second) &&
               rule->per_second > 0;
    return read_number(equals + 1, digits, OSC_SAMPLED_N_MAX, &rule->value) && rule->value > 0;
}

const struct osc_switch_kind osc_switch_levels = {
    read_level, "a category with or without a level, such as io or io:2"};
const struct osc_switch_kind osc_switch_samples = {
    read_sampled, "a name with a number, such as parse=100 or parse=5000/s"};

/* --- rules --------------------------------------------------------------------------- */

/* Add RULE to R, in place of what it makes void; false: there is no room. */
static bool add(struct osc_switch_rules *r, const struct osc_switch_rule *rule)
{
    const bool is_of_all = strcmp(rule->pattern, "*") == 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (!is_of_all && strcmp(r->v[i].pattern, rule->pattern) != 0)
            r->v[n++] = r->v[i];
    if (n == OSC_SWITCH_RULES_MAX)
        return false;
    r->v[n++] = *rule;
    r->n = n;
    return true;
}

osc_status osc_switch_rules_add(const struct osc_switch_rules *now,
                                const struct osc_switch_kind *kind, const char *list,
                                struct osc_switch_rules *next)
{
    const char *item;
    size_t len;

    *next = *now;
    while (osc_switch_next(&list, &item, &len)) {
        struct osc_switch_rule rule;

        if (!kind->read(item, len, &rule))
            return OSC_EINVAL;
        if (!add(next, &rule))
            return OSC_ELIMIT;
    }
    return OSC_OK;
}

bool osc_switch_rule_is_for(const struct osc_switch_rule *rule, const char *name, size_t len)
{
    return osc_str_fits((struct osc_str){name, (uint32_t)len}, osc_str_c(rule->pattern));
}

const struct osc_switch_rule *osc_switch_rules_find(const struct osc_switch_rules *rules,
                                                    const char *name, size_t len)
{
    for (uint32_t i = rules->n; i-- > 0;)
        if (osc_switch_rule_is_for(&rules->v[i], name, len))
            return &rules->v[i];
    return NULL;
}
