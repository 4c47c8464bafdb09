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

/* The first times of some sort. One that is far may be a mistake, most of them are not. */
struct first {
    unsigned n, n_far;
    int64_t far_us; /* the first that is far */
};

#define ENOUGH 8u

static void add(struct first *f, int64_t us)
{
    const int64_t most_us = OSC_TIME_MAX_NS / 1000;

    if (f->n == ENOUGH)
        return;
    f->n++;
    if (us <= most_us && us >= -most_us)
        return;
    if (f->n_far++ == 0)
        f->far_us = us;
}

int64_t osc_far_clock(struct osc_str text)
{
    struct osc_str rest = list_of(text), event, ts;
    struct first ranges = {0}, events = {0};
    int64_t us;

    while (ranges.n < ENOUGH && osc_json_next(&rest, &event)) {
        if (has_phase(event, "M") || !osc_json_member(event, "ts", &ts) || !read_whole(ts, &us))
            continue;
        add(&events, us);
        if (has_phase(event, RANGES))
            add(&ranges, us);
    }
    const struct first *const f = ranges.n > 0 ? &ranges : &events;

    return 2 * f->n_far > f->n ? f->far_us : 0;
}
