/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flushed.h - a recording of this process in a folder of its own, for tests of the flusher.
 *
 * Threading: one test at a time.
 */
#pragma once

#include <ftw.h>
#include <pthread.h>
#include <time.h>

#include "opscope/record.h"
#include "support/recording.h"
#include "support/unit.h"

static char folder[32], out[64], live[64];

/* Paths that trace_ready was called with. */
static char ready[32][256];
static uint32_t n_ready;

static inline void on_ready(void *ctx, const char *path)
{
    assert_ptr_equal(ctx, ready);
    /* relaxed: only the flusher writes it. */
    const uint32_t n = __atomic_load_n(&n_ready, __ATOMIC_RELAXED);

    snprintf(ready[n % 32], sizeof ready[0], "%s", path);
    /* release: pairs with the acquire in wait_until_ready() */
    __atomic_store_n(&n_ready, n + 1, __ATOMIC_RELEASE);
}

static inline int make_folder(void **state)
{
    (void)state;
    unsetenv("OPSCOPE_SCHEDULE");
    n_ready = 0;
    snprintf(folder, sizeof folder, "/tmp/opscope-flush-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(out, sizeof out, "%s/run.osc", folder);
    snprintf(live, sizeof live, "%s/run.osc.live", folder);
    return 0;
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static inline void remove_folder_files(void)
{
    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline int remove_folder(void **state)
{
    (void)state;
    (void)osc_stop(); /* in case the test failed */
    remove_folder_files();
    return 0;
}

static inline struct osc_start_options options(void)
{
    return (struct osc_start_options){.size = sizeof(struct osc_start_options),
                                      .out = out,
                                      .trace_ready = on_ready,
                                      .ctx = ready};
}

static inline void nap_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* Wait until a window or dump was handed over. */
static inline void wait_until_ready(void)
{
    /* acquire: pairs with the release in on_ready() */
    for (int i = 0; i < 500 && __atomic_load_n(&n_ready, __ATOMIC_ACQUIRE) == 0; i++)
        nap_ms(10);
}

/* Part N of the recording. */
static inline bool read_part(struct recording *r, unsigned n)
{
    char path[256];

    snprintf(path, sizeof path, "%s/run.%u.osc", folder, n);
    return recording_read(r, n == 1 ? out : path);
}

static inline void *record_scopes(void *arg)
{
    const osc_name name = osc_name_c("conv");
    const long n = *(const long *)arg;

    for (long i = 0; i < n; i++) {
        osc_begin(OSC_SCOPE_OPERATOR, name);
        osc_end();
    }
    return NULL;
}

static inline void run_threads(int n_threads, long n)
{
    pthread_t threads[16];

    for (int i = 0; i < n_threads; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_scopes, &n), 0);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
}

/* A step with an instant in it; returns its number. */
static inline uint64_t step(void)
{
    const uint64_t n = osc_step();

    osc_instant(osc_name_c("in a step"));
    return n;
}
