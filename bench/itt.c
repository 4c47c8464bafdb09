/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ITT task costs through the collector, begin and end, beside L-pair.
 *
 *   itt COLLECTOR DIRECTORY [REPETITIONS]
 *
 * Loads the collector as a client's static part does, and records into DIRECTORY.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "opscope/record.h"
#include "ring.h"
#include "sources/itt_abi.h"

#define N_TASKS 200000u
#define N_NAMES 200u

typedef struct osc_itt_domain *domain;
typedef struct osc_itt_string *handle;
typedef struct osc_itt_id id;

static domain (*domain_create)(const char *);
static handle (*string_handle_create)(const char *);
static void (*task_begin)(domain, id, id, handle);
static void (*task_end)(domain);

static struct osc_itt_api apis[] = {
    {.name = "__itt_domain_create", .function = (osc_itt_function *)&domain_create},
    {.name = "__itt_string_handle_create",
     .function = (osc_itt_function *)&string_handle_create},
    {.name = "__itt_task_begin", .function = (osc_itt_function *)&task_begin},
    {.name = "__itt_task_end", .function = (osc_itt_function *)&task_end},
    {.name = NULL},
};
static struct osc_itt_global part = {
    .version_major = OSC_ITT_MAJOR, .version_build = 20230630, .apis = apis};

static char names[N_NAMES][40];
static const id none;

static bool load(const char *collector)
{
    void *const library = dlopen(collector, RTLD_LAZY);
    void (*init)(struct osc_itt_global *, int) = NULL;

    memcpy(part.magic, OSC_ITT_MAGIC, sizeof part.magic);
    if (library)
        *(void **)&init = dlsym(library, "__itt_api_init");
    if (init)
        init(&part, -1);
    return init && task_begin && task_end && domain_create && string_handle_create;
}

/* The blocks are the flusher's to write: let it, so that what is timed is recording. */
static void rest(void)
{
    usleep(200000);
}

static double handled_tasks(domain d, handle h)
{
    const double start = bench_cpu_s();

    for (uint32_t i = 0; i < N_TASKS; i++) {
        if (d->flags)
            task_begin(d, none, none, h);
        if (d->flags)
            task_end(d);
    }
    return bench_cpu_s() - start;
}

/* As PyTorch does it: the string handle is asked for every time. */
static double named_tasks(domain d)
{
    const double start = bench_cpu_s();

    for (uint32_t i = 0, k = 0; i < N_TASKS; i++, k = k + 1 < N_NAMES ? k + 1 : 0) {
        const handle h = string_handle_create(names[k]);

        if (d->flags)
            task_begin(d, none, none, h);
        if (d->flags)
            task_end(d);
    }
    return bench_cpu_s() - start;
}

int main(int argc, char **argv)
{
    struct bench_times floor = {0}, handled = {0}, named = {0}, other = {0};
    struct osc_losses losses;
    const int n = bench_repetitions(argc, argv, 3, 15);

    if (argc < 3 || setenv("OPSCOPE_OUT", argv[2], 1) != 0 || !load(argv[1])) {
        fputs("usage: itt COLLECTOR DIRECTORY [REPETITIONS]\n", stderr);
        return 2;
    }
    bench_pin();
    bench_ring_open();
    for (uint32_t i = 0; i < N_NAMES; i++)
        snprintf(names[i], sizeof names[i], "aten::%.*s_%u", (int)(i % 17 + 3),
                 "convolution_backward", i);
    const domain pytorch = domain_create("PyTorch"), plain = domain_create("tbb");
    const handle h = string_handle_create("aten::conv2d");

    for (int i = 0; i < n; i++) {
        bench_add(&floor, bench_ring_pairs(N_TASKS));
        bench_add(&handled, handled_tasks(pytorch, h));
        rest();
        bench_add(&named, named_tasks(pytorch));
        rest();
        bench_add(&other, handled_tasks(plain, h));
        rest();
    }
    const double pair = bench_steady(&floor), ns = 1e9 / N_TASKS;

    osc_losses_get(&losses);
    bench_report("itt/task", bench_steady(&handled) / pair, "<=1.60",
                 "begin and end of a task over L-pair: %.1f and %.1f ns; %llu lost",
                 bench_steady(&handled) * ns, pair * ns, (unsigned long long)losses.full);
    bench_report("itt/pytorch", bench_steady(&named) / pair, "<=1.60",
                 "the same with a string handle asked for each time, of %u: %.1f ns", N_NAMES,
                 bench_steady(&named) * ns);
    bench_report("itt/domain", bench_steady(&other) / pair, "-",
                 "a task of another domain, which is an argument: %.1f ns",
                 bench_steady(&other) * ns);
    return losses.full > 0;
}
