/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - measure writing a trace and opening the result.
 *
 *   export FILE [REPETITIONS]
 *
 * Chrome's JSON is compared, per byte, with a loop that writes such records from columns with a
 * table of digits (L-text); compressed, with the deflater alone on the same text, and one core
 * with two. The text is discarded. Then .osc is written to a file without a name; opening it
 * and checking all columns is compared with mapping the file, adding up its words and unmapping
 * it (L-map). The file is in the page cache.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "codec/deflate.h"
#include "export/export.h"
#include "import/import.h"

static void require(osc_status st)
{
    if (st == OSC_OK)
        return;
    fprintf(stderr, "export: %s\n", osc_status_text(st));
    exit(1);
}

/* --- L-text ----------------------------------------------------------------------------------
 */

enum { RECORDS = 2000000, NAMES = 512 };

struct record {
    uint32_t name, pid, tid;
    uint64_t ts, dur, correlation;
};

static char names[NAMES][48];
static uint32_t name_len[NAMES];
static char digits[200]; /* "00" to "99" */

static uint64_t next_random(void)
{
    static uint64_t x = 88172645463325252u;

    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
}

static struct record *make_records(void)
{
    struct record *const r = malloc(RECORDS * sizeof *r);
    uint64_t ts = 1669783687464181000;

    for (int i = 0; i < 100; i++) {
        digits[2 * i] = (char)('0' + i / 10);
        digits[2 * i + 1] = (char)('0' + i % 10);
    }
    for (uint32_t i = 0; i < NAMES; i++)
        name_len[i] =
            (uint32_t)snprintf(names[i], sizeof names[i], "aten::operator_number_%u_%s", i,
                               i & 1 ? "backward" : "fwd");
    for (uint32_t i = 0; i < RECORDS; i++, ts += next_random() % 2000)
        r[i] = (struct record){(uint32_t)(next_random() % NAMES),
                               783658,
                               783658 + (uint32_t)(next_random() & 7),
                               ts,
                               next_random() % 100000,
                               i};
    return r;
}

/* Write pairs of digits from a table into a scratch buffer, and copy them. */
static char *put_number(char *p, uint64_t v)
{
    char text[24];
    int i = sizeof text;

    for (; v >= 100; v /= 100)
        memcpy(text + (i -= 2), digits + 2 * (v % 100), 2);
    memcpy(text + (i -= 2), digits + 2 * v, 2);
    i += v < 10;
    memcpy(p, text + i, sizeof text - (size_t)i);
    return p + sizeof text - i;
}

static char *put_micros(char *p, uint64_t ns)
{
    const uint64_t part = ns % 1000;

    p = put_number(p, ns / 1000);
    *p++ = '.';
    *p = (char)('0' + part / 100);
    memcpy(p + 1, digits + 2 * (part % 100), 2);
    return p + 3;
}

#define PUT(p, literal) ((char *)memcpy(p, literal, sizeof(literal) - 1) + sizeof(literal) - 1)

/* Write all records through a buffer. Returns the number of bytes. */
static size_t write_records(const struct record *records)
{
    static char room[1 << 16];
    size_t n_bytes = 0;
    char *p = room;

    for (const struct record *r = records; r < records + RECORDS; r++) {
        p = PUT(p, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"");
        memcpy(p, names[r->name], sizeof names[r->name]);
        p = PUT(p + name_len[r->name], "\",\"pid\":");
        p = PUT(put_number(p, r->pid), ",\"tid\":");
        p = PUT(put_number(p, r->tid), ",\"ts\":");
        p = PUT(put_micros(p, r->ts), ",\"dur\":");
        p = PUT(put_micros(p, r->dur), ",\"args\":{\"correlation\":");
        p = PUT(put_number(p, r->correlation), "}},\n");
        if (p - room > (ptrdiff_t)sizeof room - 1024) {
            n_bytes += (size_t)(p - room);
            p = room;
        }
    }
    return n_bytes + (size_t)(p - room);
}

/* --- the exporters ------------------------------------------------------------------------ */

/* Where the text goes; all members are optional. */
struct sink {
    struct osc_deflate *z; /* compresses it */
    FILE *out;             /* gets it */
    size_t n_bytes;
    double deflate_s; /* spent in Z */
};

static osc_status take(void *ctx, const char *s, size_t len)
{
    struct sink *const k = ctx;
    struct osc_deflate_sum sum = {0};
    const char *packed;
    size_t packed_len;

    k->n_bytes += len;
    if (k->z) {
        const double start = bench_cpu_s();

        require(osc_deflate_block(k->z, s, len, &packed, &packed_len));
        osc_deflate_sum_add(&sum, s, len);
        k->deflate_s += bench_cpu_s() - start;
    }
    return !k->out || fwrite(s, 1, len, k->out) == len ? OSC_OK : OSC_EIO;
}

/* Write T as FORM to K. Returns seconds by CLOCK. */
static double export(struct osc_trace *t, const char *form, unsigned n_threads, clockid_t clock,
                     struct sink *k)
{
    const struct osc_export x = {
        .traces = &t, .n_traces = 1, .n_threads = n_threads, .sink = {.write = take, .ctx = k}};
    const double start = bench_clock_s(clock);

    require(osc_exporter_find(form)->write(&x, NULL));
    return bench_clock_s(clock) - start;
}

static void measure_text(struct osc_trace *t, int n)
{
    const struct record *const records = make_records();
    struct osc_deflate *z = NULL;

    if (osc_deflate_is_there())
        require(osc_deflate_new(OSC_DEFLATE_SMALL, &z));
    for (int i = 0; i < n; i++) {
        struct sink plain = {.n_bytes = 0}, apart = {.z = z}, packed = {.n_bytes = 0};

        bench_pin(1);
        const double start = bench_cpu_s();
        const double n_loop_bytes = (double)write_records(records);
        bench_sample("loop", (bench_cpu_s() - start) / n_loop_bytes);
        const double plain_s = export(t, "json", 1, CLOCK_THREAD_CPUTIME_ID, &plain);
        bench_sample("text", plain_s / (double)plain.n_bytes);
        if (!z)
            continue;
        (void)export(t, "json", 1, CLOCK_THREAD_CPUTIME_ID, &apart);
        bench_sample("deflate", apart.deflate_s);
        bench_sample("gz", export(t, "json.gz", 1, CLOCK_THREAD_CPUTIME_ID, &packed));
        bench_sample("packed", (double)packed.n_bytes / (double)plain.n_bytes);
        bench_pin(0);
        bench_sample("one", export(t, "json.gz", 1, CLOCK_MONOTONIC, &plain));
        bench_sample("two", export(t, "json.gz", 2, CLOCK_MONOTONIC, &plain));
    }
}

/* --- opening ---------------------------------------------------------------------------------
 */

/* L-map: map the SIZE bytes of FD and return the sum of their words. */
static uint64_t add_up(int fd, size_t size)
{
    const uint64_t *const p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    uint64_t sums[4] = {0};

    if (p == MAP_FAILED)
        exit(1);
    for (size_t i = 0; i + 4 <= size / sizeof *p; i += 4)
        for (unsigned k = 0; k < 4; k++)
            sums[k] += p[i + k];
    munmap((void *)(uintptr_t)p, size);
    return sums[0] + sums[1] + sums[2] + sums[3];
}

/* Open and check OUT with N_THREADS; SAMPLE has the names of the samples: opened, checked,
 * added up. */
static void reopen(FILE *out, unsigned n_threads, clockid_t clock, const char *const sample[3])
{
    const struct osc_import_options o = {.n_threads = n_threads};
    struct osc_trace t = {0};
    struct stat info;
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(out));
    double start = bench_clock_s(clock);
    require(osc_import_path(&t, path, &o, NULL));
    bench_sample(sample[0], bench_clock_s(clock) - start);
    require(osc_trace_touch(&t, n_threads, NULL));
    osc_trace_fini(&t);
    bench_sample(sample[1], bench_clock_s(clock) - start);

    start = bench_clock_s(clock);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        exit(1);
    volatile const uint64_t sum = add_up(fd, (size_t)info.st_size);
    (void)sum;
    close(fd);
    bench_sample(sample[2], bench_clock_s(clock) - start);
}

int main(int argc, char **argv)
{
    static const char *const core[] = {"core-open", "core-check", "core-map"};
    static const char *const all[] = {"all-open", "all-check", "all-map"};
    const struct osc_import_options o = {.n_threads = 0};
    const int n = bench_rounds(argc, argv, 2, 5);
    struct sink columns = {.out = tmpfile()};
    struct osc_trace t = {0};

    if (argc < 2 || !columns.out)
        return 2;
    require(osc_import_path(&t, argv[1], &o, NULL));
    measure_text(&t, n);
    bench_sample("osc", export(&t, "osc", 0, CLOCK_MONOTONIC, &columns));
    bench_sample("osc-bytes", (double)columns.n_bytes);
    osc_trace_fini(&t);
    if (fflush(columns.out) != 0)
        return 1;
    for (int i = 0; i < 3 * n; i++) {
        bench_pin(1);
        reopen(columns.out, 1, CLOCK_THREAD_CPUTIME_ID, core);
        bench_pin(0);
        reopen(columns.out, 0, CLOCK_MONOTONIC, all);
    }
    return 0;
}
