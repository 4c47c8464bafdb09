/* SPDX-License-Identifier: Apache-2.0 */
/* osc_arg_stack(): see opscope/record.h. */
#include "opscope/record.h"
#include "recorder/put.h"
#include "recorder/thread/stack.h"

/* Record the stack from FRAME to LAST, reserving exactly what it needs. */
__attribute__((noinline, cold)) static void put_slowly(uintptr_t frame, uintptr_t last)
{
    struct osc_record_slot found[OSC_STACK_SLOTS];
    enum osc_stack_end end;
    const uint32_t n = osc_stack_follow(frame, last, found, &end), n_slots = 1 + (n + 1) / 2;
    struct osc_record_slot *s = osc_put_reserve(n_slots, OSC_ROLE_ARG, 0);

    if (!s)
        return;
    s->value = n;
    for (uint32_t i = 1; i < n_slots; i++)
        osc_writer_fill(&s[i], found[i - 1].value, found[i - 1].word);
    osc_writer_finish(s, end, OSC_RECORD_ARG_STACK, n_slots);
}

/* A signal handler recorded after the stack of N frames at S, so the slots that were reserved
 * too much cannot be given back: fill them with empty frames. */
__attribute__((noinline, cold)) static void pad(struct osc_record_slot *s, uint32_t n)
{
    for (uint32_t i = 1 + (n + 1) / 2; i <= OSC_STACK_SLOTS; i++)
        osc_writer_fill(&s[i], 0, 0);
}

/* Reserve slots for the deepest stack, write the frames directly to them, and give the rest
 * back. */
static inline void put_stack(uintptr_t frame)
{
    const uintptr_t last = osc_stack_last(frame);
    struct osc_writer *w = osc_writer_self;
    struct osc_record_slot *s = NULL;
    enum osc_stack_end end;

    /* relaxed: as in osc_put_reserve() */
    if (__builtin_expect(w->epoch == __atomic_load_n(&osc_epoch, __ATOMIC_RELAXED), 1))
        s = osc_writer_try(w, 1 + OSC_STACK_SLOTS);
    if (__builtin_expect(!s, 0)) {
        put_slowly(frame, last);
        return;
    }
    uint32_t n = osc_stack_follow(frame, last, s + 1, &end), n_slots = 1 + (n + 1) / 2;
    uintptr_t pos = (uintptr_t)(s + 1 + OSC_STACK_SLOTS);

    if (__builtin_expect(!osc_local_swap(&w->pos, &pos, (uintptr_t)(s + n_slots)), 0)) {
        pad(s, n);
        n = OSC_RECORD_FRAMES_MAX;
        n_slots = 1 + OSC_STACK_SLOTS;
    }
    s->value = n;
    osc_writer_finish(s, end, OSC_RECORD_ARG_STACK, n_slots);
}

void osc_arg_stack(void)
{
    if (!osc_is_on())
        return;
    put_stack((uintptr_t)__builtin_frame_address(0));
    osc_stack_set_used();
}
