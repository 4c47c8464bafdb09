/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/collect.h"

#include <pthread.h>
#include <stdint.h>
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of starts and stops */
static uint32_t n_users[sizeof known / sizeof *known];

/* How many have started K and not stopped it. The caller has the lock. */
static uint32_t *users_of(const struct osc_collected *k)
{
    size_t i = 0;

    while (known[i] != k)
        i++;
    return &n_users[i];
}

int opscope_collect_start(const char *source)
{
    const struct osc_collected *const k = find(source);

    if (!k)
        return 1;
    pthread_mutex_lock(&lock);
    const int failed = k->start();
    *users_of(k) += failed == 0;
    pthread_mutex_unlock(&lock);
    return failed;
}

const char *opscope_collect_why(const char *source)
{
    const struct osc_collected *const k = find(source);

    return k ? k->why() : "this library has no such source";
}

void opscope_collect_stop(const char *source)
{
    const struct osc_collected *const k = find(source);

    if (!k)
        return;
    pthread_mutex_lock(&lock);
    uint32_t *const n = users_of(k);
    if (*n > 0 && --*n == 0)
        k->stop();
    pthread_mutex_unlock(&lock);
}
