/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush.c - what the flusher costs, how large its file is, and whether it keeps up.
 *
 *   flush [REPETITIONS]     the measures of a10, and unpacking
 *   flush soak [MILLIONS]   that many million scopes (100) on two threads at five
 *                           million a second each: lost records, memory at ten times
 *
 * The program that is recorded has a thousand names and scopes of 0.1 to 10 us in each
 * other, written at given times, so that it takes no longer than the calls do. Its speed
 * is held at five million scopes a second: nothing may be lost. The flusher's time is the
 * kernel's of its thread.
 */
#include "bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <opscope/record.h>

#include "wire/chunk.h"
#include "wire/pack.h"

enum { NAMES = 1000, SCOPES = 4000000, DEPTH = 6 };
#define SCOPES_A_SECOND 5e6

static osc_name names[NAMES];
static char dir[] = "/tmp/opscope-flush-XXXXXX", out[64];

/* --- the program ------------------------------------------------------------------------ */

static uint32_t next_random(uint32_t *seed)
{
    return *seed = *seed * 1664525 + 1013904223;
}

/* DEPTH scopes in each other, from TICKS on; when they end. */
static uint64_t nest(uint64_t ticks, uint32_t *seed)
{
    for (int i = 0; i < DEPTH; i++) {
        const uint32_t r = next_random(seed) >> 8;
        osc_begin_at(OSC_SCOPE_OPERATOR, names[r % NAMES], ticks += 200 + r % 5000);
    }
    for (int i = 0; i < DEPTH; i++)
        osc_end_at(ticks += 200 + (next_random(seed) >> 8) % 5000);
    return ticks;
}

struct work {
    uint32_t seed;
    long n; /* scopes */
};

static void *record_scopes(void *arg)
{
    struct work *w = arg;
    const double start = bench_wall_s();
    uint64_t ticks = osc_now();

    for (long i = 0; i < w->n; i += DEPTH) {
        if (i % (DEPTH * 1000) == 0)
            while ((double)i > (bench_wall_s() - start) * SCOPES_A_SECOND)
                (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        ticks = nest(ticks, &w->seed);
    }
    return NULL;
}

static void run(int n_threads, long n)
{
    struct work work[2] = {{1, n}, {2, n}};
    pthread_t threads[2];

    for (int i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, record_scopes, &work[i]) != 0)
            exit(1);
    for (int i = 0; i < n_threads; i++)
        (void)pthread_join(threads[i], NULL);
}

static void start(void)
{
    char name[32];
    const struct osc_start_options options = {.size = sizeof options, .out = out};

    if (osc_start(&options) != OSC_OK) {
        fputs("flush: cannot record\n", stderr);
        exit(1);
    }
    for (int i = 0; i < NAMES; i++) {
        (void)snprintf(name, sizeof name, "aten::operator_%d", i);
        names[i] = osc_name_c(name);
    }
}

static uint64_t n_lost(void)
{
    struct osc_losses lost;

    osc_losses_get(&lost);
    return lost.full;
}

/* --- what the kernel says
 * --------------------------------------------------------------------- */

/* Seconds of the processor that our thread named "opscope" has had. */
static double flusher_s(void)
{
    DIR *d = opendir("/proc/self/task");
    char path[300], comm[32];
    double ns = 0;

    for (const struct dirent *e; d && (e = readdir(d));) {
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        const bool is_ours = f && fgets(comm, sizeof comm, f) && strcmp(comm, "opscope\n") == 0;
        if (f)
            (void)fclose(f);
        if (!is_ours)
            continue;
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", e->d_name);
        f = fopen(path, "r");
        if (f && fscanf(f, "%lf", &ns) != 1)
            ns = 0;
        if (f)
            (void)fclose(f);
    }
    if (d)
        (void)closedir(d);
    return ns * 1e-9;
}

static double resident_mib(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        (void)fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

/* --- measures
 * ------------------------------------------------------------------------------------ */

static double file_bytes(void)
{
    struct stat st;

    return stat(out, &st) == 0 ? (double)st.st_size : 0;
}

static void measure_flusher(int n)
{
    struct bench_times cost = {0}, size = {0};
    uint64_t lost = 0;

    for (int i = 0; i < n; i++) {
        start();
        run(1, 1000);
        const double before = flusher_s();
        run(1, SCOPES);
        (void)osc_dump();
        bench_add(&cost, (flusher_s() - before) * 1e9 / (2.0 * SCOPES));
        lost += n_lost();
        (void)osc_stop();
        bench_add(&size, file_bytes() / SCOPES);
    }
    bench_report("flush/a10-ns-a-record", bench_steady(&cost), "<=5.00",
                 "processor time of the flusher, %.2f ns; %llu records lost",
                 bench_steady(&cost), (unsigned long long)lost);
    bench_report("flush/a10-bytes-a-scope", bench_steady(&size), "<=16.00",
                 "all of the file, %.2f bytes", bench_steady(&size));
}

/* Unpack all records of the LEN bytes of a file; how many. */
static uint64_t unpack(const unsigned char *bytes, size_t len, uint64_t *sum)
{
    struct osc_wire_header h;
    uint64_t n = 0;

    for (size_t at = sizeof(struct osc_file_header); at + sizeof h <= len;
         at += osc_wire_chunk_bytes(h.payload_bytes)) {
        memcpy(&h, bytes + at, sizeof h);
        const unsigned char *const payload = bytes + at + sizeof h;
        struct osc_pack_segment s;
        size_t next = 0;

        while (h.type == OSC_CHUNK_RECORDS &&
               osc_pack_next_segment(payload, h.payload_bytes, &next, &s)) {
            const unsigned char *const end = payload + next;
            struct osc_unpack u = {.at = end - s.n_bytes, .end = end, .ticks = s.start_ticks};
            struct osc_packed r;

            for (; osc_unpack_next(&u, &r); n++)
                *sum += r.ticks + r.id;
        }
    }
    return n;
}

static void measure_unpacking(int n)
{
    const int fd = open(out, O_RDONLY | O_CLOEXEC);
    const size_t len = (size_t)file_bytes();
    unsigned char *bytes = malloc(len + 1);
    struct bench_times times = {0};
    uint64_t n_records = 0, sum = 0;

    if (fd < 0 || !bytes || read(fd, bytes, len) != (ssize_t)len)
        exit(1);
    bench_pin();
    for (int i = 0; i < n; i++) {
        const double before = bench_cpu_s();
        n_records = unpack(bytes, len, &sum);
        bench_add(&times, (bench_cpu_s() - before) * 1e9 / (double)n_records);
    }
    bench_report("flush/unpack-M-a-second", 1e3 / bench_steady(&times), ">=100.00",
                 "million records a second and core, %llu records, sum %llu",
                 (unsigned long long)n_records, (unsigned long long)sum);
    free(bytes);
    close(fd);
}

static void soak(long millions)
{
    double first = 0, most = 0;
    uint64_t lost = 0;

    start();
    const double before = flusher_s(), began = bench_wall_s();
    for (int i = 0; i < 10; i++) {
        run(2, millions * 1000000 / 20);
        lost = n_lost();
        const double mib = resident_mib();
        printf(
            "soak: %ld million scopes, %.1f s, resident %.1f MiB, file %.0f MiB, %llu lost\n",
            millions * (i + 1) / 10, bench_wall_s() - began, mib, file_bytes() / 1048576,
            (unsigned long long)lost);
        first = i == 0 ? mib : first;
        most = mib > most ? mib : most;
    }
    const double cost = (flusher_s() - before) * 1e9 / (2e6 * (double)millions);
    const osc_status st = osc_stop();
    bench_report("flush/soak-memory", most / first, "<=1.10", "%.1f MiB at most", most);
    bench_report("flush/soak-lost", (double)lost, "<=0",
                 "of %ld million scopes; stop: %d; %.2f "
                 "ns a record",
                 millions, (int)st, cost);
}

int main(int argc, char **argv)
{
    const bool is_soak = argc > 1 && strcmp(argv[1], "soak") == 0;

    if (!mkdtemp(dir))
        return 1;
    (void)snprintf(out, sizeof out, "%s/run.osc", dir);
    if (is_soak) {
        soak(argc > 2 ? atol(argv[2]) : 100);
    } else {
        const int n = bench_repetitions(argc, argv, 1, 7);
        measure_flusher(n);
        measure_unpacking(n);
    }
    (void)unlink(out);
    (void)rmdir(dir);
    return 0;
}
