/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/cuda/cupti_state.h"

#include "sources/source_counter.h"

struct osc_cupti osc_cupti;
_Atomic uint32_t osc_cupti_is_beside_torch, osc_cupti_has_own_clock;

void osc_cupti_count(enum osc_cupti_count what, uint64_t more)
{
    static struct osc_source_counter counters[] = OSC_SOURCE_COUNTERS(OSC_CUPTI_COUNT_LIST);

    osc_source_counter_add(&counters[what], more);
}
