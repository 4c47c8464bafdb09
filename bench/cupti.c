/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti COLLECTOR FAKE - what the source of CUDA costs, with a CUPTI that only has records.
 *
 * Prints the medians: "record", nanoseconds for the record of a kernel in the callback that
 * gets the buffer, less what the fake takes to walk it; "call", nanoseconds more for a launch.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

#define ROUNDS  31
#define RECORDS 10000
#define PAUSE   5000000

static uint64_t (*complete)(int n);
static int (*launch)(const char *symbol, uint32_t stream, int grid, int block);
static void (*walk_only)(int is_on);

static int compare(const void *pa, const void *pb)
{
    const double a = *(const double *)pa, b = *(const double *)pb;

    return (a > b) - (a < b);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, compare);
    return values[n / 2];
}

/* The recorder writes what it has: a program waits for its device now and then, too. */
static void wait_a_moment(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
}

static double measure_records(void)
{
    double ns[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        ns[i] = (double)complete(RECORDS) / RECORDS;
        wait_a_moment();
    }
    return median(ns, ROUNDS);
}

static double measure_calls(void)
{
    double ns[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        struct timespec a, b;

        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int k = 0; k < RECORDS; k++)
            (void)launch("kernel", 7, 108, 256);
        clock_gettime(CLOCK_MONOTONIC, &b);
        ns[i] =
            ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / RECORDS;
        (void)complete(0);
        wait_a_moment();
    }
    return median(ns, ROUNDS);
}

static void *find(void *library, const char *name)
{
    void *const found = library ? dlsym(library, name) : NULL;

    if (!found) {
        fprintf(stderr, "cupti: no %s: %s\n", name, dlerror());
        exit(1);
    }
    return found;
}

int main(int n, char **args)
{
    int (*init)(void);

    if (n < 3)
        return 2;
    void *const fake = dlopen(args[2], RTLD_NOW);
    *(void **)&complete = find(fake, "fake_complete");
    *(void **)&launch = find(fake, "cudaLaunchKernel");
    *(void **)&walk_only = find(fake, "fake_walk_only");
    const double alone = measure_calls();
    *(void **)&init = find(dlopen(args[1], RTLD_NOW), "InitializeInjection");
    (void)init();
    const double calls = measure_calls();
    const double records = measure_records();
    walk_only(1);
    const double walk = measure_records();
    bench_sample("record", records - walk);
    bench_sample("call", calls - alone);
    return 0;
}
