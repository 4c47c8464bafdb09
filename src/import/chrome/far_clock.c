/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/far_clock.h"

#include <string.h>

#include "codec/json.h"
#include "model/trace.h"

/* The phases that begin a range. */
#define RANGES "XBbS"

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

/* The whole microseconds in TEXT, a number or a string with one. */
static bool read_whole(struct osc_str text, int64_t *whole)
{
    struct osc_json_micros rest;

    if (text.len > 1 && text.s[0] == '"')
        text = (struct osc_str){text.s + 1, text.len - 2};
    return osc_json_micros_whole(text.s, text.s + text.len, whole, &rest);
}

static bool has_phase(struct osc_str event, const char *phases)
{
    struct osc_str phase;

    return osc_json_member(event, "ph", &phase) && phase.len == 3 &&
           strchr(phases, phase.s[1]) != NULL;
}

int64_t osc_far_clock(struct osc_str text)
{
    const int64_t most_us = OSC_TIME_MAX_NS / 1000;
    struct osc_str rest = list_of(text), event, ts;
    int64_t us, first_us = 0;
    bool has_first = false;

    while (osc_json_next(&rest, &event)) {
        if (has_phase(event, "M") || !osc_json_member(event, "ts", &ts) || !read_whole(ts, &us))
            continue;
        if (!has_first)
            first_us = us;
        has_first = true;
        if (has_phase(event, RANGES)) {
            first_us = us;
            break;
        }
    }
    return first_us > most_us || first_us < -most_us ? first_us : 0;
}
