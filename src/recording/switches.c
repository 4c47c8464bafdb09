/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/switches.h"

#include <string.h>

bool osc_switch_is_all(const struct osc_switch_pattern *p)
{
    return strcmp(p->text, "*") == 0;
}

bool osc_switch_matches(const struct osc_switch_pattern *p, const char *name, size_t len)
{
    const size_t n = strlen(p->text);

    if (n > 0 && p->text[n - 1] == '*')
        return len >= n - 1 && memcmp(p->text, name, n - 1) == 0;
    return len == n && memcmp(p->text, name, n) == 0;
}

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

static bool set_pattern(struct osc_switch_pattern *p, const char *s, size_t len)
{
    if (len == 0 || len > OSC_SWITCH_PATTERN_MAX)
        return false;
    memcpy(p->text, s, len);
    p->text[len] = '\0';
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

bool osc_switch_read_level(const char *s, size_t len, struct osc_switch_level *rule)
{
    const bool is_off = len > 0 && s[0] == '-';
    const char *const colon = memrchr(s, ':', len);
    uint32_t level;

    rule->level = (uint8_t)(is_off ? 0 : OSC_LEVEL_USUAL);
    if (is_off)
        return set_pattern(&rule->pattern, s + 1, len - 1);
    if (colon && (colon == s || colon[-1] != ':')) { /* not the end of "::" */
        if (!read_number(colon + 1, len - (size_t)(colon + 1 - s), INT8_MAX, &level))
            return false;
        rule->level = (uint8_t)level;
        len = (size_t)(colon - s);
    }
    return set_pattern(&rule->pattern, s, len);
}

bool osc_switch_read_sampled(const char *s, size_t len, struct osc_switch_sampled *rule)
{
    const char *const equals = memrchr(s, '=', len);
    size_t digits;

    rule->n = rule->per_second = 0;
    if (!equals || !set_pattern(&rule->pattern, s, (size_t)(equals - s)))
        return false;
    digits = len - (size_t)(equals + 1 - s);
    if (digits > 2 && memcmp(s + len - 2, "/s", 2) == 0)
        return read_number(equals + 1, digits - 2, UINT32_MAX, &rule->per_second) &&
               rule->per_second > 0;
    return read_number(equals + 1, digits, OSC_SAMPLED_N_MAX, &rule->n) && rule->n > 0;
}

bool osc_switch_is_level(const char *s, size_t len)
{
    struct osc_switch_level rule;

    return osc_switch_read_level(s, len, &rule);
}

bool osc_switch_is_sampled(const char *s, size_t len)
{
    struct osc_switch_sampled rule;

    return osc_switch_read_sampled(s, len, &rule);
}
