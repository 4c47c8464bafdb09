/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/level_zero/ze_ticks.h"

#define NS UINT64_C(1000000000)

uint64_t osc_ze_nearest(uint64_t ticks, uint64_t mask, uint64_t expected)
{
    const uint64_t above = (ticks - expected) & mask;

    return above > mask / 2 ? expected + above - mask - 1 : expected + above;
}

uint64_t osc_ze_advance(uint64_t ticks, int64_t ns, uint64_t hz)
{
    const uint64_t abs = ns < 0 ? (uint64_t)-ns : (uint64_t)ns;
    const uint64_t whole = abs / NS * hz;
    const uint64_t moved = whole + abs % NS * hz / NS;

    return ns < 0 ? ticks - moved : ticks + moved;
}
