/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/mem.h"

#define MAX_THREADS 256

struct work {
    void (*fn)(void *ctx, uint32_t i);
    void *ctx;
    uint32_t n;
    _Atomic uint64_t next;           /* wider than N, so that it cannot wrap when threads count
                                      * past N */
    struct osc_mem_account *account; /* the caller's account, which all threads charge */
};

/* True while a thread works for osc_parallel(): nested calls then make no threads. */
static _Thread_local bool is_working;

unsigned osc_cpu_count(void)
{
    /* 0 until known; relaxed: two threads that compute it find the same number */
    static _Atomic unsigned known;
    unsigned n = atomic_load_explicit(&known, memory_order_relaxed);
    cpu_set_t set;

    if (n > 0)
        return n;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        n = (unsigned)CPU_COUNT(&set);
    } else { /* more processors than a cpu_set_t can hold */
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        n = online > 0 ? (unsigned)online : 1;
    }
    n = osc_cgroup_cpus("", n);
    atomic_store_explicit(&known, n, memory_order_relaxed);
    return n;
}

static void *take_items(void *arg)
{
    struct work *const w = arg;
    const bool was_working = is_working;
    struct osc_mem_account *const before = osc_mem_enter(w->account);

    is_working = true;
    for (;;) {
        /* relaxed: item inputs were written before the threads were created, and their results
         * are read after the threads were joined */
        const uint64_t i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
        if (i >= w->n)
            break;
        w->fn(w->ctx, (uint32_t)i);
    }
    is_working = was_working;
    (void)osc_mem_enter(before);
    return NULL;
}

void osc_parallel(unsigned n_threads, uint32_t n, void (*fn)(void *ctx, uint32_t i), void *ctx)
{
    struct work w = {.fn = fn, .ctx = ctx, .n = n, .account = osc_mem_account_here()};
    pthread_t threads[MAX_THREADS];
    unsigned n_made = 0;
    sigset_t all, before;

    if (n_threads == 0)
        n_threads = osc_cpu_count();
    if (n_threads > n)
        n_threads = n;
    if (n_threads > MAX_THREADS)
        n_threads = MAX_THREADS;
    if (n_threads > 1 && !is_working) {
        /* Leave signals to the threads of the host program. */
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        while (n_made < n_threads - 1 &&
               pthread_create(&threads[n_made], NULL, take_items, &w) == 0)
            n_made++;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    (void)take_items(&w);
    for (unsigned i = 0; i < n_made; i++)
        (void)pthread_join(threads[i], NULL);
}
