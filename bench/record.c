/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - what recording costs the program, beside the cheapest that could be done.
 *
 *   record [REPETITIONS]
 *
 * The limits are those of a recorder that does nothing but read the clock and write a
 * record of 32 bytes to a ring of its own, published for a reader: L-pair (two of them),
 * L-complete (two readings, one record), L-one, and L-off, a load and a branch; L-fp reads
 * the clock once and follows 32 frame pointers within bounds that it knows. The
 * recorder is the one that programs get: the installed header, the shared library, all
 * of signal safety, counting and writing to disk.
 *
 * Times are of the thread's own clock, on a pinned core; the ratio is of medians, taken in
 * turns. The recording goes to a directory of its own, which is removed.
 */
#include "ring.h"

#include <dirent.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <opscope/record.h>

enum { N = 200000, ADDRESSES = 64, FRAMES = 32 };

/* --- the limits -------------------------------------------------------------------------- */

/* Not static, as the recorder's is not, or clang knows that it never is. */
int floor_is_on;

static void floor_pair(uint32_t i)
{
    bench_put(bench_ring_self, i, 0);
    bench_put(bench_ring_self, i, 1);
}

static void floor_complete(uint32_t i)
{
    const uint64_t start = bench_ticks();

    bench_put_at(bench_ring_self, start, i, 2, bench_ticks() - start);
}

static void floor_one(uint32_t i)
{
    bench_put(bench_ring_self, i, 3);
}

/* Four pairs at once, as below: alone, they take as long as the loop happens to lie. */
static void floor_off(uint32_t i)
{
#define TEST(kind)                                                            \
    if (__builtin_expect(__atomic_load_n(&floor_is_on, __ATOMIC_RELAXED), 0)) \
        bench_put(bench_ring_self, i, kind);
    TEST(0) TEST(1) TEST(2) TEST(3) TEST(4) TEST(5) TEST(6) TEST(7)
#undef TEST
}

/* A record with a stack, in a ring of 1 MiB as the others; and where the stack ends. */
static struct {
    uint64_t ts, n, addresses[62];
} stacks[2048];
static uintptr_t stack_high;

/* To be called, as the recorder's is. */
__attribute__((noinline)) static void floor_stack(uint32_t i)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    uint64_t n = 0;

    stacks[i % 2048].ts = bench_ticks();
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

/* --- the recorder ---------------------------------------------------------------------------
 */

static osc_name name;

static void scope_pair(uint32_t i)
{
    (void)i;
    osc_begin(OSC_SCOPE_OPERATOR, name);
    osc_end();
}

static void off_pairs(uint32_t i)
{
    scope_pair(i);
    scope_pair(i);
    scope_pair(i);
    scope_pair(i);
}

static void scope_complete(uint32_t i)
{
    const uint64_t start = osc_now();

    (void)i;
    osc_complete(OSC_SCOPE_OPERATOR, name, start);
}

static void instant(uint32_t i)
{
    (void)i;
    osc_instant(name);
}

static void stack(uint32_t i)
{
    (void)i;
    osc_instant(name);
    osc_arg_stack();
}

static void counter(uint32_t i)
{
    osc_counter_i64(name, i);
}

static void alloc_free(uint32_t i)
{
    const uint64_t address = UINT64_C(0x7f0000000000) + (i % ADDRESSES << 12);

    osc_memory_alloc(OSC_DEVICE_CPU, address, 4096);
    osc_memory_free(OSC_DEVICE_CPU, address, 4096);
}

/* --- measuring -----------------------------------------------------------------------------
 */

/* Inlined with BODY a constant, so that a floor is a loop without a call. */
#define LOOP(body)                                \
    static double time_##body(void)               \
    {                                             \
        const double start = bench_cpu_s();       \
        for (uint32_t i = 0; i < N; i++) {        \
            body(i);                              \
            __asm__ volatile("" ::: "memory");    \
        }                                         \
        return (bench_cpu_s() - start) * 1e9 / N; \
    }

LOOP(floor_pair)
LOOP(floor_complete)
LOOP(floor_one)
LOOP(floor_off)
LOOP(scope_pair)
LOOP(off_pairs)
LOOP(scope_complete)
LOOP(instant)
LOOP(floor_stack)
LOOP(stack)
LOOP(counter)
LOOP(alloc_free)

/* Let the disk catch up: what is measured is the program's thread. */
static void rest(void)
{
    (void)osc_dump();
}

static double compare(const char *what, double (*ours)(void), double (*limit)(void),
                      const char *allowed, int n)
{
    struct bench_times a = {0}, b = {0};
    struct osc_losses before, after;

    osc_losses_get(&before);
    for (int i = 0; i < n; i++) {
        rest();
        bench_add(&a, ours());
        bench_add(&b, limit());
    }
    osc_losses_get(&after);
    bench_report(what, bench_steady(&a) / bench_steady(&b), allowed,
                 "%.2f ns beside %.2f ns; %llu records lost", bench_steady(&a),
                 bench_steady(&b), (unsigned long long)(after.full - before.full));
    return bench_steady(&a);
}

/* --- stacks ------------------------------------------------------------------------------- */

/* Called by way of it, or the compiler would make one frame of many. */
static void (*volatile go_deeper)(uint32_t, int);

/* DEPTH frames of this function, then the comparison. */
static void compare_stacks(uint32_t depth, int n)
{
    if (depth > 1)
        go_deeper(depth - 1, n);
    else
        (void)compare("record/a8-stack-32", time_stack, time_floor_stack, "<=1.15", n);
    __asm__ volatile("" ::: "memory"); /* or the call would become a jump */
}

/* --- two threads ---------------------------------------------------------------------------
 */

static pthread_barrier_t both;

struct thread {
    pthread_t id;
    int n;
    struct bench_times times;
};

static void *record_beside(void *arg)
{
    struct thread *t = arg;

    for (int i = 0; i < t->n; i++) {
        (void)pthread_barrier_wait(&both);
        bench_add(&t->times, time_scope_pair());
        (void)pthread_barrier_wait(&both);
    }
    return NULL;
}

static void compare_two(double alone, int n)
{
    struct thread t[2] = {{.n = n}, {.n = n}};
    cpu_set_t all;

    if (sched_getaffinity(0, sizeof all, &all) != 0 ||
        pthread_barrier_init(&both, NULL, 3) != 0)
        exit(1);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i].id, NULL, record_beside, &t[i]) != 0)
            exit(1);
    for (int i = 0; i < n; i++) {
        rest();
        (void)pthread_barrier_wait(&both);
        (void)pthread_barrier_wait(&both);
    }
    for (int i = 0; i < 2; i++)
        (void)pthread_join(t[i].id, NULL);
    const double a = bench_steady(&t[0].times), b = bench_steady(&t[1].times);

    bench_report("record/a3-two-threads", (a > b ? a : b) / alone, "<=1.05",
                 "slower of two threads %.2f ns, alone %.2f ns", a > b ? a : b, alone);
}

/* --- the directory ---------------------------------------------------------------------------
 */

static char dir[] = "/tmp/opscope-bench-XXXXXX";

static void remove_all(const char *path)
{
    char inner[512];
    DIR *d = opendir(path);

    for (const struct dirent *e; d && (e = readdir(d));) {
        const int len = snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);

        if (e->d_name[0] != '.' && len < (int)sizeof inner && unlink(inner) != 0)
            remove_all(inner);
    }
    if (d)
        (void)closedir(d);
    (void)rmdir(path);
}

static void start(const char *file, uint64_t buffer_bytes)
{
    char out[64];

    (void)snprintf(out, sizeof out, "%s/%s", dir, file);
    if (osc_start(&(struct osc_start_options){.size = sizeof(struct osc_start_options),
                                              .out = out,
                                              .buffer_bytes = buffer_bytes}) != OSC_OK) {
        fputs("record: cannot record\n", stderr);
        exit(1);
    }
    name = osc_name_c("conv2d");
}

int main(int argc, char **argv)
{
    const int n = bench_repetitions(argc, argv, 1, 15);
    cpu_set_t all;

    if (!mkdtemp(dir) || sched_getaffinity(0, sizeof all, &all) != 0)
        return 1;
    bench_ring_open();
    bench_pin();
    (void)compare("record/a4-off", time_off_pairs, time_floor_off, "<=1.20", n);
    (void)sched_setaffinity(0, sizeof all, &all); /* the flusher goes where it likes */
    start("run.osc", 0);
    bench_pin();
    const double alone =
        compare("record/a1-begin-end", time_scope_pair, time_floor_pair, "<=1.15", n);
    (void)compare("record/a2-complete", time_scope_complete, time_floor_complete, "<=1.15", n);
    (void)compare("record/a6-instant", time_instant, time_floor_one, "<=1.20", n);
    (void)compare("record/a6-counter", time_counter, time_floor_one, "<=1.20", n);
    (void)compare("record/a7-alloc-free", time_alloc_free, time_floor_pair, "<=1.30", n);
    stack_high = (uintptr_t)__builtin_frame_address(0);
    /* Outside of those are main() and what called it; inside two that compare. */
    go_deeper = compare_stacks;
    compare_stacks(FRAMES - 3, n);
    if (stacks[0].n != FRAMES)
        fprintf(stderr, "record: the floor found %d frames\n", (int)stacks[0].n);
    (void)sched_setaffinity(0, sizeof all, &all);
    compare_two(alone, n);
    (void)osc_stop();

    start("full.osc", 16 * 16384); /* a few blocks: the flusher cannot keep up */
    bench_pin();
    (void)compare("record/a5-nobody-drains", time_scope_pair, time_floor_pair, "<=1.25", n);
    (void)osc_stop();
    remove_all(dir);
    return 0;
}
