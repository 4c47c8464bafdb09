/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/sampling.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "recorder/live/names.h"
#include "recorder/live/switch_lock.h"
#include "wire/live.h"

#define WINDOW_NS    INT64_C(10000000) /* in which calls are counted, */
#define WINDOWS      100u              /* in a second */
#define WINDOW_LEAST 4u                /* calls, so that a low rate is not a single call */

enum { WAYS = 4 }; /* places where a thread may keep a name */

/* What a thread counts of a name. */
struct counts {
    uint32_t name;
    uint32_t version; /* of the rules; others are read anew */
    uint32_t n;       /* one in so many is recorded; 1: all */
    uint32_t per_second;
    uint32_t n_skipped, gap; /* calls since the last one that was recorded; the next one is the
                              * one after GAP - 1 */
    uint32_t n_recorded;     /* since the begin of the window */
    uint32_t seed;
    int64_t window_ns;
};

struct thread {
    uint64_t owner; /* the thread and its recording; of others, nothing counts */
    struct counts names[OSC_SAMPLING_NAMES];
};

static struct osc_switch_rules rules; /* under the lock */
static uint32_t lock, version, key;
static struct thread *threads; /* OSC_LIVE_THREADS of them */

bool osc_sampling_is_on(void)
{
    /* relaxed: as for a pause, a call may see a change late. */
    return __atomic_load_n(&version, __ATOMIC_RELAXED) != 0;
}

uint32_t osc_sampling_key(void)
{
    /* relaxed: it is made before there is a rule, and stays. */
    return __atomic_load_n(&key, __ATOMIC_RELAXED);
}

/* --- rules --------------------------------------------------------------------------- */

/* Make what threads count in, whose memory is theirs once they use it. */
static bool make_threads(void)
{
    const int kept = errno;

    if (!threads) {
        void *const fresh =
            mmap(NULL, OSC_LIVE_THREADS * sizeof *threads, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (fresh != MAP_FAILED)
            /* release: pairs with the acquire in osc_sampling_take() */
            __atomic_store_n(&threads, fresh, __ATOMIC_RELEASE);
    }
    errno = kept;
    return threads != NULL;
}

static bool make_key(void)
{
    uint64_t n_full = 0, n_cut = 0;

    if (key == 0) {
        const uint32_t made =
            osc_names_add(OSC_SAMPLED_KEY, sizeof OSC_SAMPLED_KEY - 1, &n_full, &n_cut);
        /* relaxed: as in osc_sampling_key() */
        __atomic_store_n(&key, made, __ATOMIC_RELAXED);
    }
    return key != 0;
}

/* Whether R has a rule by which not all is recorded. */
static bool samples(const struct osc_switch_rules *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (r->v[i].value != 1)
            return true;
    return false;
}

static osc_status follow(const char *list)
{
    static struct osc_switch_rules next; /* under the lock */
    static uint32_t n_changes;
    const osc_status st = osc_switch_rules_add(&rules, &osc_switch_samples, list, &next);

    if (st != OSC_OK)
        return st;
    if (samples(&next) && (!make_threads() || !make_key()))
        return OSC_ENOMEM;
    rules = next;
    n_changes += n_changes == UINT32_MAX ? 2 : 1; /* not 0 */
    /* relaxed: threads that see it read the rules under the lock. */
    __atomic_store_n(&version, samples(&rules) ? n_changes : 0, __ATOMIC_RELAXED);
    return OSC_OK;
}

osc_status osc_sampling_set(const char *list)
{
    if (!osc_switch_lock(&lock))
        return OSC_ELIMIT;
    const osc_status st = follow(list);

    osc_switch_unlock(&lock);
    return st;
}

bool osc_sampling_rule(uint32_t i, struct osc_switch_rule *rule)
{
    if (!osc_switch_lock(&lock))
        return false;
    const bool is_there = i < rules.n;

    if (is_there)
        *rule = rules.v[i];
    osc_switch_unlock(&lock);
    return is_there;
}

void osc_sampling_unlock(void)
{
    osc_switch_unlock(&lock);
}

/* --- calls --------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
    struct timespec t = {0};

    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A number from 1 to 2 N - 1, each as often as the others. */
static uint32_t next_gap(struct counts *c)
{
    if (c->n == 1)
        return 1;
    c->seed ^= c->seed << 13;
    c->seed ^= c->seed >> 17;
    c->seed ^= c->seed << 5;
    return 1 + (uint32_t)((uint64_t)c->seed * (2 * (uint64_t)c->n - 1) >> 32);
}

/* Set how C is sampled by the rules of version NOW; all calls are recorded if they cannot be
 * read. */
static void read_rules(struct counts *c, uint32_t now)
{
    size_t len;
    const char *const text = osc_names_text(c->name, &len);

    if (!osc_switch_lock(&lock))
        return;
    const struct osc_switch_rule *const rule = osc_switch_rules_find(&rules, text, len);

    c->n = rule && rule->value > 0 ? rule->value : 1;
    c->per_second = rule ? rule->per_second : 0;
    osc_switch_unlock(&lock);
    c->gap = c->version == 0 ? 1 : next_gap(c); /* the first call of all is recorded */
    c->version = now;
    c->n_recorded = 0;
    c->window_ns = c->per_second > 0 ? now_ns() : 0;
}

/* A place for NAME, which is none of the names at AT; NULL: calls of those were left out that
 * no record stands for yet. */
static struct counts *take_place(struct thread *t, uint32_t name, uint32_t at)
{
    for (uint32_t i = 0; i < WAYS; i++) {
        struct counts *const c = &t->names[(at + i) % OSC_SAMPLING_NAMES];

        if (c->name != 0 && c->n_skipped > 0)
            continue;
        *c = (struct counts){.name = name,
                             .n = 1,
                             .gap = 1,
                             .seed = (name ^ (uint32_t)t->owner * UINT32_C(2654435769)) | 1};
        return c;
    }
    return NULL;
}

/* The counts of NAME, which are not in the first of its places AT or are of other rules; NULL:
 * there is no place. */
__attribute__((noinline)) static struct counts *find_counts(struct thread *t, uint32_t name,
                                                            uint32_t at, uint32_t now)
{
    struct counts *c = NULL;

    for (uint32_t i = 0; i < WAYS && !c; i++)
        if (t->names[(at + i) % OSC_SAMPLING_NAMES].name == name)
            c = &t->names[(at + i) % OSC_SAMPLING_NAMES];
    if (!c)
        c = take_place(t, name, at);
    if (c && c->version != now)
        read_rules(c, now);
    return c;
}

static inline struct counts *counts_of(struct thread *t, uint32_t name, uint32_t now)
{
    const uint32_t at = name * UINT32_C(2654435761) >> 16;
    struct counts *const c = &t->names[at % OSC_SAMPLING_NAMES];

    return __builtin_expect(c->name == name && c->version == now, 1)
               ? c
               : find_counts(t, name, at, now);
}

/* Follow the rate of what C records. */
static void adapt(struct counts *c)
{
    const uint32_t in_window = c->per_second / WINDOWS;
    const uint32_t most = in_window > WINDOW_LEAST ? in_window : WINDOW_LEAST;
    const int64_t window = WINDOW_NS * (most > in_window ? (int64_t)most * WINDOWS : 1) /
                           (most > in_window ? (int64_t)c->per_second : 1);

    c->n_recorded++;
    if (c->n_recorded < most && c->n == 1)
        return;
    const int64_t now = now_ns(), passed = now - c->window_ns;

    if (c->n_recorded >= most && passed < window)
        c->n = c->n < OSC_SAMPLED_N_MAX ? c->n * 2 : c->n;
    else if (passed > 4 * window)
        c->n = c->n > 1 ? c->n / 2 : 1;
    else if (c->n_recorded < most)
        return;
    c->n_recorded = 0;
    c->window_ns = now;
}

bool osc_sampling_take(uint32_t index, uint64_t owner, uint32_t name, uint32_t *n_calls)
{
    /* acquire: pairs with the release in make_threads() */
    struct thread *const all = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
    /* relaxed: as in osc_sampling_is_on() */
    const uint32_t now = __atomic_load_n(&version, __ATOMIC_RELAXED);

    *n_calls = 1;
    if (!all || now == 0 || name == 0)
        return true;
    struct thread *const t = &all[index];

    if (__builtin_expect(t->owner != owner, 0)) {
        memset(t->names, 0, sizeof t->names);
        t->owner = owner;
    }
    struct counts *const c = counts_of(t, name, now);

    if (!c)
        return true;
    if (c->n_skipped + 1 < c->gap) {
        c->n_skipped++;
        return false;
    }
    *n_calls = c->n_skipped + 1;
    c->n_skipped = 0;
    if (c->per_second > 0)
        adapt(c);
    c->gap = next_gap(c);
    return true;
}
