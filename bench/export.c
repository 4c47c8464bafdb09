/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - writing Chrome's JSON against writing text at all.
 *
 *   export FILE [REPETITIONS]
 *
 * Limits: text out costs at most 1.2 times what a loop costs that writes records of
 * the same kind from columns with a table of digits (L-text), per byte; compressed
 * it costs at most 10 % more than the deflater alone on the same text; two cores
 * compress 1.8 times as fast as one. Nothing is kept of what is written.
 */
#include <string.h>

#include "bench.h"
#include "codec/deflate.h"
#include "export/export.h"
#include "import/import.h"

#define N_RECORDS 2000000u
#define N_NAMES   512u

/* A record of the loop, as the reference has it: 40 bytes. */
struct record {
    uint32_t name, pid, tid;
    uint64_t ts, dur, correlation;
};

struct names {
    char text[N_NAMES][48];
    uint32_t len[N_NAMES];
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void fill(struct record *records, struct names *names)
{
    uint64_t random = 88172645463325252, ts = 1669783687464181000;

    for (uint32_t i = 0; i < N_NAMES; i++)
        names->len[i] =
            (uint32_t)snprintf(names->text[i], sizeof names->text[i],
                               "aten::operator_number_%u_%s", i, i & 1 ? "backward" : "fwd");
    for (uint32_t i = 0; i < N_RECORDS; i++) {
        records[i] = (struct record){(uint32_t)(next_random(&random) % N_NAMES),
                                     783658,
                                     783658 + (uint32_t)(next_random(&random) & 7),
                                     ts,
                                     next_random(&random) % 100000,
                                     i};
        ts += next_random(&random) % 2000;
    }
}

#define TEN(d) d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9"

/* An array of 200 holds no terminator. */
static const char pairs[200] =
    TEN("0") TEN("1") TEN("2") TEN("3") TEN("4") TEN("5") TEN("6") TEN("7") TEN("8") TEN("9");

/* Digits as L-text has them: pairs from a table, into a scratch, then copied. */
static char *put_number(char *p, uint64_t v)
{
    char text[24];
    int i = sizeof text;

    while (v >= 100) {
        i -= 2;
        memcpy(text + i, pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10) {
        i -= 2;
        memcpy(text + i, pairs + 2 * v, 2);
    } else {
        text[--i] = (char)('0' + v);
    }
    const size_t len = sizeof text - (size_t)i;
    memcpy(p, text + i, len);
    return p + len;
}

static char *put_micros(char *p, uint64_t ns)
{
    const uint64_t part = ns % 1000;

    p = put_number(p, ns / 1000);
    *p++ = '.';
    *p = (char)('0' + part / 100);
    memcpy(p + 1, pairs + 2 * (part % 100), 2);
    return p + 3;
}

static char *put(char *p, const char *literal, size_t len)
{
    memcpy(p, literal, len);
    return p + len;
}

#define LITERAL(p, s) put(p, s, sizeof(s) - 1)

/* L-text: all records through a buffer; returns how many bytes they are. */
static size_t write_records(const struct record *records, const struct names *names, char *room,
                            size_t n_room)
{
    size_t n_bytes = 0;
    char *p = room;

    for (uint32_t i = 0; i < N_RECORDS; i++) {
        const struct record *const r = &records[i];

        p = LITERAL(p, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"");
        memcpy(p, names->text[r->name], sizeof names->text[r->name]);
        p = LITERAL(p + names->len[r->name], "\",\"pid\":");
        p = LITERAL(put_number(p, r->pid), ",\"tid\":");
        p = LITERAL(put_number(p, r->tid), ",\"ts\":");
        p = LITERAL(put_micros(p, r->ts), ",\"dur\":");
        p = LITERAL(put_micros(p, r->dur), ",\"args\":{\"correlation\":");
        p = LITERAL(put_number(p, r->correlation), "}},\n");
        if ((size_t)(p - room) > n_room - 1024) {
            n_bytes += (size_t)(p - room);
            p = room;
        }
    }
    return n_bytes + (size_t)(p - room);
}

/* What becomes of the text. */
struct sink {
    struct osc_deflate *z; /* compress it here, or NULL */
    size_t n_bytes;
    double deflate_s; /* spent in it */
};

static osc_status take(void *ctx, const char *s, size_t len)
{
    struct sink *const k = ctx;
    struct osc_deflate_sum sum = {0};
    const char *packed;
    size_t packed_len;
    osc_status st = OSC_OK;

    k->n_bytes += len;
    if (k->z) {
        const double start = bench_cpu_s();

        st = osc_deflate_block(k->z, s, len, &packed, &packed_len);
        osc_deflate_sum_add(&sum, s, len);
        k->deflate_s += bench_cpu_s() - start;
    }
    return st;
}

static osc_status export(struct osc_trace *t, const char *form, unsigned n_threads,
                         struct sink *k, struct osc_err *err)
{
    const struct osc_export x = {
        .traces = &t, .n_traces = 1, .n_threads = n_threads, .sink = {.write = take, .ctx = k}};

    return osc_exporter_find(form)->write(&x, err);
}

/* Times of one repetition. */
struct times {
    struct bench_times loop, plain, deflate, packed, one, two;
    size_t loop_bytes, plain_bytes, packed_bytes;
};

static osc_status measure(struct times *times, struct osc_trace *t, struct osc_deflate *z,
                          struct osc_err *err)
{
    struct sink plain = {.n_bytes = 0}, apart = {.z = z}, packed = {.n_bytes = 0};
    double start = bench_cpu_s();
    osc_status st = export(t, "json", 1, &plain, err);

    bench_add(&times->plain, bench_cpu_s() - start);
    if (st == OSC_OK && z)
        st = export(t, "json", 1, &apart, err);
    bench_add(&times->deflate, apart.deflate_s);
    start = bench_cpu_s();
    if (st == OSC_OK && z)
        st = export(t, "json.gz", 1, &packed, err);
    bench_add(&times->packed, bench_cpu_s() - start);
    times->plain_bytes = plain.n_bytes;
    times->packed_bytes = packed.n_bytes;
    return st;
}

/* Wall time with one thread and with two, which may use all processors. */
static osc_status measure_cores(struct times *times, struct osc_trace *t, struct osc_err *err)
{
    osc_status st = OSC_OK;

    for (unsigned n = 1; n <= 2 && st == OSC_OK; n++) {
        struct sink k = {.n_bytes = 0};
        const double start = bench_wall_s();

        st = export(t, "json.gz", n, &k, err);
        bench_add(n == 1 ? &times->one : &times->two, bench_wall_s() - start);
    }
    return st;
}

static void report(const struct times *times, bool is_packed)
{
    const double loop = bench_best(&times->loop) / (double)times->loop_bytes;
    const double plain = bench_best(&times->plain) / (double)times->plain_bytes;

    bench_report("export/text", plain / loop, "<=1.20",
                 "per byte, by a loop of records: %.2f by %.2f GB/s", 1e-9 / plain,
                 1e-9 / loop);
    if (!is_packed)
        return;
    bench_report("export/gz", bench_best(&times->packed) / bench_best(&times->deflate),
                 "<=1.10", "by the deflater alone: %.3f by %.3f s; %.1f %% of the text",
                 bench_best(&times->packed), bench_best(&times->deflate),
                 100.0 * (double)times->packed_bytes / (double)times->plain_bytes);
    bench_report("export/gz-cores", bench_best(&times->one) / bench_best(&times->two), ">=1.80",
                 "one core by two: %.3f by %.3f s", bench_best(&times->one),
                 bench_best(&times->two));
}

int main(int argc, char **argv)
{
    static char room[1 << 16];
    static struct names names;
    const int n = bench_repetitions(argc, argv, 2, 5);
    const struct osc_import_options o = {.n_threads = 1};
    struct record *const records = malloc(N_RECORDS * sizeof *records);
    struct times times = {.loop_bytes = 0};
    struct osc_deflate *z = NULL;
    struct osc_trace t = {0};
    struct osc_err err = {0};
    cpu_set_t all;
    osc_status st = argc < 2 || !records ? OSC_EINVAL : OSC_OK;

    if (st == OSC_OK)
        st = osc_import_path(&t, argv[1], &o, &err);
    if (st == OSC_OK && osc_deflate_is_there())
        st = osc_deflate_new(&z);
    if (st == OSC_OK)
        fill(records, &names);
    (void)sched_getaffinity(0, sizeof all, &all);
    bench_pin();
    for (int i = 0; i < n && st == OSC_OK; i++) {
        const double start = bench_cpu_s();

        times.loop_bytes = write_records(records, &names, room, sizeof room);
        bench_add(&times.loop, bench_cpu_s() - start);
        st = measure(&times, &t, z, &err);
    }
    (void)sched_setaffinity(0, sizeof all, &all);
    for (int i = 0; i < n && st == OSC_OK && z; i++)
        st = measure_cores(&times, &t, &err);
    if (st == OSC_OK)
        report(&times, z != NULL);
    else
        fprintf(stderr, "export: %s\n", argc > 1 ? err.message : "usage: export FILE [N]");
    osc_deflate_free(z);
    osc_trace_fini(&t);
    free(records);
    return st == OSC_OK ? 0 : 1;
}
