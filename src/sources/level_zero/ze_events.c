/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/level_zero/ze_events.h"

#include <pthread.h>

#include "sources/handle_map.h"
#include "sources/source_memory.h"

/* --- events of programs ------------------------------------------------------------------ */

static struct osc_handle_map pools = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct osc_handle_map events = {.lock = PTHREAD_MUTEX_INITIALIZER};

void osc_ze_add_pool(ze_event_pool_handle_t handle, enum osc_ze_times times)
{
    (void)osc_handle_set(&pools, handle, (uint64_t)times + 1);
}

void osc_ze_add_event(ze_event_handle_t handle, ze_event_pool_handle_t pool)
{
    const uint64_t known = osc_handle_get(&pools, pool);
    struct osc_ze_event *e = osc_ze_event_of(handle);

    if (!e)
        e = osc_source_memory(sizeof *e);
    if (!e || !osc_handle_set(&events, handle, (uintptr_t)e))
        return;
    /* Relaxed: programs give an event to another thread in their own way. */
    atomic_store_explicit(&e->n_waiting, 0, memory_order_relaxed);
    atomic_store_explicit(&e->times, known ? (uint32_t)known - 1 : OSC_ZE_TIMES_THEIRS,
                          memory_order_relaxed);
}

struct osc_ze_event *osc_ze_event_of(ze_event_handle_t handle)
{
    return handle ? osc_handle_get_address(&events, handle) : NULL;
}

/* --- ours -------------------------------------------------------------------------------- */

#define POOL_EVENTS 256

struct pool {
    struct pool *next;
    ze_event_pool_handle_t handle;
    uint32_t n; /* places of events taken */
    struct osc_ze_own_event all[POOL_EVENTS];
};

struct osc_ze_context {
    ze_context_handle_t handle;
    pthread_mutex_t lock;
    struct pool *pools;
    struct osc_ze_own_event *unused;
    bool is_full; /* the driver made no more */
};

static struct osc_handle_map contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Pools of contexts that were destroyed, to be used again. */
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool *spare;

/* Contexts are looked up in each call and made once, so only the first call takes the lock. */
static struct osc_ze_context *context_of(ze_context_handle_t handle)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct osc_ze_context *c = osc_handle_get_address(&contexts, handle);

    if (c)
        return c;
    pthread_mutex_lock(&lock);
    c = osc_handle_get_address(&contexts, handle);
    if (!c && (c = osc_source_memory(sizeof *c))) {
        c->handle = handle;
        (void)pthread_mutex_init(&c->lock, NULL);
        if (!osc_handle_set(&contexts, handle, (uintptr_t)c))
            c = NULL;
    }
    pthread_mutex_unlock(&lock);
    return c;
}

static struct pool *take_pool(void)
{
    pthread_mutex_lock(&spare_lock);
    struct pool *const p = spare;
    if (p)
        spare = p->next;
    pthread_mutex_unlock(&spare_lock);
    return p ? p : osc_source_memory(sizeof *p);
}

static void give_back_pool(struct pool *p)
{
    pthread_mutex_lock(&spare_lock);
    p->next = spare;
    spare = p;
    pthread_mutex_unlock(&spare_lock);
}

/* A new pool for events of C; NULL: the driver makes none. */
static struct pool *make_pool(const struct osc_ze_context *c)
{
    const ze_event_pool_desc_t what = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP |
                                                ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                       .count = POOL_EVENTS};
    struct pool *const p = take_pool();

    if (!p)
        return NULL;
    p->n = 0;
    p->handle = NULL;
    if (osc_ze.EventPoolCreate(c->handle, &what, 0, NULL, &p->handle) != ZE_RESULT_SUCCESS ||
        !p->handle) {
        give_back_pool(p);
        return NULL;
    }
    return p;
}

/* A place for an event in the pool P of C, whose lock the caller has. */
static struct osc_ze_own_event *reserve(struct osc_ze_context *c, struct pool *p)
{
    struct osc_ze_own_event *const e = &p->all[p->n++];

    *e = (struct osc_ze_own_event){.context = c};
    return e;
}

/* Add the pool P to those of C. Returns a place in it. */
static struct osc_ze_own_event *add_pool(struct osc_ze_context *c, struct pool *p)
{
    struct osc_ze_own_event *e = NULL;

    pthread_mutex_lock(&c->lock);
    if (p) {
        e = reserve(c, p);
        p->next = c->pools;
        c->pools = p;
    } else {
        c->is_full = true;
    }
    pthread_mutex_unlock(&c->lock);
    return e;
}

/* Make the event of the place E in the pool P. */
static struct osc_ze_own_event *make_event(struct osc_ze_own_event *e, const struct pool *p)
{
    const ze_event_desc_t what = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .index = (uint32_t)(e - p->all),
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t made = NULL;

    if (osc_ze.EventCreate(p->handle, &what, &made) == ZE_RESULT_SUCCESS && made) {
        e->handle = made;
        return e;
    }
    pthread_mutex_lock(&e->context->lock);
    e->context->is_full = true;
    pthread_mutex_unlock(&e->context->lock);
    return NULL;
}

struct osc_ze_own_event *osc_ze_take_event(ze_context_handle_t handle)
{
    struct osc_ze_context *const c = handle ? context_of(handle) : NULL;

    if (!c)
        return NULL;
    pthread_mutex_lock(&c->lock);
    const bool is_full = c->is_full;
    struct pool *p = c->pools;
    struct osc_ze_own_event *e = c->unused, *const place =
                                                !e && !is_full && p && p->n < POOL_EVENTS
                                                    ? reserve(c, p)
                                                    : NULL;
    if (e)
        c->unused = e->next;
    pthread_mutex_unlock(&c->lock);
    if (e || is_full)
        return e;
    if (place)
        return make_event(place, p);
    p = make_pool(c);
    e = add_pool(c, p);
    return e ? make_event(e, p) : NULL;
}

void osc_ze_give_back_event(struct osc_ze_own_event *event)
{
    struct osc_ze_context *const c = event->context;

    if (osc_ze.EventHostReset(event->handle) != ZE_RESULT_SUCCESS)
        return; /* its state is not known */
    pthread_mutex_lock(&c->lock);
    event->next = c->unused;
    c->unused = event;
    pthread_mutex_unlock(&c->lock);
}

void osc_ze_drop_events(ze_context_handle_t handle)
{
    struct osc_ze_context *const c = osc_handle_get_address(&contexts, handle);

    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    struct pool *p = c->pools;
    c->pools = NULL;
    c->unused = NULL;
    c->is_full = false;
    pthread_mutex_unlock(&c->lock);
    for (struct pool *next; p; p = next) {
        next = p->next;
        for (uint32_t i = 0; i < p->n; i++) {
            if (p->all[i].handle)
                (void)osc_ze.EventDestroy(p->all[i].handle);
        }
        (void)osc_ze.EventPoolDestroy(p->handle);
        give_back_pool(p);
    }
}
