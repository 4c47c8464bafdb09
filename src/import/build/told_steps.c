/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/told_steps.h"

#include "base/mem.h"
#include "codec/json.h"

static bool is_time(int64_t ns)
{
    return ns >= -OSC_TIME_MAX_NS && ns <= OSC_TIME_MAX_NS;
}

/* Read one step, a list of numbers. */
static bool read_step(struct osc_str list, struct osc_step_bound *s)
{
    int64_t numbers[4];
    struct osc_str text;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!osc_json_next(&list, &text) || !osc_json_int(text, &numbers[i]))
            return false;
    }
    *s =
        (struct osc_step_bound){.host_ns = numbers[0],
                                .start_ns = numbers[1],
                                .end_ns = numbers[2],
                                .is_behind_device = (numbers[3] & OSC_STEPS_BEHIND_DEVICE) != 0,
                                .is_tail = (numbers[3] & OSC_STEPS_TAIL) != 0};
    return is_time(s->host_ns) && is_time(s->start_ns) && is_time(s->end_ns) &&
           s->host_ns <= s->start_ns && s->start_ns <= s->end_ns;
}

osc_status osc_told_steps_read(struct osc_trace *t)
{
    struct osc_str rest, text;
    size_t cap = 0;
    uint32_t n = 0;

    if (!osc_trace_meta(t, OSC_STEPS_MEMBER, &rest))
        return OSC_OK;
    while (n < UINT32_MAX && osc_json_next(&rest, &text)) {
        if (osc_grow(&t->step_bounds, &cap, (size_t)n + 1, sizeof *t->step_bounds) != OSC_OK)
            return OSC_ENOMEM;
        if (!read_step(text, &t->step_bounds[n]) ||
            (n > 0 && t->step_bounds[n].host_ns < t->step_bounds[n - 1].host_ns))
            return OSC_OK; /* none was counted */
        n++;
    }
    t->n_step_bounds = n;
    return OSC_OK;
}
