/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/read_step_bounds.h"

#include "base/mem.h"
#include "codec/json.h"

static bool is_time(int64_t ns)
{
    return ns >= -OSC_TIME_MAX_NS && ns <= OSC_TIME_MAX_NS;
}

/* Read the first numbers of a list, N of them. */
static bool read_numbers(struct osc_str list, int64_t *numbers, size_t n)
{
    struct osc_str text;

    for (size_t i = 0; i < n; i++) {
        if (!osc_json_next(&list, &text) || !osc_json_int(text, &numbers[i]))
            return false;
    }
    return true;
}

/* Read one step, a list of numbers; *FLAGS gets what else is said of it. */
static bool read_step(struct osc_str list, struct osc_step_bound *s, int64_t *flags)
{
    int64_t numbers[4];

    if (!read_numbers(list, numbers, 4))
        return false;
    *flags = numbers[3];
    *s = (struct osc_step_bound){.host_ns = numbers[0],
                                 .start_ns = numbers[1],
                                 .end_ns = numbers[2],
                                 .is_behind_device = (*flags & OSC_STEPS_BEHIND_DEVICE) != 0,
                                 .is_tail = (*flags & OSC_STEPS_TAIL) != 0,
                                 .is_empty = (*flags & OSC_STEPS_EMPTY) != 0};
    return is_time(s->host_ns) && is_time(s->start_ns) && is_time(s->end_ns) &&
           s->host_ns <= s->start_ns && s->start_ns <= s->end_ns;
}

/* Read when something else ran, a list of numbers. */
static bool read_bystander(struct osc_str list, struct osc_bystander *b)
{
    int64_t numbers[4];

    if (!read_numbers(list, numbers, 4) || numbers[2] < 0 || numbers[2] > UINT8_MAX ||
        numbers[3] < 0 || numbers[3] > UINT8_MAX)
        return false;
    *b = (struct osc_bystander){.start_ns = numbers[0],
                                .end_ns = numbers[1],
                                .class = (uint8_t)numbers[2],
                                .rules = (uint8_t)numbers[3]};
    return is_time(b->start_ns) && is_time(b->end_ns) && b->start_ns <= b->end_ns;
}

static osc_status read_bystanders(struct osc_trace *t)
{
    struct osc_str rest, text;
    size_t cap = 0;
    uint32_t n = 0;

    if (!osc_trace_meta(t, OSC_BYSTANDERS_MEMBER, &rest))
        return OSC_OK;
    while (n < UINT32_MAX && osc_json_next(&rest, &text)) {
        if (osc_grow(&t->bystanders, &cap, (size_t)n + 1, sizeof *t->bystanders) != OSC_OK)
            return OSC_ENOMEM;
        if (!read_bystander(text, &t->bystanders[n]))
            return OSC_OK; /* none was counted */
        n++;
    }
    t->n_bystanders = n;
    return OSC_OK;
}

static osc_status read_collectives(struct osc_trace *t)
{
    struct osc_str rest, text;
    size_t cap = 0;
    uint32_t n = 0;

    if (!osc_trace_meta(t, OSC_COLLECTIVES_MEMBER, &rest))
        return OSC_OK;
    while (n < UINT32_MAX && osc_json_next(&rest, &text)) {
        if (osc_grow(&t->collectives, &cap, (size_t)n + 1, sizeof *t->collectives) != OSC_OK)
            return OSC_ENOMEM;
        if (!osc_json_int(text, &t->collectives[n]))
            return OSC_OK; /* none was counted */
        n++;
    }
    t->n_collectives = n;
    return OSC_OK;
}

osc_status osc_read_step_bounds(struct osc_trace *t)
{
    struct osc_str rest, text;
    int64_t flags = 0, all = 0;
    size_t cap = 0;
    uint32_t n = 0;

    if (!osc_trace_meta(t, OSC_STEPS_MEMBER, &rest))
        return OSC_OK;
    while (n < UINT32_MAX && osc_json_next(&rest, &text)) {
        if (osc_grow(&t->step_bounds, &cap, (size_t)n + 1, sizeof *t->step_bounds) != OSC_OK)
            return OSC_ENOMEM;
        if (!read_step(text, &t->step_bounds[n], &flags) ||
            (n > 0 && t->step_bounds[n].host_ns < t->step_bounds[n - 1].host_ns))
            return OSC_OK; /* none was counted */
        all |= flags;
        n++;
    }
    t->n_step_bounds = n;
    t->has_comm_kernels = (all & OSC_STEPS_COMM_KERNELS) != 0;
    osc_status st = n > 0 ? read_bystanders(t) : OSC_OK;
    if (n > 0 && st == OSC_OK)
        st = read_collectives(t);
    return st;
}
