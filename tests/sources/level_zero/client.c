/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c - a program that uses Level Zero, with the loader that it is linked with.
 *
 *     client CASE
 *
 * Prints what it computed and the results of its calls, which a recording must not change.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES     4096
#define N_KERNELS 10

static ze_context_handle_t context;
static ze_device_handle_t devices[16], tiles[16];
static ze_device_handle_t device;
static uint32_t n_devices;
static ze_kernel_handle_t add, scale;
static ze_event_pool_handle_t plain_pool, timed_pool;

#define CHECK(call)                                       \
    do {                                                  \
        const ze_result_t result_ = (call);               \
        if (result_ != ZE_RESULT_SUCCESS)                 \
            printf("%s: %x\n", #call, (unsigned)result_); \
    } while (0)

static ze_event_pool_handle_t make_pool(ze_event_pool_flags_t flags)
{
    const ze_event_pool_desc_t what = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = flags, .count = 64};
    ze_event_pool_handle_t made = NULL;

    CHECK(zeEventPoolCreate(context, &what, 0, NULL, &made));
    return made;
}

static ze_event_handle_t make_event(ze_event_pool_handle_t pool, uint32_t index)
{
    const ze_event_desc_t what = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .index = index,
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t made = NULL;

    CHECK(zeEventCreate(pool, &what, &made));
    return made;
}

static ze_command_list_handle_t immediate(uint32_t ordinal, uint32_t index)
{
    const ze_command_queue_desc_t what = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .ordinal = ordinal,
                                          .index = index,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t made = NULL;

    CHECK(zeCommandListCreateImmediate(context, device, &what, &made));
    return made;
}

static ze_command_list_handle_t regular(void)
{
    const ze_command_list_desc_t what = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t made = NULL;

    CHECK(zeCommandListCreate(context, device, &what, &made));
    return made;
}

static ze_command_queue_handle_t queue(void)
{
    const ze_command_queue_desc_t what = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_queue_handle_t made = NULL;

    CHECK(zeCommandQueueCreate(context, device, &what, &made));
    return made;
}

static const ze_group_count_t groups = {8, 2, 1};

static void launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                   ze_event_handle_t event)
{
    CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, event, 0, NULL));
}

/* Wait for an immediate list, by an event of the program. */
static void finish(ze_command_list_handle_t list)
{
    const ze_event_handle_t done = make_event(plain_pool, 63);

    CHECK(zeCommandListAppendBarrier(list, done, 0, NULL));
    CHECK(zeEventHostSynchronize(done, 1000000000));
    CHECK(zeEventDestroy(done));
}

static void begin(void)
{
    const ze_context_desc_t what = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_module_desc_t code = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC};
    ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "add"};
    ze_driver_handle_t drivers[4] = {NULL};
    ze_module_handle_t module;
    uint32_t n_drivers = 4;

    CHECK(zeDriverGet(&n_drivers, drivers));
    for (uint32_t i = 0; i < n_drivers; i++) {
        uint32_t n = 8;

        CHECK(zeDeviceGet(drivers[i], &n, devices + n_devices));
        n_devices += n;
    }
    /* Each driver is used by a process of its own: contexts do not go over them. */
    const uint32_t use = n_drivers > 1 ? (uint32_t)atoi(getenv("CLIENT_DRIVER")) : 0;
    device = devices[use];
    CHECK(zeContextCreate(drivers[use], &what, &context));
    CHECK(zeModuleCreate(context, device, &code, &module, NULL));
    CHECK(zeKernelCreate(module, &kernel, &add));
    kernel.pKernelName = "scale";
    CHECK(zeKernelCreate(module, &kernel, &scale));
    CHECK(zeKernelSetGroupSize(add, 64, 1, 1));
    plain_pool = make_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    timed_pool =
        make_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
}

/* Kernels without an event, copies of all kinds, a fill and a barrier. */
static void plain(void)
{
    const ze_device_mem_alloc_desc_t on_device = {.stype =
                                                      ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t on_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_command_list_handle_t list = immediate(0, 0), copies = immediate(1, 0);
    static char room[64 + BYTES];
    void *a, *b, *host, *shared;
    char *const pageable = room + 64;
    char seven = 7;

    CHECK(zeMemAllocDevice(context, &on_device, BYTES, 64, device, &a));
    CHECK(zeMemAllocDevice(context, &on_device, 2 * BYTES, 64, device, &b));
    CHECK(zeMemAllocHost(context, &on_host, BYTES, 64, &host));
    CHECK(zeMemAllocShared(context, &on_device, &on_host, BYTES, 64, device, &shared));
    memset(pageable, 3, BYTES);
    CHECK(zeCommandListAppendMemoryCopy(copies, a, pageable, BYTES, NULL, 0, NULL));
    CHECK(zeCommandListAppendMemoryCopy(copies, b, a, BYTES, NULL, 0, NULL));
    CHECK(zeCommandListAppendMemoryCopy(copies, host, b, BYTES, NULL, 0, NULL));
    CHECK(zeCommandListAppendMemoryCopy(copies, shared, host, BYTES, NULL, 0, NULL));
    CHECK(zeCommandListAppendMemoryFill(list, b, &seven, 1, BYTES, NULL, 0, NULL));
    for (int i = 0; i < N_KERNELS; i++)
        launch(list, add, NULL);
    launch(list, scale, NULL);
    CHECK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    finish(copies);
    finish(list);
    printf("%d %d %d\n", ((char *)host)[5], ((char *)shared)[5], ((char *)b)[5]);
    CHECK(zeMemFree(context, b));
    CHECK(zeCommandListDestroy(list));
    CHECK(zeCommandListDestroy(copies));
}

/* Blocks, which FAKE_BREAK=memory makes hard to get and to give back. */
static void memory(void)
{
    const ze_device_mem_alloc_desc_t on_device = {.stype =
                                                      ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t on_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_memory_free_ext_desc_t how = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
        .freePolicy = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
    void *a, *b, *c;

    CHECK(zeMemAllocDevice(context, &on_device, BYTES, 64, device, &a));
    CHECK(zeMemFree(context, a));
    CHECK(zeMemAllocDevice(context, &on_device, 2 * BYTES, 64, device, &b));
    CHECK(zeMemFreeExt(context, &how, b));
    CHECK(zeMemAllocDevice(context, &on_device, 1 << 20, 64, device, &c));
    CHECK(zeMemAllocShared(context, &on_device, &on_host, 1 << 20, 64, device, &c));
    CHECK(zeMemFree(context, a));
    CHECK(zeMemAllocDevice(context, &on_device, BYTES / 2, 64, device, &c));
    CHECK(zeMemFreeExt(context, &how, b));
}

/* FUNCTION = that of the loader called NAME, of a later version than our headers. */
#define FIND(function, name)                               \
    do {                                                   \
        void *const symbol_ = dlsym(RTLD_DEFAULT, (name)); \
        memcpy(&(function), &symbol_, sizeof symbol_);     \
        if (!symbol_) {                                    \
            printf("the loader has no %s()\n", (name));    \
            exit(1);                                       \
        }                                                  \
    } while (0)

/* Calls that have parameters of their own; kernels get the size of their groups. */
static void later(void)
{
    struct size {
        uint32_t x, y, z;
    };
    ze_result_t (*with_parameters)(
        ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *n,
        const void *more, ze_event_handle_t signal, uint32_t n_waits, ze_event_handle_t *waits);
    ze_result_t (*with_arguments)(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                  ze_group_count_t n, struct size block, void **arguments,
                                  const void *more, ze_event_handle_t signal, uint32_t n_waits,
                                  ze_event_handle_t *waits);
    ze_result_t (*copy)(ze_command_list_handle_t list, void *to, const void *from, size_t bytes,
                        const void *more, ze_event_handle_t signal, uint32_t n_waits,
                        ze_event_handle_t *waits);
    ze_result_t (*fill)(ze_command_list_handle_t list, void *to, const void *pattern,
                        size_t pattern_bytes, size_t bytes, const void *more,
                        ze_event_handle_t signal, uint32_t n_waits, ze_event_handle_t *waits);
    ze_result_t (*execute)(
        ze_command_list_handle_t list, uint32_t n, ze_command_list_handle_t * lists,
        const void *more, ze_event_handle_t signal, uint32_t n_waits, ze_event_handle_t *waits);
    const ze_command_list_handle_t list = immediate(0, 0);
    ze_command_list_handle_t closed = regular();
    const ze_event_handle_t a = make_event(plain_pool, 0);
    char from[64 + BYTES] = "", to[64 + BYTES] = "", seven = 7;

    FIND(with_parameters, "zeCommandListAppendLaunchKernelWithParameters");
    FIND(with_arguments, "zeCommandListAppendLaunchKernelWithArguments");
    CHECK(with_parameters(list, add, &groups, NULL, NULL, 0, NULL));
    CHECK(with_arguments(list, scale, groups, (struct size){32, 2, 1}, NULL, NULL, a, 0, NULL));
    CHECK(zeEventHostSynchronize(a, UINT64_MAX));
    CHECK(zeEventHostReset(a));
    CHECK(with_arguments(list, scale, groups, (struct size){0, 2, 1}, NULL, NULL, a, 0, NULL));
    launch(list, scale, NULL);
    FIND(copy, "zeCommandListAppendMemoryCopyWithParameters");
    FIND(fill, "zeCommandListAppendMemoryFillWithParameters");
    FIND(execute, "zeCommandListImmediateAppendCommandListsWithParameters");
    CHECK(fill(list, from + 64, &seven, 1, BYTES, NULL, NULL, 0, NULL));
    CHECK(copy(list, to + 64, from + 64, BYTES, NULL, NULL, 0, NULL));
    launch(closed, add, NULL);
    CHECK(zeCommandListClose(closed));
    for (int i = 0; i < 2; i++) {
        CHECK(execute(list, 1, &closed, NULL, NULL, 0, NULL));
        finish(list);
    }
    printf("%d\n", to[64 + 5]);
    CHECK(zeCommandListDestroy(closed));
}

/* Commands that are recorded into a graph, which is executed three times. */
static void graph(void)
{
    ze_result_t (*begin_capture)(ze_command_list_handle_t list, const void *more);
    ze_result_t (*end_capture)(ze_command_list_handle_t list, const void *more, void **graph);
    ze_result_t (*append)(ze_command_list_handle_t list, void *graph, const void *more,
                          ze_event_handle_t signal, uint32_t n, ze_event_handle_t *waits);
    const ze_command_list_handle_t list = immediate(0, 0);
    void *made = NULL;

    FIND(begin_capture, "zeCommandListBeginGraphCaptureExt");
    FIND(end_capture, "zeCommandListEndGraphCaptureExt");
    FIND(append, "zeCommandListAppendGraphExt");
    launch(list, scale, NULL);
    CHECK(begin_capture(list, NULL));
    launch(list, add, NULL);
    launch(list, add, NULL);
    CHECK(end_capture(list, NULL, &made));
    for (int i = 0; i < 3; i++) {
        CHECK(append(list, made, NULL, NULL, 0, NULL));
        launch(list, scale, NULL);
        finish(list);
    }
}

/* Threads that start at once, each with a list and an event of its own. */
static void *in_thread(void *number)
{
    const uint32_t index = (uint32_t)(uintptr_t)number;
    const ze_command_list_handle_t list = immediate(0, index);
    const ze_event_handle_t a = make_event(plain_pool, index), b = make_event(plain_pool, 62);

    for (int i = 0; i < 100; i++) {
        launch(list, add, NULL);
        launch(list, scale, a);
        launch(list, add, NULL);
        CHECK(zeEventHostSynchronize(a, UINT64_MAX));
        CHECK(zeEventHostReset(a));
    }
    CHECK(zeCommandListAppendBarrier(list, b, 0, NULL));
    CHECK(zeEventHostSynchronize(b, UINT64_MAX));
    CHECK(zeEventDestroy(a));
    CHECK(zeEventDestroy(b));
    CHECK(zeCommandListDestroy(list));
    return NULL;
}

static void threads(void)
{
    pthread_t all[8];

    for (uintptr_t i = 0; i < 8; i++)
        pthread_create(&all[i], NULL, in_thread, (void *)i);
    for (int i = 0; i < 8; i++)
        pthread_join(all[i], NULL);
}

/* More engines than anyone has, twice. */
static void engines(void)
{
    for (uint32_t i = 0; i < 600; i++) {
        const ze_command_list_handle_t list = immediate(0, i % 300);

        launch(list, add, NULL);
        finish(list);
        CHECK(zeCommandListDestroy(list));
    }
}

/* An event that takes no times, in a list that is executed twice. */
static void untimed(void)
{
    const ze_event_pool_handle_t pool =
        make_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC);
    const ze_event_handle_t a = make_event(pool, 0);
    const ze_command_queue_handle_t q = queue();
    ze_command_list_handle_t list = regular();

    launch(list, add, a);
    launch(list, scale, NULL);
    CHECK(zeCommandListClose(list));
    for (int i = 0; i < 2; i++) {
        CHECK(zeCommandQueueExecuteCommandLists(q, 1, &list, NULL));
        CHECK(zeCommandQueueSynchronize(q, UINT64_MAX));
    }
    CHECK(zeCommandListReset(list));
    launch(list, scale, NULL);
    CHECK(zeCommandListClose(list));
    CHECK(zeCommandQueueExecuteCommandLists(q, 1, &list, NULL));
    CHECK(zeCommandQueueSynchronize(q, UINT64_MAX));
}

/* Events of the program, waited for, reset, used again, read by it, and destroyed. */
static void events(void)
{
    const ze_command_list_handle_t list = immediate(0, 1);
    const ze_event_handle_t a = make_event(plain_pool, 0), b = make_event(timed_pool, 0);
    ze_kernel_timestamp_result_t times = {0};

    for (int i = 0; i < N_KERNELS; i++) {
        launch(list, add, a);
        CHECK(zeEventHostSynchronize(a, UINT64_MAX));
        CHECK(zeEventHostReset(a));
        launch(list, scale, b);
        CHECK(zeEventHostSynchronize(b, UINT64_MAX));
        CHECK(zeEventQueryKernelTimestamp(b, &times));
        printf("%d\n", times.global.kernelEnd > times.global.kernelStart);
        CHECK(zeCommandListAppendEventReset(list, b));
        CHECK(zeEventHostReset(b));
    }
    launch(list, add, a);
    finish(list);
    CHECK(zeEventDestroy(a));
    CHECK(zeEventDestroy(b));
    CHECK(zeEventPoolDestroy(plain_pool));
    CHECK(zeEventPoolDestroy(timed_pool));
}

/* A regular list that is executed N_KERNELS times, reset and used again. */
static void lists(void)
{
    const ze_command_list_handle_t list = regular();
    const ze_command_queue_handle_t q = queue();
    const ze_event_handle_t a = make_event(plain_pool, 0);

    launch(list, add, NULL);
    CHECK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    launch(list, scale, a);
    CHECK(zeCommandListClose(list));
    for (int i = 0; i < N_KERNELS; i++) {
        CHECK(
            zeCommandQueueExecuteCommandLists(q, 1, (ze_command_list_handle_t[]){list}, NULL));
        CHECK(zeCommandQueueSynchronize(q, UINT64_MAX));
        CHECK(zeEventHostReset(a));
    }
    CHECK(zeCommandListReset(list));
    launch(list, scale, NULL);
    /* An error: it is not closed. */
    CHECK(zeCommandQueueExecuteCommandLists(q, 1, (ze_command_list_handle_t[]){list}, NULL));
    CHECK(zeCommandListClose(list));
    CHECK(zeCommandQueueExecuteCommandLists(q, 1, (ze_command_list_handle_t[]){list}, NULL));
    CHECK(zeCommandQueueSynchronize(q, UINT64_MAX));
    CHECK(zeCommandListDestroy(list));
    CHECK(zeCommandQueueDestroy(q));
}

/* A list that is executed again before the program has waited, and then once more. */
static void pipeline(void)
{
    const ze_command_list_handle_t list = regular();
    const ze_command_queue_handle_t q = queue();

    launch(list, add, NULL);
    CHECK(zeCommandListClose(list));
    for (int i = 0; i < 3; i++) {
        CHECK(
            zeCommandQueueExecuteCommandLists(q, 1, (ze_command_list_handle_t[]){list}, NULL));
        if (i > 0)
            CHECK(zeCommandQueueSynchronize(q, UINT64_MAX));
    }
    CHECK(zeCommandListDestroy(list));
}

/* An event from elsewhere (here: of a pool for other processes), which takes no times. */
static void foreign(void)
{
    const ze_event_pool_handle_t pool =
        make_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC);
    const ze_command_list_handle_t list = immediate(0, 0);
    const ze_event_handle_t a = make_event(pool, 0);

    for (int i = 0; i < N_KERNELS; i++) {
        launch(list, add, a);
        CHECK(zeEventHostSynchronize(a, UINT64_MAX));
        CHECK(zeEventHostReset(a));
    }
    finish(list);
}

static void on_tiles(void)
{
    uint32_t n = 4;

    CHECK(zeDeviceGetSubDevices(device, &n, tiles));
    for (uint32_t i = 0; i < n; i++) {
        device = tiles[i];
        const ze_command_list_handle_t list = immediate(0, 0);

        launch(list, add, NULL);
        finish(list);
    }
}

static void on_devices(void)
{
    for (uint32_t i = 0; i < n_devices; i++) {
        device = devices[i];
        const ze_command_list_handle_t list = immediate(0, 0);

        for (uint32_t k = 0; k <= i; k++)
            launch(list, add, NULL);
        finish(list);
    }
}

static void forked(void)
{
    const ze_command_list_handle_t list = immediate(0, 0);
    int status = 0;

    launch(list, add, NULL);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        exit(7);
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
    finish(list);
}

/* The cost of an append, in ns: of a round of them, after which the program waits. */
static void cost(void)
{
    enum { ROUNDS = 20, APPENDS = 1000 };
    const ze_command_list_handle_t list = immediate(0, 0);
    struct timespec a, b;

    for (int k = 0; k < ROUNDS; k++) {
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < APPENDS; i++)
            launch(list, add, NULL);
        clock_gettime(CLOCK_MONOTONIC, &b);
        finish(list);
        if (k > 0) /* the first makes events and other things that stay */
            printf("append %.1f\n",
                   ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) /
                       APPENDS);
    }
}

static void killed(void)
{
    plain();
    fflush(stdout);
    raise(SIGKILL);
}

/* For programs that use this as a library. */
static ze_command_list_handle_t library_list;

void run_kernel(void);
void finish_all(void);

void run_kernel(void)
{
    if (!library_list) {
        CHECK(zeInit(0));
        begin();
        library_list = immediate(0, 0);
    }
    launch(library_list, add, NULL);
}

void finish_all(void)
{
    finish(library_list);
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "plain";
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"plain", plain},        {"events", events},   {"lists", lists},
                 {"pipeline", pipeline},  {"foreign", foreign}, {"tiles", on_tiles},
                 {"devices", on_devices}, {"fork", forked},     {"kill", killed},
                 {"memory", memory},      {"later", later},     {"graph", graph},
                 {"engines", engines},    {"untimed", untimed}, {"threads", threads},
                 {"cost", cost}};

    if (zeInit(0) != ZE_RESULT_SUCCESS) {
        printf("there is no driver\n");
        return 1;
    }
    begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, what) == 0)
            cases[i].run();
    }
    if (strcmp(what, "leave") == 0) { /* work runs while the process ends */
        const ze_command_list_handle_t list = immediate(0, 0);

        for (int i = 0; i < N_KERNELS; i++)
            launch(list, add, NULL);
        return 3;
    }
    return 0;
}
