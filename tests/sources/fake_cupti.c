/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcupti without a device, and the few calls of CUDA that report to it, for
 * tests/sources/cuda.py. Compiled into libcupti.so.12 or .13.
 *
 * FAKE_CUPTI is a list such as "kernel=208,dropped=3": what differs from a driver that works.
 *
 *     version=N     what cuptiGetVersion() says
 *     kernel=N      bytes of a kernel's record; also copy=N, set=N
 *     shift         records begin at any multiple of 4
 *     subscribe=N   the error of cuptiSubscribe(); by=NAME: who has subscribed
 *     all=N         the error of all calls
 *     kinds=N       the error of cuptiActivityEnable()
 *     clock=N       the error of the function that sets the clock
 *     dropped=N     records that are lost at each flush
 *     zero          each third record of work has no times; unordered: ends before it starts
 *     unfinished    the last work has no end
 *     thread        buffers are completed on a thread of their own
 *     lost=N        the device is lost after N works: calls are errors, and so is a flush
 *     stuck         buffers have no end: there is always the same record; empty: there is none
 *     names         nothing has a name
 *     properties    nothing is known of devices
 *     bad           the last buffer cannot be read to its end
 *     ignore        nothing is logged
 *
 * What was done is written to FAKE_CUPTI_LOG: one line of JSON for each call and each work.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sources/cuda/cupti_abi.h"

#define EXPORT __attribute__((visibility("default")))

typedef void callback(void *user, int domain, uint32_t call, const void *data);

static struct {
    int ready;
    unsigned version, kernel, copy, set, subscribe, all, kinds, clock, dropped, lost;
    int shift, zero, unordered, unfinished, thread, bad, ignore, stuck, empty, names,
        properties;
    char by[40];
    FILE *log;
} fake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static callback *subscriber;
static void *subscriber_data;
static int domains[3], kinds[64];
static uint8_t silent[3][1024];
static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint64_t (*read_clock)(void);
static uint32_t last_correlation, last_graph;
static _Atomic uint32_t n_works;
static uint32_t first_context = 1; /* that of device 0 */

static unsigned number(const char *s, const char *key, unsigned otherwise)
{
    const char *const at = strstr(s, key);

    return at ? (unsigned)strtoul(at + strlen(key), NULL, 0) : otherwise;
}

static void read_knobs(void)
{
    const char *const s = getenv("FAKE_CUPTI") ? getenv("FAKE_CUPTI") : "";
    const char *const log = getenv("FAKE_CUPTI_LOG"), *const by = strstr(s, "by=");

    fake.ready = 1;
    fake.version = number(s, "version=", 130500);
    fake.kernel = number(s, "kernel=", 256);
    fake.copy = number(s, "copy=", 112);
    fake.set = number(s, "set=", 104);
    fake.subscribe = number(s, "subscribe=", 0);
    fake.all = number(s, "all=", 0);
    fake.kinds = number(s, "kinds=", 0);
    fake.clock = number(s, "clock=", 0);
    fake.dropped = number(s, "dropped=", 0);
    fake.shift = strstr(s, "shift") != NULL;
    fake.zero = strstr(s, "zero") != NULL;
    fake.unordered = strstr(s, "unordered") != NULL;
    fake.unfinished = strstr(s, "unfinished") != NULL;
    fake.thread = strstr(s, "thread") != NULL;
    fake.bad = strstr(s, "bad") != NULL;
    fake.ignore = strstr(s, "ignore") != NULL;
    fake.lost = number(s, "lost=", 0);
    fake.stuck = strstr(s, "stuck") != NULL;
    fake.empty = strstr(s, "empty") != NULL;
    fake.names = strstr(s, "names") != NULL;
    fake.properties = strstr(s, "properties") != NULL;
    if (by)
        (void)sscanf(by + 3, "%39[^,]", fake.by);
    if (log)
        fake.log = fopen(log, "a");
}

static void prepare(void)
{
    if (!fake.ready)
        read_knobs();
}

static uint64_t now(void)
{
    struct timespec t;

    if (read_clock)
        return read_clock();
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- records ------------------------------------------------------------------------------ */

static uint8_t *buffer;
static size_t buffer_bytes, used;

struct batch {
    uint8_t *buffer;
    size_t bytes, used;
};

static void *complete_batch(void *data)
{
    const struct batch *const b = data;

    complete(NULL, 0, b->buffer, b->bytes, b->used);
    return NULL;
}

/* Give the buffer back. The caller has the lock, which is open meanwhile. */
static void finish_buffer(void)
{
    struct batch b = {buffer, buffer_bytes, used};
    pthread_t thread;

    if (!buffer)
        return;
    buffer = NULL;
    pthread_mutex_unlock(&lock);
    if (fake.thread && pthread_create(&thread, NULL, complete_batch, &b) == 0)
        (void)pthread_join(thread, NULL);
    else
        (void)complete_batch(&b);
    pthread_mutex_lock(&lock);
}

/* A record of BYTES with KIND, zeroed, in a buffer. Its length stands before it. */
static void put(uint32_t kind, const uint8_t *record, uint32_t bytes)
{
    if (!kinds[kind] || !request)
        return;
    pthread_mutex_lock(&lock);
    if (buffer && used + bytes + 16 > buffer_bytes)
        finish_buffer();
    if (!buffer) {
        size_t n = 0;

        pthread_mutex_unlock(&lock);
        uint8_t *fresh = NULL;
        size_t fresh_bytes = 0;
        request(&fresh, &fresh_bytes, &n);
        pthread_mutex_lock(&lock);
        if (!buffer) {
            buffer = fresh;
            buffer_bytes = fresh_bytes;
            used = 0;
        }
    }
    if (buffer && buffer_bytes > bytes + 16) {
        const uint32_t gap = fake.shift ? 4 : 8;

        memcpy(buffer + used, &bytes, sizeof bytes);
        memcpy(buffer + used + gap, record, bytes);
        used += gap + bytes;
    }
    pthread_mutex_unlock(&lock);
}

static void set32(uint8_t *r, size_t at, uint32_t x)
{
    memcpy(r + at, &x, sizeof x);
}

static void set64(uint8_t *r, size_t at, uint64_t x)
{
    memcpy(r + at, &x, sizeof x);
}

static void put_device(uint32_t id)
{
    static const char *const names[] = {"Fake A100", "Fake H100"};
    uint8_t r[200] = {0};
    const char *const name = fake.names ? NULL : names[id];

    set32(r, 0, OSC_CUPTI_DEVICE);
    if (fake.properties) {
        set32(r, OSC_CUPTI_DEVICE_ID, id);
        put(OSC_CUPTI_DEVICE, r, sizeof r);
        return;
    }
    set64(r, OSC_CUPTI_DEVICE_MEMORY, UINT64_C(40) << 30);
    set32(r, OSC_CUPTI_DEVICE_WARP, 32);
    set32(r, OSC_CUPTI_DEVICE_UNITS, 108);
    set32(r, OSC_CUPTI_DEVICE_WARPS_PER_UNIT, 64);
    set32(r, OSC_CUPTI_DEVICE_BLOCKS_PER_UNIT, 32);
    set32(r, OSC_CUPTI_DEVICE_SHARED_PER_UNIT, 164 << 10);
    set32(r, OSC_CUPTI_DEVICE_REGISTERS_PER_UNIT, 65536);
    set32(r, OSC_CUPTI_DEVICE_REGISTERS_PER_BLOCK, 65536);
    set32(r, OSC_CUPTI_DEVICE_SHARED_PER_BLOCK, 48 << 10);
    set32(r, OSC_CUPTI_DEVICE_THREADS_PER_BLOCK, 1024);
    set32(r, OSC_CUPTI_DEVICE_MAJOR, 8 + id);
    set32(r, OSC_CUPTI_DEVICE_ID, id);
    memcpy(r + OSC_CUPTI_DEVICE_NAME, &name, sizeof name);
    put(OSC_CUPTI_DEVICE, r, sizeof r);
}

static void put_context(uint32_t id, uint32_t device)
{
    uint8_t r[40] = {0};

    set32(r, 0, OSC_CUPTI_CONTEXT);
    set32(r, OSC_CUPTI_CONTEXT_ID, id);
    set32(r, OSC_CUPTI_CONTEXT_DEVICE, device);
    put(OSC_CUPTI_CONTEXT, r, sizeof r);
}

static int is_lost(void)
{
    return fake.lost && n_works >= fake.lost;
}

/* The times of a work: it starts now, and takes a time of its own. */
static void set_times(uint8_t *r, size_t start_at, size_t end_at, uint64_t *start,
                      uint64_t *end)
{
    const uint32_t n = ++n_works;

    *start = now();
    *end = *start + 1000 + 10 * n;
    if (fake.zero && n % 3 == 0)
        *start = *end = 0;
    if (fake.unordered && n % 3 == 0)
        *end = *start - 500;
    set64(r, start_at, *start);
    set64(r, end_at, *end);
}

static void log_work(const char *kind, const char *name, uint64_t start, uint64_t end)
{
    if (fake.log && !fake.ignore) {
        fprintf(fake.log,
                "{\"kind\": \"%s\", \"name\": \"%s\", \"start\": %" PRIu64 ", \"end\": %" PRIu64
                "}\n",
                kind, name, start, end);
        fflush(fake.log);
    }
}

/* --- calls of CUDA -------------------------------------------------------------------------
 */

struct in_call {
    struct osc_cupti_call data;
    uint64_t memory;
    int domain;
    uint32_t number;
};

static void tell(struct in_call *c, int site)
{
    c->data.site = site;
    if (subscriber && domains[c->domain] && !silent[c->domain][c->number])
        subscriber(subscriber_data, c->domain, c->number, &c->data);
}

static void enter(struct in_call *c, int domain, uint32_t call, const char *name)
{
    prepare();
    memset(c, 0, sizeof *c);
    c->domain = domain;
    c->number = call;
    c->data.name = fake.names ? NULL : name;
    c->data.data = &c->memory;
    c->data.context_id = 1;
    c->data.correlation = __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED);
    tell(c, OSC_CUPTI_ENTER);
}

static void leave(struct in_call *c)
{
    tell(c, OSC_CUPTI_EXIT);
    if (fake.log && !fake.ignore) {
        fprintf(fake.log, "{\"kind\": \"call\", \"name\": \"%s\"}\n",
                c->data.name ? c->data.name : "");
        fflush(fake.log);
    }
}

struct kernel {
    const char *symbol;
    uint32_t device, stream, correlation;
    int32_t grid, block;
    uint32_t graph;
    uint64_t node;
};

/* Records of kernels have a kind that nobody knows. */
static int walks_only;

EXPORT void fake_walk_only(int is_on);
EXPORT void fake_walk_only(int is_on)
{
    walks_only = is_on;
}

static void put_kernel(const struct kernel *k)
{
    uint8_t r[512] = {0};
    uint64_t start, end;
    const uint16_t registers = 32;

    set32(r, 0, walks_only ? 0 : OSC_CUPTI_KERNEL);
    memcpy(r + OSC_CUPTI_KERNEL_REGISTERS, &registers, sizeof registers);
    set_times(r, OSC_CUPTI_KERNEL_START, OSC_CUPTI_KERNEL_END, &start, &end);
    set32(r, OSC_CUPTI_KERNEL_DEVICE, k->device);
    set32(r, OSC_CUPTI_KERNEL_CONTEXT, k->device + first_context);
    set32(r, OSC_CUPTI_KERNEL_STREAM, k->stream);
    for (size_t i = 0; i < 3; i++) {
        set32(r, OSC_CUPTI_KERNEL_GRID + 4 * i, i == 0 ? (uint32_t)k->grid : 1);
        set32(r, OSC_CUPTI_KERNEL_BLOCK + 4 * i, i == 0 ? (uint32_t)k->block : 1);
    }
    set32(r, OSC_CUPTI_KERNEL_STATIC_SHARED, 1024);
    set32(r, OSC_CUPTI_KERNEL_DYNAMIC_SHARED, 512);
    set32(r, OSC_CUPTI_KERNEL_CORRELATION, k->correlation);
    if (!fake.names)
        memcpy(r + OSC_CUPTI_KERNEL_NAME, &k->symbol, sizeof k->symbol);
    if (fake.kernel >= 160) {
        set64(r, OSC_CUPTI_KERNEL_GRAPH_NODE, k->node);
        set32(r, OSC_CUPTI_KERNEL_GRAPH, k->graph);
    }
    put(OSC_CUPTI_KERNEL, r, fake.kernel);
    log_work("kernel", k->symbol, start, end);
}

EXPORT int cudaLaunchKernel(const char *symbol, uint32_t stream, int grid, int block);
EXPORT int cudaLaunchKernel(const char *symbol, uint32_t stream, int grid, int block)
{
    struct in_call outer, inner;

    prepare();
    if (is_lost())
        return 700;
    enter(&outer, OSC_CUPTI_RUNTIME, 211, "cudaLaunchKernel_v7000");
    enter(&inner, OSC_CUPTI_DRIVER, 307, "cuLaunchKernel");
    put_kernel(&(struct kernel){symbol, stream >> 16, stream & 0xffff, outer.data.correlation,
                                grid, block, 0, 0});
    leave(&inner);
    leave(&outer);
    return 0;
}

EXPORT int cuLaunchKernel(const char *symbol, uint32_t stream, int grid, int block);
EXPORT int cuLaunchKernel(const char *symbol, uint32_t stream, int grid, int block)
{
    struct in_call c;

    enter(&c, OSC_CUPTI_DRIVER, 307, "cuLaunchKernel");
    put_kernel(&(struct kernel){symbol, 0, stream, c.data.correlation, grid, block, 0, 0});
    leave(&c);
    return 0;
}

EXPORT int cudaGraphLaunch(int n_nodes, uint32_t stream);
EXPORT int cudaGraphLaunch(int n_nodes, uint32_t stream)
{
    struct in_call c;

    enter(&c, OSC_CUPTI_RUNTIME, 311, "cudaGraphLaunch_v10000");
    last_graph++;
    for (int i = 0; i < n_nodes; i++)
        put_kernel(&(struct kernel){"node", 0, stream, c.data.correlation, 10, 64, last_graph,
                                    1000 + (uint64_t)i});
    leave(&c);
    return 0;
}

static void put_copy(uint32_t correlation, const uint8_t kind[3], uint64_t bytes,
                     uint32_t stream)
{
    uint8_t r[256] = {0};
    uint64_t start, end;

    set32(r, 0, OSC_CUPTI_MEMCPY);
    memcpy(r + OSC_CUPTI_MEMCPY_COPY_KIND, kind, 3);
    set64(r, OSC_CUPTI_MEMCPY_BYTES, bytes);
    set_times(r, OSC_CUPTI_MEMCPY_START, OSC_CUPTI_MEMCPY_END, &start, &end);
    set32(r, OSC_CUPTI_MEMCPY_CONTEXT, 1);
    set32(r, OSC_CUPTI_MEMCPY_STREAM, stream);
    set32(r, OSC_CUPTI_MEMCPY_CORRELATION, correlation);
    put(OSC_CUPTI_MEMCPY, r, fake.copy);
    log_work("memcpy", "copy", start, end);
}

/* KIND: 1 to a device, 2 from it, 8 within one. */
EXPORT int cudaMemcpyAsync(int kind, uint64_t bytes, uint32_t stream);
EXPORT int cudaMemcpyAsync(int kind, uint64_t bytes, uint32_t stream)
{
    const uint8_t kinds_of[3] = {(uint8_t)kind, kind == 1 ? 1 : 3, kind == 2 ? 2 : 3};
    struct in_call c;

    enter(&c, OSC_CUPTI_RUNTIME, 41, "cudaMemcpyAsync_v3020");
    put_copy(c.data.correlation, kinds_of, bytes, stream);
    leave(&c);
    return 0;
}

EXPORT int cudaMemcpyPeerAsync(uint64_t bytes, uint32_t from, uint32_t to);
EXPORT int cudaMemcpyPeerAsync(uint64_t bytes, uint32_t from, uint32_t to)
{
    uint8_t r[256] = {0};
    uint64_t start, end;
    struct in_call c;

    enter(&c, OSC_CUPTI_RUNTIME, 163, "cudaMemcpyPeerAsync_v4000");
    set32(r, 0, OSC_CUPTI_MEMCPY2);
    r[OSC_CUPTI_MEMCPY_COPY_KIND] = 10;
    r[OSC_CUPTI_MEMCPY_FROM_KIND] = r[OSC_CUPTI_MEMCPY_TO_KIND] = 3;
    set64(r, OSC_CUPTI_MEMCPY_BYTES, bytes);
    set_times(r, OSC_CUPTI_MEMCPY_START, OSC_CUPTI_MEMCPY_END, &start, &end);
    set32(r, OSC_CUPTI_MEMCPY_DEVICE, from);
    set32(r, OSC_CUPTI_MEMCPY_CONTEXT, from + 1);
    set32(r, OSC_CUPTI_MEMCPY_STREAM, 13);
    set32(r, OSC_CUPTI_PEER_FROM_DEVICE, from);
    set32(r, OSC_CUPTI_PEER_TO_DEVICE, to);
    set32(r, OSC_CUPTI_PEER_CORRELATION, c.data.correlation);
    put(OSC_CUPTI_MEMCPY2, r, 96);
    log_work("memcpy", "peer", start, end);
    leave(&c);
    return 0;
}

EXPORT int cudaMemsetAsync(uint64_t bytes, uint32_t stream);
EXPORT int cudaMemsetAsync(uint64_t bytes, uint32_t stream)
{
    uint8_t r[256] = {0};
    uint64_t start, end;
    const uint16_t device_memory = 3;
    struct in_call c;

    enter(&c, OSC_CUPTI_RUNTIME, 51, "cudaMemsetAsync_v3020");
    set32(r, 0, OSC_CUPTI_MEMSET);
    set64(r, OSC_CUPTI_MEMSET_BYTES, bytes);
    set_times(r, OSC_CUPTI_MEMSET_START, OSC_CUPTI_MEMSET_END, &start, &end);
    set32(r, OSC_CUPTI_MEMSET_CONTEXT, 1);
    set32(r, OSC_CUPTI_MEMSET_STREAM, stream);
    set32(r, OSC_CUPTI_MEMSET_CORRELATION, c.data.correlation);
    memcpy(r + OSC_CUPTI_MEMSET_MEMORY_KIND, &device_memory, sizeof device_memory);
    put(OSC_CUPTI_MEMSET, r, fake.set);
    log_work("memset", "set", start, end);
    leave(&c);
    return 0;
}

static void put_sync(uint32_t type, uint32_t correlation, uint32_t stream)
{
    uint8_t r[56] = {0};
    uint64_t start, end;

    set32(r, 0, OSC_CUPTI_SYNC);
    set32(r, OSC_CUPTI_SYNC_TYPE, type);
    set_times(r, OSC_CUPTI_SYNC_START, OSC_CUPTI_SYNC_END, &start, &end);
    set32(r, OSC_CUPTI_SYNC_CORRELATION, correlation);
    set32(r, OSC_CUPTI_SYNC_CONTEXT, first_context);
    set32(r, OSC_CUPTI_SYNC_STREAM, stream);
    set32(r, OSC_CUPTI_SYNC_EVENT, UINT32_MAX);
    put(OSC_CUPTI_SYNC, r, sizeof r);
    log_work("sync", "sync", start, end);
}

EXPORT int cudaStreamSynchronize(uint32_t stream);
EXPORT int cudaStreamSynchronize(uint32_t stream)
{
    struct in_call c;

    enter(&c, OSC_CUPTI_RUNTIME, 131, "cudaStreamSynchronize_v3020");
    put_sync(3, c.data.correlation, stream);
    leave(&c);
    return 0;
}

EXPORT int cudaDeviceSynchronize(void);
EXPORT int cudaDeviceSynchronize(void)
{
    struct in_call c;

    enter(&c, OSC_CUPTI_RUNTIME, 165, "cudaDeviceSynchronize_v3020");
    put_sync(4, c.data.correlation, UINT32_MAX);
    leave(&c);
    return 0;
}

EXPORT int cudaGetDevice(void);
EXPORT int cudaGetDevice(void)
{
    struct in_call c;

    enter(&c, OSC_CUPTI_RUNTIME, OSC_CUPTI_CUDA_GET_DEVICE, "cudaGetDevice_v3020");
    tell(&c, OSC_CUPTI_EXIT);
    return 0;
}

static void put_memory(uint32_t operation, uint64_t address, uint64_t bytes)
{
    uint8_t r[128] = {0};

    set32(r, 0, OSC_CUPTI_MEMORY2);
    set32(r, OSC_CUPTI_MEMORY_OPERATION, operation);
    set32(r, OSC_CUPTI_MEMORY_KIND, 3);
    set64(r, OSC_CUPTI_MEMORY_ADDRESS, address);
    set64(r, OSC_CUPTI_MEMORY_BYTES, bytes);
    set64(r, OSC_CUPTI_MEMORY_TIME, now());
    put(OSC_CUPTI_MEMORY2, r, sizeof r);
}

EXPORT int cudaMalloc(uint64_t address, uint64_t bytes);
EXPORT int cudaMalloc(uint64_t address, uint64_t bytes)
{
    struct in_call c;

    enter(&c, OSC_CUPTI_RUNTIME, 20, "cudaMalloc_v3020");
    put_memory(1, address, bytes);
    leave(&c);
    return 0;
}

EXPORT int cudaFree(uint64_t address, uint64_t bytes);
EXPORT int cudaFree(uint64_t address, uint64_t bytes)
{
    struct in_call c;

    enter(&c, OSC_CUPTI_RUNTIME, 22, "cudaFree_v3020");
    put_memory(2, address, bytes);
    leave(&c);
    return 0;
}

/* The driver loads a module at the first launch of one of its kernels. */
EXPORT void fake_overhead(uint32_t type);
EXPORT void fake_overhead(uint32_t type)
{
    uint8_t r[56] = {0};
    const uint64_t start = now();

    set32(r, 0, OSC_CUPTI_OVERHEAD);
    set32(r, OSC_CUPTI_OVERHEAD_TYPE, type);
    set64(r, OSC_CUPTI_OVERHEAD_START, start);
    set64(r, OSC_CUPTI_OVERHEAD_END, start + 3000);
    put(OSC_CUPTI_OVERHEAD, r, sizeof r);
}

/* Work that is under way when the process ends. */
EXPORT void fake_unfinished(void);
EXPORT void fake_unfinished(void)
{
    uint8_t r[512] = {0};

    set32(r, 0, OSC_CUPTI_KERNEL);
    set64(r, OSC_CUPTI_KERNEL_START, now());
    put(OSC_CUPTI_KERNEL, r, fake.kernel);
}

/* Have N kernels in buffers, and complete these: for benchmarks. Returns nanoseconds. */
EXPORT uint64_t fake_complete(int n);
EXPORT uint64_t fake_complete(int n)
{
    struct timespec a, b;

    prepare();
    for (int i = 0; i < n; i++)
        put_kernel(&(struct kernel){"_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi", 0,
                                    7, last_correlation, 100 + i % 8, 256, 0, 0});
    clock_gettime(CLOCK_MONOTONIC, &a);
    pthread_mutex_lock(&lock);
    finish_buffer();
    pthread_mutex_unlock(&lock);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (uint64_t)(b.tv_sec - a.tv_sec) * 1000000000 + (uint64_t)b.tv_nsec -
           (uint64_t)a.tv_nsec;
}

/* Contexts are others afterwards. */
EXPORT int cudaDeviceReset(void);
EXPORT int cudaDeviceReset(void)
{
    struct in_call c;

    enter(&c, OSC_CUPTI_RUNTIME, 164, "cudaDeviceReset_v3020");
    pthread_mutex_lock(&lock);
    finish_buffer();
    pthread_mutex_unlock(&lock);
    first_context += 2;
    for (uint32_t id = 0; id < 2; id++)
        put_context(id + first_context, id);
    leave(&c);
    return 0;
}

/* --- CUPTI ---------------------------------------------------------------------------------
 */

#define BEGIN()                   \
    do {                          \
        prepare();                \
        if (fake.all)             \
            return (int)fake.all; \
    } while (0)

EXPORT int cuptiGetVersion(uint32_t *version);
EXPORT int cuptiGetVersion(uint32_t *version)
{
    prepare();
    *version = fake.version;
    return 0;
}

EXPORT int cuptiGetTimestamp(uint64_t *ns);
EXPORT int cuptiGetTimestamp(uint64_t *ns)
{
    *ns = now();
    return 0;
}

EXPORT int cuptiSubscribe(void **handle, callback *function, void *data);
EXPORT int cuptiSubscribe(void **handle, callback *function, void *data)
{
    BEGIN();
    if (fake.subscribe)
        return (int)fake.subscribe;
    if (subscriber)
        return OSC_CUPTI_SUBSCRIBED;
    subscriber = function;
    subscriber_data = data;
    *handle = &subscriber;
    return 0;
}

EXPORT int cuptiSubscribe_v2(void **handle, callback *function, void *data,
                             struct osc_cupti_subscriber *s);
EXPORT int cuptiSubscribe_v2(void **handle, callback *function, void *data,
                             struct osc_cupti_subscriber *s)
{
    prepare();
    if (fake.subscribe && s->old_name)
        (void)snprintf(s->old_name, s->old_name_bytes, "%s", fake.by);
    return cuptiSubscribe(handle, function, data);
}

EXPORT int cuptiUnsubscribe(void *handle);
EXPORT int cuptiUnsubscribe(void *handle)
{
    (void)handle;
    subscriber = NULL;
    memset(domains, 0, sizeof domains);
    return 0;
}

EXPORT int cuptiEnableCallback(uint32_t on, void *handle, int domain, uint32_t call);
EXPORT int cuptiEnableCallback(uint32_t on, void *handle, int domain, uint32_t call)
{
    (void)handle;
    silent[domain][call] = !on;
    return 0;
}

EXPORT int cuptiEnableDomain(uint32_t on, void *handle, int domain);
EXPORT int cuptiEnableDomain(uint32_t on, void *handle, int domain)
{
    (void)handle;
    domains[domain] = (int)on;
    return 0;
}

EXPORT int cuptiActivityEnable(int kind);
EXPORT int cuptiActivityEnable(int kind)
{
    BEGIN();
    if (fake.kinds)
        return (int)fake.kinds;
    kinds[kind] = 1;
    for (uint32_t id = 0; id < 2; id++) {
        if (kind == OSC_CUPTI_DEVICE)
            put_device(id);
        if (kind == OSC_CUPTI_CONTEXT)
            put_context(id + first_context, id);
    }
    return 0;
}

EXPORT int cuptiActivityDisable(int kind);
EXPORT int cuptiActivityDisable(int kind)
{
    kinds[kind] = 0;
    return 0;
}

EXPORT int cuptiActivityRegisterCallbacks(void (*r)(uint8_t **, size_t *, size_t *),
                                          void (*c)(void *, uint32_t, uint8_t *, size_t,
                                                    size_t));
EXPORT int cuptiActivityRegisterCallbacks(void (*r)(uint8_t **, size_t *, size_t *),
                                          void (*c)(void *, uint32_t, uint8_t *, size_t,
                                                    size_t))
{
    prepare();
    request = r;
    complete = c;
    return 0;
}

EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*function)(void));
EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*function)(void))
{
    BEGIN();
    if (fake.clock)
        return (int)fake.clock;
    read_clock = function;
    return 0;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, uint8_t **record);
EXPORT int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, uint8_t **record)
{
    const uint32_t gap = fake.shift ? 4 : 8;
    size_t at = 0;
    uint32_t bytes;

    if (*record) {
        memcpy(&bytes, *record - gap, sizeof bytes);
        at = (size_t)(*record - from) + bytes;
    }
    if (fake.empty)
        return 0;
    if (*record && fake.stuck)
        return 0;
    if (at >= valid)
        return fake.bad ? 20 : OSC_CUPTI_LIMIT;
    *record = from + at + gap;
    return 0;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
    (void)context;
    (void)stream;
    *n = fake.dropped;
    fake.dropped = 0;
    return 0;
}

EXPORT int cuptiActivityFlushAll(uint32_t flags);
EXPORT int cuptiActivityFlushAll(uint32_t flags)
{
    BEGIN();
    if (is_lost())
        return 999;
    (void)flags;
    pthread_mutex_lock(&lock);
    finish_buffer();
    pthread_mutex_unlock(&lock);
    return 0;
}
