/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

#include <string.h>

#include "base/mem.h"
#include "bench.h"

#define MADE_THREADS 16u
#define MADE_NAMES   500u
#define MADE_DEPTH   8u
#define DEPTH_MAX    256u

struct sums {
    int64_t *total_ns, *self_ns;
    uint32_t *n_calls, *n_open;
};

static void *room(size_t n, size_t size)
{
    void *const p = osc_pages_alloc(n * size);

    if (!p) {
        fputs("sweep: out of memory\n", stderr);
        exit(1);
    }
    memset(p, 0, n * size);
    return p;
}

void bench_slices_init(struct bench_slices *s, uint32_t n, uint32_t n_threads, uint32_t n_names)
{
    *s = (struct bench_slices){.n_threads = n_threads, .n_names = n_names};
    s->name = room(n, sizeof *s->name);
    s->ts_ns = room(n, sizeof *s->ts_ns);
    s->dur_ns = room(n, sizeof *s->dur_ns);
    s->first = room((size_t)n_threads + 1, sizeof *s->first);
}

static uint64_t next_random(void)
{
    static uint64_t x = 88172645463325252u;

    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
}

/* A slice from AT_NS with what it calls. Returns its end. */
static int64_t make_slice(struct bench_slices *s, int64_t at_ns, uint32_t depth, uint32_t limit)
{
    if (s->n >= limit)
        return at_ns;
    const uint32_t i = s->n++;
    const uint64_t n_calls = depth < MADE_DEPTH ? next_random() % 3 : 0;
    int64_t end_ns = at_ns + (int64_t)(next_random() % 300);

    for (uint64_t k = 0; k < n_calls; k++)
        end_ns = make_slice(s, end_ns, depth + 1, limit) + (int64_t)(next_random() % 200);
    end_ns += (int64_t)(next_random() % 1000);
    s->name[i] =
        (uint32_t)(next_random() % MADE_NAMES * (next_random() % MADE_NAMES)) / MADE_NAMES;
    s->ts_ns[i] = at_ns;
    s->dur_ns[i] = end_ns - at_ns;
    return end_ns;
}

void bench_slices_make(struct bench_slices *s, uint32_t n)
{
    bench_slices_init(s, n, MADE_THREADS, MADE_NAMES);
    for (uint32_t k = 0; k < MADE_THREADS; k++) {
        const uint32_t limit = n / MADE_THREADS * (k + 1);
        int64_t at_ns = 1000000000 + 17 * k;

        while (s->n < limit)
            at_ns = make_slice(s, at_ns, 0, limit) + (int64_t)(next_random() % 5000);
        s->first[k + 1] = s->n;
    }
}

static void sweep(const struct bench_slices *s, struct sums *sums)
{
    int64_t end_ns[DEPTH_MAX];
    uint32_t name[DEPTH_MAX];

    for (uint32_t k = 0; k < s->n_threads; k++) {
        uint32_t depth = 0;

        for (uint32_t i = s->first[k]; i < s->first[k + 1]; i++) {
            const uint32_t own = s->name[i];

            while (depth > 0 && end_ns[depth - 1] <= s->ts_ns[i])
                sums->n_open[name[--depth]]--;
            if (depth > 0)
                sums->self_ns[name[depth - 1]] -= s->dur_ns[i];
            if (sums->n_open[own]++ == 0)
                sums->total_ns[own] += s->dur_ns[i];
            sums->self_ns[own] += s->dur_ns[i];
            sums->n_calls[own]++;
            end_ns[depth] = s->ts_ns[i] + s->dur_ns[i];
            name[depth] = own;
            depth += depth + 1 < DEPTH_MAX;
        }
        while (depth > 0)
            sums->n_open[name[--depth]]--;
    }
}

double bench_sweep_ns(const struct bench_slices *s)
{
    struct sums sums = {room(s->n_names, 8), room(s->n_names, 8), room(s->n_names, 4),
                        room(s->n_names, 4)};
    const double start = bench_cpu_s();

    sweep(s, &sums);
    return (bench_cpu_s() - start) * 1e9 / s->n;
}
