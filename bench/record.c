/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - measure what recording costs the program, compared with the least possible cost.
 *
 *   record pair DIR [N]          scopes, counters, memory, stacks
 *   record nvtx COLLECTOR [N]    the same for a range of NVTX, beside a scope of ours
 *   record itt COLLECTOR [N]     an ITT task through the collector, which records to
 *                                $OPSCOPE_OUT
 *   record flush DIR [N]         the cost of the flusher and the size of its file
 *   record uftrace|lttng DIR     a pair of opscope and one of the other recorder, which run.py
 *                                has started
 *
 * The limits are those of a recorder that only reads the clock and writes a record of 32 bytes
 * to its own ring, published for a reader: twice (L-pair), two readings and one record
 * (L-complete), once (L-one); L-off is a load and a branch; L-fp reads the clock once and
 * follows 32 frame pointers within known bounds. The recorder is the one that programs use: the
 * installed header and the shared library, with signal safety, counting and writing to disk.
 * Figures are nanoseconds of the thread's clock, sampled alternately.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

#include <opscope/record.h>

#include "bench.h"
#include "sources/itt/itt_abi.h"
#include "sources/nvtx/nvtx_abi.h"

enum { N = 200000, ADDRESSES = 64, FRAMES = 32, RING = 1 << 15, TASK_NAMES = 200 };
enum { NAMES = 1000, SCOPES = 4000000, DEPTH = 6, SCOPES_A_SECOND = 5000000 };

/* --- the limits -------------------------------------------------------------------------- */

static _Thread_local struct {
    _Atomic uint64_t head;
    char pad[56];
    struct {
        uint64_t ts;
        uint32_t id, kind;
        uint64_t a, b;
    } * records; /* RING of them: 1 MiB */
    uint64_t mask;
} ring __attribute__((tls_model("initial-exec")));

static uint64_t ticks(void)
{
#if defined __x86_64__
    return __rdtsc();
#else
    return (uint64_t)(bench_wall_s() * 1e9);
#endif
}

static inline void put(uint64_t ts, uint32_t id, uint32_t kind, uint64_t a)
{
    /* Relaxed: only this thread writes it. Release, as if a reader could drain at any time. */
    const uint64_t head = atomic_load_explicit(&ring.head, memory_order_relaxed);

    ring.records[head & ring.mask].ts = ts;
    ring.records[head & ring.mask].id = id;
    ring.records[head & ring.mask].kind = kind;
    ring.records[head & ring.mask].a = a;
    ring.records[head & ring.mask].b = kind;
    atomic_store_explicit(&ring.head, head + 1, memory_order_release);
}

/* Define a function that returns the nanoseconds of one BODY; a floor is a loop without a
 * call. */
#define LOOP(what, body)                          \
    static double what(void)                      \
    {                                             \
        const double start = bench_cpu_s();       \
        for (uint32_t i = 0; i < N; i++) {        \
            body;                                 \
            __asm__ volatile("" ::: "memory");    \
        }                                         \
        return (bench_cpu_s() - start) * 1e9 / N; \
    }

LOOP(floor_one, put(ticks(), i, 3, i))
LOOP(floor_pair, put(ticks(), i, 0, i); put(ticks(), i, 1, i))
LOOP(floor_complete, const uint64_t at = ticks(); put(at, i, 2, ticks() - at))

/* Not static, like the recorder's: otherwise clang would know that it is never set. */
int floor_is_on;
#define TEST                                                                  \
    if (__builtin_expect(__atomic_load_n(&floor_is_on, __ATOMIC_RELAXED), 0)) \
        put(ticks(), i, 3, i);
/* Four pairs at once, as below: the time of a single one would depend on the alignment of the
 * loop. */
LOOP(floor_off, TEST TEST TEST TEST TEST TEST TEST TEST)

/* Records with a stack, in a ring of 1 MiB, and the end of the stack. */
static struct {
    uint64_t ts, n, addresses[62];
} stacks[2048];
static uintptr_t stack_high;

/* Not inlined, like the recorder's. */
__attribute__((noinline)) static void floor_stack(uint32_t i)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    uint64_t n = 0;

    stacks[i % 2048].ts = ticks();
    while (n < FRAMES) {
        const uintptr_t caller = frame[0], address = frame[1];

        if (address == 0)
            break;
        stacks[i % 2048].addresses[n++] = address;
        if (caller <= (uintptr_t)frame || caller >= stack_high)
            break;
        frame = (const uintptr_t *)caller;
    }
    stacks[i % 2048].n = n;
}

LOOP(floor_stacks, floor_stack(i))

/* --- the recorder ------------------------------------------------------------------------ */

static osc_name name;

/* Inlined, as in a program. */
__attribute__((always_inline)) static inline void begin_end(void)
{
    osc_begin(OSC_SCOPE_OPERATOR, name);
    osc_end();
}

LOOP(pair, begin_end())
LOOP(off, begin_end(); begin_end(); begin_end(); begin_end())
LOOP(complete, osc_complete(OSC_SCOPE_OPERATOR, name, osc_now()))
LOOP(instant, osc_instant(name))
LOOP(stack, osc_instant(name); osc_arg_stack())
LOOP(counter, osc_counter_i64(name, i))

__attribute__((always_inline)) static inline void alloc_free(uint64_t address)
{
    osc_memory_alloc(OSC_DEVICE_CPU, address, 4096);
    osc_memory_free(OSC_DEVICE_CPU, address, 4096);
}

LOOP(memory, alloc_free(UINT64_C(0x7f0000000000) + (i % ADDRESSES << 12)))

/* --- tasks of ITT ------------------------------------------------------------------------ */

typedef struct osc_itt_id id;

static struct osc_itt_domain *(*domain_create)(const char *);
static struct osc_itt_string *(*string_create)(const char *);
static void (*task_begin)(struct osc_itt_domain *, id, id, struct osc_itt_string *);
static void (*task_end)(struct osc_itt_domain *);

static struct osc_itt_domain *domain;
static struct osc_itt_string *handle;
static char task_names[TASK_NAMES][40];

__attribute__((always_inline)) static inline void begin_end_task(void)
{
    if (domain->flags)
        task_begin(domain, (id){0}, (id){0}, handle);
    if (domain->flags)
        task_end(domain);
}

LOOP(task, begin_end_task())
/* As in PyTorch, which requests the string handle every time. */
LOOP(named_task, handle = string_create(task_names[i % TASK_NAMES]); begin_end_task())

/* Load the collector as the static part of a client does. */
static bool load(const char *collector)
{
    static struct osc_itt_api apis[] = {
        {.name = "__itt_domain_create", .function = (osc_itt_function *)&domain_create},
        {.name = "__itt_string_handle_create", .function = (osc_itt_function *)&string_create},
        {.name = "__itt_task_begin", .function = (osc_itt_function *)&task_begin},
        {.name = "__itt_task_end", .function = (osc_itt_function *)&task_end},
        {.name = NULL}};
    static struct osc_itt_global part = {
        .version_major = OSC_ITT_MAJOR, .version_build = 20230630, .apis = apis};
    void *const library = dlopen(collector, RTLD_LAZY);
    void (*init)(struct osc_itt_global *, int) = NULL;

    memcpy(part.magic, OSC_ITT_MAGIC, sizeof part.magic);
    if (library)
        *(void **)&init = dlsym(library, "__itt_api_init");
    if (init)
        init(&part, -1);
    return init && task_begin && task_end && domain_create && string_create;
}

/* --- ranges of NVTX ---------------------------------------------------------------------- */

static int (*push)(const char *);
static int (*pop)(void);
static int (*push_with)(void *, const struct osc_nvtx_attributes *);
static void *(*register_string)(void *, const char *);

static struct osc_nvtx_attributes registered = {
    .version = 3, .size = sizeof registered, .message_type = OSC_NVTX_MESSAGE_REGISTERED};

LOOP(push_pop, push("forward"); pop())
LOOP(push_pop_registered, push_with(NULL, &registered); pop())

/* The functions of a module, as a client of NVTX has them. */
static int get_module(int module, osc_nvtx_function ***table, unsigned *n)
{
    static osc_nvtx_function *core[16] = {
        [9] = (osc_nvtx_function *)&push, [11] = (osc_nvtx_function *)&pop};
    static osc_nvtx_function *core2[16] = {
        [4] = (osc_nvtx_function *)&push_with, [10] = (osc_nvtx_function *)&register_string};

    *table = module == OSC_NVTX_CORE ? core : module == OSC_NVTX_CORE2 ? core2 : NULL;
    *n = 16;
    return *table != NULL;
}

static const void *get_table(uint32_t table)
{
    static const struct osc_nvtx_callbacks callbacks = {sizeof callbacks, get_module};

    return table == OSC_NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

/* Load the collector as a client of NVTX does. */
static bool load_nvtx(const char *collector)
{
    void *const library = dlopen(collector, RTLD_LAZY);
    int (*init)(osc_nvtx_get_table) = NULL;

    if (library)
        *(void **)&init = dlsym(library, "InitializeInjectionNvtx2");
    return init && init(get_table) == 1 && push && pop && push_with && register_string;
}

/* --- measuring --------------------------------------------------------------------------- */

/* Sample OURS and LIMIT alternately, as WHAT and WHAT/limit. */
static void compare(const char *what, double (*ours)(void), double (*limit)(void), int n)
{
    char other[64];

    snprintf(other, sizeof other, "%s/limit", what);
    bench_pin(1);
    for (int i = 0; i < n; i++) {
        /* Let the disk catch up: only the program's thread is measured. */
        (void)osc_dump();
        bench_sample(what, ours());
        bench_sample(other, limit());
    }
    bench_pin(0);
}

static void say_lost(void)
{
    struct osc_losses losses;

    osc_losses_get(&losses);
    bench_sample("lost", (double)losses.full);
}

static void record(const char *dir, const char *file, uint64_t buffer_bytes)
{
    char out[4096];

    (void)snprintf(out, sizeof out, "%s/%s", dir, file);
    if (osc_start(&(struct osc_start_options){.size = sizeof(struct osc_start_options),
                                              .out = out,
                                              .buffer_bytes = buffer_bytes}) != OSC_OK) {
        fputs("record: cannot record\n", stderr);
        exit(1);
    }
    name = osc_name_c("conv2d");
}

/* Called through a pointer, so that the compiler does not merge the frames. */
static void (*volatile go_deeper)(uint32_t, int);

/* Call this function DEPTH times recursively, then compare. */
static void compare_stacks(uint32_t depth, int n)
{
    if (depth > 1)
        go_deeper(depth - 1, n);
    else
        compare("a8-stack-32", stack, floor_stacks, n);
    __asm__ volatile("" ::: "memory"); /* otherwise the call would become a jump */
}

static pthread_barrier_t both;

static void *record_beside(void *times)
{
    double *const ns = times;

    for (int i = 0; ns[i] >= 0; i++) {
        (void)pthread_barrier_wait(&both);
        ns[i] = pair();
    }
    return NULL;
}

/* Sample the slower of two threads, N times. */
static void measure_two(int n)
{
    double ns[2][64] = {{0}};
    pthread_t other;

    n = n < 64 ? n : 63;
    ns[0][n] = ns[1][n] = -1;
    if (pthread_barrier_init(&both, NULL, 2) != 0 ||
        pthread_create(&other, NULL, record_beside, ns[1]) != 0)
        exit(1);
    (void)record_beside(ns[0]);
    (void)pthread_join(other, NULL);
    for (int i = 0; i < n; i++)
        bench_sample("a3-two-threads", ns[0][i] > ns[1][i] ? ns[0][i] : ns[1][i]);
}

static void measure_pair(const char *dir, int n)
{
    compare("a4-off", off, floor_off, n);
    record(dir, "pair.osc", 0);
    compare("a1-begin-end", pair, floor_pair, n);
    compare("a2-complete", complete, floor_complete, n);
    compare("a6-instant", instant, floor_one, n);
    compare("a6-counter", counter, floor_one, n);
    compare("a7-alloc-free", memory, floor_pair, n);
    /* Besides these frames there are those of this function, main() and the comparison. */
    go_deeper = compare_stacks;
    compare_stacks(FRAMES - 3, n);
    if (stacks[0].n != FRAMES)
        fprintf(stderr, "record: the floor found %d frames\n", (int)stacks[0].n);
    measure_two(n);
    osc_pause(); /* as between the windows of a schedule */
    compare("a4-paused", pair, floor_pair, n);
    (void)osc_stop();
    osc_resume();

    record(dir, "full.osc", 16 * 16384); /* a few blocks: the flusher cannot keep up */
    compare("a5-nobody-drains", pair, floor_pair, n);
    (void)osc_stop();
}

static void measure_itt(const char *collector, int n)
{
    if (!load(collector)) {
        fputs("record: no collector\n", stderr);
        exit(1);
    }
    for (uint32_t i = 0; i < TASK_NAMES; i++)
        snprintf(task_names[i], sizeof task_names[i], "aten::%.*s_%u", (int)(i % 17 + 3),
                 "convolution_backward", i);
    domain = domain_create("PyTorch");
    compare("pytorch", named_task, floor_pair, n);
    compare("task", task, floor_pair, n);
    domain = domain_create("tbb");
    compare("domain", task, floor_pair, n);
}

static void measure_nvtx(const char *collector, int n)
{
    if (!load_nvtx(collector)) {
        fputs("record: no collector\n", stderr);
        exit(1);
    }
    name = osc_name_c("forward");
    registered.message.registered = register_string(NULL, "forward");
    compare("push-pop", push_pop, pair, n);
    compare("registered", push_pop_registered, pair, n);
}

/* --- other recorders --------------------------------------------------------------------- */

/* A call that uftrace records; a pair of tracepoints of LTTng, if it is installed. */
void bench_seen(uint32_t i);
__attribute__((weak)) void bench_lttng(uint32_t i);

LOOP(seen, bench_seen(i))
LOOP(tracepoints, bench_lttng(i))

/* --- the thread that writes -----------------------------------------------------------------
 */

/*
 * The program has a thousand names and nested scopes of 0.1 to 10 us. Their times are passed
 * in, so that the program takes no longer than the calls. It is limited to five million scopes
 * a second, so that nothing is lost. The flusher's time is that of the process minus that of
 * this thread.
 */
static uint32_t next_random(void)
{
    static uint32_t seed = 1;

    return seed = seed * 1664525 + 1013904223;
}

static void record_scopes(const osc_name *names)
{
    const double start = bench_wall_s();
    uint64_t ticks = osc_now();

    for (long i = 0; i < SCOPES; i += DEPTH) {
        while (i % (DEPTH * 1000) == 0 &&
               (double)i > (bench_wall_s() - start) * SCOPES_A_SECOND)
            (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        for (int k = 0; k < DEPTH; k++) {
            const uint32_t r = next_random() >> 8;
            osc_begin_at(OSC_SCOPE_OPERATOR, names[r % NAMES], ticks += 200 + r % 5000);
        }
        for (int k = 0; k < DEPTH; k++)
            osc_end_at(ticks += 200 + (next_random() >> 8) % 5000);
    }
}

static double flusher_s(void)
{
    return bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - bench_cpu_s();
}

static void measure_flusher(const char *dir, int n)
{
    osc_name names[NAMES];
    char out[4096];
    struct stat info;

    (void)snprintf(out, sizeof out, "%s/flush.osc", dir);
    for (int k = 0; k < n; k++) {
        record(dir, "flush.osc", 0);
        for (int i = 0; i < NAMES; i++) {
            char text[32];

            (void)snprintf(text, sizeof text, "aten::operator_%d", i);
            names[i] = osc_name_c(text);
        }
        (void)osc_dump();
        const double before = flusher_s();
        record_scopes(names);
        (void)osc_dump();
        bench_sample("a10-ns-a-record", (flusher_s() - before) * 1e9 / (2.0 * SCOPES));
        say_lost();
        (void)osc_stop();
        if (stat(out, &info) != 0)
            exit(1);
        bench_sample("a10-bytes-a-scope", (double)info.st_size / SCOPES);
    }
}

int main(int argc, char **argv)
{
    const char *const what = argc > 2 ? argv[1] : "";
    const int n = bench_rounds(argc, argv, 3, 15);

    stack_high = (uintptr_t)__builtin_frame_address(0);
    ring.records = calloc(RING, sizeof *ring.records);
    ring.mask = RING - 1;
    if (!ring.records)
        return 1;
    if (strcmp(what, "pair") == 0)
        measure_pair(argv[2], n);
    else if (strcmp(what, "itt") == 0)
        measure_itt(argv[2], n);
    else if (strcmp(what, "nvtx") == 0)
        measure_nvtx(argv[2], n);
    else if (strcmp(what, "flush") == 0)
        measure_flusher(argv[2], n);
    else if (strcmp(what, "uftrace") != 0 && !bench_lttng)
        return 2;
    else {
        record(argv[2], what, 0);
        compare(what, pair, *what == 'u' ? seen : tracepoints, 9);
        (void)osc_stop();
    }
    say_lost();
    return 0;
}
