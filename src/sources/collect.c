/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/collect.h"

#include <string.h>

static const struct osc_collected *const known[] = {&osc_collected_cuda,
#if OSC_WITH_LEVEL_ZERO
                                                    &osc_collected_level_zero,
#endif
                                                    NULL};

static const struct osc_collected *find(const char *source)
{
    const struct osc_collected *const *k = known;

    while (*k && !(source && strcmp((*k)->word, source) == 0))
        k++;
    return *k;
}

int opscope_collect_start(const char *source)
{
    const struct osc_collected *const k = find(source);

    return k ? k->start() : 1;
}

const char *opscope_collect_why(const char *source)
{
    const struct osc_collected *const k = find(source);

    return k ? k->why() : "this library has no such source";
}

void opscope_collect_stop(const char *source)
{
    const struct osc_collected *const k = find(source);

    if (k)
        k->stop();
}
