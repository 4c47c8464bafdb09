/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reopen.c - opening our own columns against reading them at all.
 *
 *   reopen FILE [REPETITIONS]
 *
 * FILE is exported to .osc, in a file without a name. Limit: opening that and checking
 * all columns takes at most twice as long as mapping the file and adding up its words
 * (L-map), the unmapping included, on one core. The file is in the page cache. Shown apart:
 * all processors against one that adds up, and opening alone.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "export/export.h"
#include "import/import.h"

static osc_status put(void *ctx, const char *s, size_t len)
{
    return fwrite(s, 1, len, ctx) == len ? OSC_OK : OSC_EIO;
}

/* Write FILE's columns to OUT; the seconds that took go to *S. */
static osc_status export(const char *file, FILE *out, double *s, uint64_t *n_events,
                         struct osc_err *err)
{
    const struct osc_import_options o = {.n_threads = 0};
    struct osc_trace t = {0}, *const traces[] = {&t};
    const struct osc_export x = {
        .traces = traces, .n_traces = 1, .sink = {.write = put, .ctx = out}};
    osc_status st = osc_import_path(&t, file, &o, err);
    const double start = bench_wall_s();

    if (st == OSC_OK)
        st = osc_exporter_find("osc")->write(&x, err);
    if (st == OSC_OK && fflush(out) != 0)
        st = OSC_EIO;
    *s = bench_wall_s() - start;
    *n_events = t.events.n_rows;
    osc_trace_fini(&t);
    return st;
}

/* Seconds of L-map, by CLOCK. */
static double add_up(const char *path, clockid_t clock, uint64_t *sum)
{
    const double start = bench_clock_s(clock);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;

    if (fd < 0 || fstat(fd, &info) != 0)
        exit(1);
    const size_t size = (size_t)info.st_size;
    const uint64_t *const p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        exit(1);
    uint64_t sums[4] = {0};
    for (size_t i = 0; i + 4 <= size / sizeof *p; i += 4)
        for (unsigned k = 0; k < 4; k++)
            sums[k] += p[i + k];
    munmap((void *)(uintptr_t)p, size);
    close(fd);
    *sum += sums[0] + sums[1] + sums[2] + sums[3];
    return bench_clock_s(clock) - start;
}

/* Seconds for all of it, by CLOCK; opening alone goes to *OPEN. */
static double reopen(const char *path, unsigned n_threads, clockid_t clock,
                     struct bench_times *open)
{
    const struct osc_import_options o = {.n_threads = n_threads};
    struct osc_trace t = {0};
    struct osc_err err = {0};
    const double start = bench_clock_s(clock);
    osc_status st = osc_import_path(&t, path, &o, &err);

    bench_add(open, bench_clock_s(clock) - start);
    if (st == OSC_OK)
        st = osc_trace_touch(&t, n_threads, &err);
    osc_trace_fini(&t);
    if (st != OSC_OK) {
        fprintf(stderr, "reopen: %s\n", err.message);
        exit(1);
    }
    return bench_clock_s(clock) - start;
}

int main(int argc, char **argv)
{
    const int n = bench_repetitions(argc, argv, 2, 15);
    struct bench_times ours = {0}, map = {0}, core = {0}, core_map = {0}, open = {0};
    struct osc_err err = {0};
    FILE *const out = tmpfile();
    struct stat in, written;
    uint64_t n_events = 0, sum = 0;
    double export_s = 0;
    char path[64];

    if (argc < 2 || !out || stat(argv[1], &in) != 0) {
        fputs("usage: reopen FILE [REPETITIONS]\n", stderr);
        return 2;
    }
    if (export(argv[1], out, &export_s, &n_events, &err) != OSC_OK ||
        fstat(fileno(out), &written) != 0) {
        fprintf(stderr, "reopen: %s\n", err.message);
        return 1;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(out));
    for (int i = 0; i < n; i++) {
        bench_add(&map, add_up(path, CLOCK_MONOTONIC, &sum));
        bench_add(&ours, reopen(path, 0, CLOCK_MONOTONIC, &open));
    }
    bench_pin();
    for (int i = 0; i < n; i++) {
        bench_add(&core_map, add_up(path, CLOCK_THREAD_CPUTIME_ID, &sum));
        bench_add(&core, reopen(path, 1, CLOCK_THREAD_CPUTIME_ID, &open));
    }
    const double mb = (double)written.st_size / 1e6;
    bench_report("reopen", bench_best(&core) / bench_best(&core_map), "<=2.00",
                 "by mapping and adding up %.0f MB, one core, shortest of %d: %.1f by %.1f ms",
                 mb, n, bench_best(&core) * 1e3, bench_best(&core_map) * 1e3);
    bench_report("reopen/all", bench_best(&ours) / bench_best(&map), "-",
                 "all processors by one that adds up, wall time: %.1f by %.1f ms",
                 bench_best(&ours) * 1e3, bench_best(&map) * 1e3);
    bench_report("reopen/open", bench_best(&open) / bench_best(&map), "-",
                 "opening without a look at columns: %.2f ms (sum %u)", bench_best(&open) * 1e3,
                 (unsigned)(sum & 1));
    bench_report("export/osc", (double)written.st_size / (double)in.st_size, "-",
                 "size by the original's %.0f MB; %.1f bytes an event; written in %.3f s, %.2f "
                 "GB/s",
                 (double)in.st_size / 1e6, (double)written.st_size / (double)n_events, export_s,
                 mb / 1e3 / export_s);
    fclose(out);
    return 0;
}
