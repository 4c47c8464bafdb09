/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/cuda/cupti_state.h"

#include "opscope/record.h"

struct osc_cupti osc_cupti;
_Atomic uint32_t osc_cupti_is_beside_torch, osc_cupti_has_own_clock;

static _Atomic int64_t counts[OSC_CUPTI_N_COUNTS];

void osc_cupti_count(enum osc_cupti_count what, int64_t more)
{
    static const char *const texts[] = {
#define COUNT_TEXT(name, text) "cuda: " text,
        OSC_CUPTI_COUNT_LIST(COUNT_TEXT)
#undef COUNT_TEXT
    };
    /* Relaxed: a count. */
    const int64_t n =
        atomic_fetch_add_explicit(&counts[what], more, memory_order_relaxed) + more;

    if (osc_is_on())
        osc_counter_i64(osc_name_c(texts[what]), n);
}
