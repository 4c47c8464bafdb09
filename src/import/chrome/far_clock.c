/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/far_clock.h"

#include <string.h>

#include "codec/json.h"
#include "model/trace.h"

/* More digits than any time has that can be read. */
#define DIGITS_MAX 17

/* The list of events in TEXT. */
static struct osc_str list_of(struct osc_str text)
{
    static const char key[] = "\"traceEvents\"";
    const char *at = text.len > 0 ? memmem(text.s, text.len, key, sizeof key - 1) : NULL;
    const char *const end = text.s + text.len;

    at = at ? at + sizeof key - 1 : text.s;
    while (at < end && *at != '[')
        at++;
    return (struct osc_str){at, (uint32_t)(end - at)};
}

/* The whole part of the number in TEXT, which may be a string. False: it is no plain number. */
static bool read_whole(struct osc_str text, int64_t *whole)
{
    uint32_t n = 0;

    if (text.len > 0 && text.s[0] == '"')
        text = (struct osc_str){text.s + 1, text.len - 1};
    while (n < text.len &&
           ((text.s[n] >= '0' && text.s[n] <= '9') || (n == 0 && *text.s == '-')))
        n++;
    return n <= DIGITS_MAX + 1 && osc_json_int((struct osc_str){text.s, n}, whole);
}

/* Whether EVENT is a range. */
static bool is_range(struct osc_str event)
{
    struct osc_str phase;

    return osc_json_member(event, "ph", &phase) &&
           (osc_str_eq(phase, OSC_STR("\"X\"")) || osc_str_eq(phase, OSC_STR("\"B\"")));
}

int64_t osc_far_clock(struct osc_str text)
{
    const int64_t most_us = OSC_TIME_MAX_NS / 1000;
    struct osc_str rest = list_of(text), event, ts;
    int64_t us;

    while (osc_json_next(&rest, &event)) {
        if (!is_range(event) || !osc_json_member(event, "ts", &ts) || !read_whole(ts, &us))
            continue;
        return us > most_us || us < -most_us ? us : 0;
    }
    return 0;
}
