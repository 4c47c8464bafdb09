/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_thread.h"

#include "sources/source_text.h"

_Thread_local struct osc_source_thread osc_source_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

static _Atomic int64_t counts[OSC_SOURCE_N_COUNTS];
static _Atomic uint32_t last_owner = OSC_SOURCE_OWNER_NVTX;

void osc_source_count(enum osc_source_count what)
{
    static const char *const texts[] = {
#define COUNT_TEXT(name, text) text,
        OSC_SOURCE_COUNT_LIST(COUNT_TEXT)
#undef COUNT_TEXT
    };
    /* Relaxed: a count. */
    const int64_t n = atomic_fetch_add_explicit(&counts[what], 1, memory_order_relaxed) + 1;

    if (osc_is_on())
        osc_counter_i64(osc_text_name(osc_text_find_c(texts[what])), n);
}

uint16_t osc_source_owner_number(void)
{
    /* Relaxed: the numbers need only differ. */
    const uint32_t number = atomic_fetch_add_explicit(&last_owner, 1, memory_order_relaxed) + 1;

    return number < UINT16_MAX ? (uint16_t)number : UINT16_MAX;
}

bool osc_source_enter_slow(struct osc_source_thread *self, uint32_t stops)
{
    if (self->closed & OSC_SOURCE_INSIDE)
        osc_source_count(OSC_SOURCE_COUNT_NESTED);
    /* Relaxed: a thread that sees a stop late records one more event. */
    const uint32_t state = atomic_load_explicit(&osc_source_state_, memory_order_relaxed);
    if (self->closed != 0 || state & stops)
        return false;
    if (state & OSC_SOURCE_REPORT_DUE) {
        self->closed = OSC_SOURCE_INSIDE;
        osc_source_report_all();
        self->closed = 0;
    }
    return true;
}

/* The depth of the innermost scope of OWNER, from 1; 0 if it has none on this thread. */
static uint32_t find_level(const struct osc_source_thread *self, uint16_t owner)
{
    uint32_t level = self->depth;

    while (level > 0 && level <= OSC_SOURCE_LEVELS && self->owners[level - 1] != owner)
        level--;
    return level;
}

bool osc_source_unwind(struct osc_source_thread *self, uint16_t owner)
{
    const uint32_t level = find_level(self, owner);

    while (level > 0 && self->depth > level) {
        osc_source_count(OSC_SOURCE_COUNT_UNBALANCED);
        if (osc_is_on())
            osc_arg_bool(osc_text_name(osc_text_find_c("unbalanced")), 1);
        osc_source_end_scope(self);
        osc_source_pop(self);
    }
    return level > 0;
}

uint32_t osc_source_depth_of(const struct osc_source_thread *self, uint16_t owner)
{
    const uint32_t n = self->depth < OSC_SOURCE_LEVELS ? self->depth : OSC_SOURCE_LEVELS;
    uint32_t depth = self->depth - n;

    for (uint32_t i = 0; i < n; i++)
        depth += self->owners[i] == owner;
    return depth;
}
