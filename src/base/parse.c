/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parse.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define BILLION 1000000000

/* Parse digits, *WHOLE, with an optional fraction of up to 9 digits, *PART billionths. Returns
 * the end; NULL: it is malformed, or does not fit. */
static const char *parse_decimal(const char *p, int64_t *whole, int64_t *part)
{
    const char *const start = p;
    int64_t unit = BILLION;

    *whole = *part = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*whole, 10, whole) ||
            __builtin_add_overflow(*whole, *p - '0', whole))
            return NULL;
    if (p == start)
        return NULL;
    if (*p == '.') {
        const char *const point = p;

        for (p++; *p >= '0' && *p <= '9'; p++) {
            unit /= 10;
            *part += unit * (*p - '0');
        }
        if (p == point + 1 || unit == 0)
            return NULL;
    }
    return p;
}

bool osc_parse_whole(const char *text, int64_t least, int64_t most, int64_t *value)
{
    int64_t v = 0;
    const bool is_negative = *text == '-';
    const char *p = text + is_negative;

    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
            return false;
    }
    v = is_negative ? -v : v;
    *value = v;
    return *p == '\0' && v >= least && v <= most;
}

bool osc_parse_time(const char *text, int64_t *ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", BILLION}};
    int64_t whole, part;

    if (osc_parse_whole(text, 0, INT64_MAX, ns))
        return true;
    const char *const rest = parse_decimal(text, &whole, &part);
    for (size_t i = 0; rest && i < sizeof units / sizeof *units; i++) {
        if (strcmp(rest, units[i].name) != 0)
            continue;
        /* A part is less than one unit: it cannot overflow. */
        return !__builtin_mul_overflow(whole, units[i].ns, ns) &&
               !__builtin_add_overflow(*ns, part / (BILLION / units[i].ns), ns) &&
               part % (BILLION / units[i].ns) == 0;
    }
    return false;
}

bool osc_parse_size(const char *text, uint64_t *bytes)
{
    static const char letters[] = "KMGT";
    int64_t whole, part;

    if (osc_parse_whole(text, 1, INT64_MAX, &whole)) {
        *bytes = (uint64_t)whole;
        return true;
    }
    const char *rest = parse_decimal(text, &whole, &part);
    const char *letter = rest && *rest ? strchr(letters, toupper((unsigned char)*rest)) : NULL;
    if (!letter)
        return false;
    rest++;
    if (*rest && strcasecmp(rest, "B") != 0 && strcasecmp(rest, "iB") != 0)
        return false;

    const double size = ((double)whole + (double)part / BILLION) *
                        (double)(UINT64_C(1024) << 10 * (letter - letters));
    if (size < 1 || size > 9e18)
        return false;
    *bytes = (uint64_t)size;
    return true;
}
