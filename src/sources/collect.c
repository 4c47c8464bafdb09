/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/collect.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "sources/source_state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of starts, stops and users */

static struct entry {
    const char *word;                   /* NULL: the end */
    const struct osc_collected *source; /* NULL: it cannot be started */
    uint32_t n_users;                   /* who started it and have not stopped it */
} entries[] = {
#define ENTRY(name, folder, word) {word, &osc_collected_##folder, 0},
    OSC_COLLECTED_LIST(ENTRY)
#undef ENTRY
        {NULL, NULL, 0}};

/* The entry of the source with this word; NULL: there is none that can be started. */
static struct entry *find(const char *word)
{
    struct entry *e = entries;

    while (e->word && !(word && strcmp(e->word, word) == 0))
        e++;
    return e->source ? e : NULL;
}

int opscope_collect_start(const char *source)
{
    struct entry *const e = find(source);

    if (!e)
        return 1;
    pthread_mutex_lock(&lock);
    const int failed = e->source->start();
    e->n_users += failed == 0;
    pthread_mutex_unlock(&lock);
    return failed;
}

const char *opscope_collect_why(const char *source)
{
    const struct entry *const e = find(source);

    return e ? e->source->why() : "this library has no such source";
}

uint64_t opscope_collect_unseen(const char *source)
{
    const struct entry *const e = find(source);

    return e && e->source->unseen ? e->source->unseen() : 0;
}

void opscope_collect_report(void)
{
    osc_source_report_all();
}

void opscope_collect_settle(void)
{
    for (const struct entry *e = entries; e->word; e++)
        if (e->source && e->source->settle)
            e->source->settle();
}

void opscope_collect_stop(const char *source)
{
    struct entry *const e = find(source);

    if (!e)
        return;
    pthread_mutex_lock(&lock);
    if (e->n_users > 0 && --e->n_users == 0)
        e->source->stop();
    pthread_mutex_unlock(&lock);
}
