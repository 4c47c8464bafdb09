/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.c - measure loading a trace and asking questions about it.
 *
 *   questions tables FILE [N]     all tables and their facts, compared with loading. Events
 *                                 are only counted: their table is as long as the file.
 *                                 Tables made of others (headlines) are asked afterwards, of
 *                                 a set that is loaded, and are not part of "all"
 *   questions operators FILE [N]  the table of operators, compared with the cheapest sweep:
 *                                 one pass over slices in columns, by thread and start, with
 *                                 a stack of the open ones; nested time of the same name
 *                                 counts once. It runs on 10 million made-up slices and on
 *                                 those of the trace. The table does more: it follows
 *                                 launches to device work and finds medians
 *   questions memory FILE [N]     the tables of memory for a range of time, once the trace is
 *                                 loaded and its facts are made: a third, a hundredth and all
 *                                 of the time that has records
 *   questions load|facts|views FILE THREADS
 *                                 for run.py, which measures the process from outside:
 *                                 load; then derive all facts; or make every table that
 *                                 TensorBoard's plugin shows, as JSON written to nowhere
 */
#include <malloc.h>
#include <string.h>

#include "analysis/table_registry.h"
#include "base/mem.h"
#include "bench.h"
#include "derive/derive.h"
#include "derive/facts.h"
#include "derive/select.h"
#include "import/import.h"
#include "opscope/trace.h"
#include "render/render.h"
#include "table/query.h"
#include "table/table_options.h"

enum { MADE_THREADS = 16, MADE_NAMES = 500, MADE_DEPTH = 8 };

static const struct osc_options plain = {.n_threads = 1};

static void require(osc_status st, const struct osc_err *err)
{
    if (st == OSC_OK)
        return;
    fprintf(stderr, "questions: %s\n", err->message);
    exit(1);
}

/* Load PATH. Returns processor seconds of this thread. */
static double load(struct osc_trace *t, const char *path, unsigned n_threads)
{
    const struct osc_import_options o = {.n_threads = n_threads};
    const double start = bench_cpu_s();
    struct osc_err err;

    *t = (struct osc_trace){0};
    require(osc_import_path(t, path, &o, &err), &err);
    return bench_cpu_s() - start;
}

/* Derive FACTS again. Returns processor seconds of this thread. */
static double derive(struct osc_trace *t, uint32_t facts, unsigned n_threads)
{
    const double start = bench_cpu_s();
    struct osc_err err;

    osc_derive_forget(t);
    require(osc_derive(t, facts, n_threads, &err), &err);
    return bench_cpu_s() - start;
}

static uint32_t all_facts(void)
{
    uint32_t facts = 0;

    for (int k = 0; osc_tables[k]; k++)
        facts |= osc_table_facts(osc_tables[k]);
    return facts;
}

static osc_status render_row(void *ctx, const struct osc_rows *rows)
{
    return osc_render_rows(ctx, rows);
}

static osc_status discard(void *ctx, const char *s, size_t len)
{
    (void)s;
    *(uint64_t *)ctx += len;
    return OSC_OK;
}

/*
 * Make the table DEF of T, and its text in JSON if N_BYTES is not NULL. *N_ROWS becomes the
 * number of rows. Returns processor seconds.
 */
static double ask(const struct osc_trace *t, const struct osc_table_def *def,
                  const struct osc_options *options, uint64_t *n_rows, uint64_t *n_bytes)
{
    struct osc_partial part;
    const struct osc_partial *const parts = &part;
    const struct osc_query q = {
        .def = def, .parts = &parts, .n_parts = 1, .options = options, .is_machine = true};
    const double start = bench_cpu_s();
    struct osc_answer a = {0};
    struct osc_render r = {.renderer = osc_renderer_find("json"),
                           .sheet = &a.sheet,
                           .write = discard,
                           .ctx = n_bytes};
    struct osc_err err;

    *n_rows = 0;
    if (def->stream && !n_bytes) {
        (void)def->stream->rows(t, options, n_rows);
        return bench_cpu_s() - start;
    }
    osc_partial_keep(&part, t);
    require(osc_query_run(&q, &a, &err), &err);
    *n_rows = a.n_blocks > 0 ? a.blocks[0].result.n_rows : 0;
    if (n_bytes) {
        require(osc_render_begin(&r), &err);
        require(osc_answer_rows(&q, &a, render_row, &r, &err), &err);
        require(osc_render_end(&r), &err);
        *n_rows = r.n_rows;
        osc_render_fini(&r);
    }
    osc_answer_fini(&a);
    return bench_cpu_s() - start;
}

/* The composed table NAME of the trace at PATH, which is loaded before. Processor seconds. */
static double ask_composed(const char *path, const char *name)
{
    const struct osc_question operators = {.table = "operators"}, question = {.table = name};
    const struct osc_how one = {.n_threads = 1};
    struct osc_err err = {0};
    struct osc_set *set;
    struct osc_frame *f;

    require(osc_set_open(&set, &path, 1, &one, &err), &err);
    require(osc_ask(set, NULL, &operators, &f, &err), &err); /* facts, which others need, too */
    osc_frame_release(f);
    const double start = bench_cpu_s();
    require(osc_ask(set, NULL, &question, &f, &err), &err);
    const double took = bench_cpu_s() - start;
    osc_frame_release(f);
    osc_set_release(set);
    return took;
}

static void measure_tables(const char *path, int n)
{
    for (int i = 0; i < n; i++) {
        struct osc_trace t;
        uint64_t n_rows;

        bench_sample("load", load(&t, path, 1));
        const double start = bench_cpu_s();
        bench_sample("derive", derive(&t, all_facts(), 1));
        for (int k = 0; osc_tables[k]; k++)
            if (!osc_tables[k]->composition && !osc_tables[k]->comparison)
                bench_sample(osc_tables[k]->name,
                             ask(&t, osc_tables[k], &plain, &n_rows, NULL));
        bench_sample("all", bench_cpu_s() - start);
        osc_trace_fini(&t);
        for (int k = 0; osc_tables[k]; k++)
            if (osc_tables[k]->composition)
                bench_sample(osc_tables[k]->name, ask_composed(path, osc_tables[k]->name));
    }
}

/* Slices, sorted by thread and start. */
struct slices {
    uint32_t *name;
    int64_t *ts_ns, *dur_ns;
    uint32_t *first; /* the first slice of each thread, and the end of the last */
    uint32_t n, n_threads, n_names;
};

/* Zeroed memory in pages like the analyser's. */
static void *room(size_t n, size_t size)
{
    void *const p = osc_pages_alloc(n * size);

    if (!p)
        exit(1);
    return memset(p, 0, n * size);
}

static struct slices make_room(uint32_t n, uint32_t n_threads, uint32_t n_names)
{
    return (struct slices){.name = room(n, sizeof(uint32_t)),
                           .ts_ns = room(n, sizeof(int64_t)),
                           .dur_ns = room(n, sizeof(int64_t)),
                           .first = room((size_t)n_threads + 1, sizeof(uint32_t)),
                           .n_threads = n_threads,
                           .n_names = n_names};
}

static uint32_t below(uint32_t n)
{
    static uint64_t x = 88172645463325252u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (uint32_t)(x % n);
}

/* Make a slice from AT_NS and the slices that it calls. Returns its end. */
static int64_t make_slice(struct slices *s, int64_t at_ns, uint32_t depth, uint32_t limit)
{
    if (s->n >= limit)
        return at_ns;
    const uint32_t i = s->n++, n_calls = depth < MADE_DEPTH ? below(3) : 0;
    int64_t end_ns = at_ns + below(300);

    for (uint32_t k = 0; k < n_calls; k++)
        end_ns = make_slice(s, end_ns, depth + 1, limit) + below(200);
    end_ns += below(1000);
    s->name[i] = below(MADE_NAMES) * below(MADE_NAMES) / MADE_NAMES;
    s->ts_ns[i] = at_ns;
    s->dur_ns[i] = end_ns - at_ns;
    return end_ns;
}

static struct slices make_slices(void)
{
    const uint32_t n = bench_is_smoke() ? 100000 : 10000000;
    struct slices s = make_room(n, MADE_THREADS, MADE_NAMES);

    for (uint32_t k = 0; k < MADE_THREADS; k++) {
        const uint32_t limit = n / MADE_THREADS * (k + 1);
        int64_t at_ns = 1000000000 + 17 * k;

        while (s.n < limit)
            at_ns = make_slice(&s, at_ns, 0, limit) + below(5000);
        s.first[k + 1] = s.n;
    }
    return s;
}

static struct slices copy_slices(const struct osc_trace *t)
{
    const struct osc_order *const order = &osc_trace_facts(t)->order;
    struct slices s = make_room(order->n_rows, t->n_tracks, osc_strings_bound(&t->strings));

    memcpy(s.first, order->first, sizeof *s.first * ((size_t)t->n_tracks + 1));
    for (; s.n < order->n_rows; s.n++) {
        const osc_row row = {order->rows[s.n]};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t i = osc_row_place(row);

        s.name[s.n] = c->name[i];
        s.ts_ns[s.n] = c->ts_ns[i];
        s.dur_ns[s.n] = c->dur_ns[i];
    }
    return s;
}

/* Number of calls, own time and total time of every name. */
struct sums {
    int64_t *total_ns, *self_ns;
    uint32_t *n_calls, *n_open;
};

static void sweep(const struct slices *s, struct sums *sums)
{
    enum { DEPTH_MAX = 256 };
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

/* Nanoseconds of processor time per slice. */
static double sweep_ns(const struct slices *s)
{
    struct sums sums = {room(s->n_names, 8), room(s->n_names, 8), room(s->n_names, 4),
                        room(s->n_names, 4)};
    const double start = bench_cpu_s();

    sweep(s, &sums);
    return (bench_cpu_s() - start) * 1e9 / s->n;
}

static void measure_operators(const char *path, int n)
{
    struct slices made = {0}, copied = {0};
    struct osc_trace t;
    uint64_t n_rows;

    (void)load(&t, path, 1);
    for (int i = 0; i < n; i++) {
        const double facts_s = derive(&t, osc_table_facts(&osc_table_operators), 1);
        const double table_s = ask(&t, &osc_table_operators, &plain, &n_rows, NULL);

        if (i == 0) {
            made = make_slices();
            copied = copy_slices(&t);
        }
        bench_sample("table", table_s * 1e9 / copied.n);
        bench_sample("both", (facts_s + table_s) * 1e9 / copied.n);
        bench_sample("made", sweep_ns(&made));
        bench_sample("sweep", sweep_ns(&copied));
    }
    osc_trace_fini(&t);
}

/* Part number PART of COUNT of the time that has records of memory. */
static struct osc_selection memory_range(const struct osc_trace *t, int part, int count)
{
    const struct osc_allocations *const a = &osc_trace_facts(t)->allocations;
    int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;

    for (uint32_t d = 0; d < a->n_devices; d++) {
        const int64_t first_ns = a->records[a->devices[d].first].time_ns;
        const int64_t last_ns = a->records[a->devices[d].first + a->devices[d].n - 1].time_ns;

        from_ns = first_ns < from_ns ? first_ns : from_ns;
        to_ns = last_ns > to_ns ? last_ns : to_ns;
    }
    const int64_t part_ns = (to_ns - from_ns) / count;
    const int64_t start_ns = from_ns + part * part_ns - t->origin_ns;

    return (struct osc_selection){
        .has_from = true, .from_ns = start_ns, .has_to = true, .to_ns = start_ns + part_ns + 1};
}

static void measure_memory(const char *path, int n)
{
    static const struct osc_table_def *const defs[] = {
        &osc_table_memory, &osc_table_memory_events, &osc_table_memory_curve,
        &osc_table_memory_peaks};
    static const struct {
        const char *name;
        int part, count;
    } ranges[] = {{"third", 1, 3}, {"hundredth", 50, 100}, {"all", 0, 1}};
    struct osc_trace t;

    (void)load(&t, path, 1);
    (void)derive(&t, all_facts(), 1);
    for (int i = 0; i < n * 12; i++) {
        const struct osc_table_def *const def = defs[i % 4];
        const int r = i / 4 % 3;
        const struct osc_selection range = memory_range(&t, ranges[r].part, ranges[r].count);
        const struct osc_options options = {.n_threads = 1, .selection = &range};
        uint64_t n_rows = 0;
        char name[64];

        snprintf(name, sizeof name, "%s/%s", def->name, ranges[r].name);
        bench_sample(name, ask(&t, def, &options, &n_rows, NULL));
    }
    osc_trace_fini(&t);
}

/* Bytes of the line KEY of /proc/self/status. */
static double status_bytes(const char *key)
{
    char line[256];
    double kib = 0;
    FILE *const f = fopen("/proc/self/status", "re");

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            kib = strtod(line + strlen(key) + 1, NULL);
    if (f)
        fclose(f);
    return kib * 1024;
}

static void make_views(struct osc_trace *t, unsigned n_threads)
{
    static const struct osc_table_def *const defs[] = {
        &osc_table_overview, &osc_table_steps,         &osc_table_operators,
        &osc_table_kernels,  &osc_table_operators,     &osc_table_kernels,
        &osc_table_devices,  &osc_table_utilization,   &osc_table_modules,
        &osc_table_memory,   &osc_table_memory_events, &osc_table_memory_curve,
        &osc_table_advice,   &osc_table_memory_peaks};
    uint64_t n_bytes = 0, n_rows = 0;
    uint32_t facts = 0;

    for (size_t i = 0; i < sizeof defs / sizeof *defs; i++)
        facts |= osc_table_facts(defs[i]);
    (void)derive(t, facts, n_threads);
    for (size_t i = 0; i < sizeof defs / sizeof *defs; i++) {
        /* TensorBoard shows operators by shape and kernels by operator as separate views. */
        const char *const group_by = i == 4 ? "shape" : i == 5 ? "op" : NULL;
        struct osc_options options = {.n_threads = n_threads};

        if (osc_options_group(&options, defs[i], group_by, NULL) != OSC_OK)
            abort();

        (void)ask(t, defs[i], &options, &n_rows, &n_bytes);
        /* The number of rows shows that there was a table to make. */
        bench_sample("rows", (double)n_rows);
    }
    bench_sample("bytes", (double)n_bytes);
}

static void run_process(const char *what, const char *path, unsigned n_threads)
{
    const bool is_views = strcmp(what, "views") == 0;
    struct osc_trace t;

    if (is_views) {
        /* As in the command: large blocks return to the system at once. */
        (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
        (void)mallopt(M_TRIM_THRESHOLD, 2 << 20);
    }
    const double start = bench_wall_s();
    (void)load(&t, path, n_threads);
    bench_sample("load-wall", bench_wall_s() - start);
    bench_sample("load-cpu", bench_clock_s(CLOCK_PROCESS_CPUTIME_ID));
    bench_sample("peak_bytes", status_bytes("VmHWM") - status_bytes("RssFile"));
    bench_sample("records", (double)t.events.n_rows + t.others.n_rows);
    bench_sample("string_bytes", (double)osc_strings_bytes(&t.strings));
    bench_sample("model_bytes", (double)osc_mem_held());
    if (strcmp(what, "facts") == 0)
        (void)derive(&t, all_facts(), n_threads);
    else if (is_views)
        make_views(&t, n_threads);
    bench_sample("held_bytes", (double)osc_mem_held());
    /* Not freed: the process exits. */
    fflush(stdout);
    _Exit(0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*measure)(const char *path, int n);
    } questions[] = {{"tables", measure_tables},
                     {"operators", measure_operators},
                     {"memory", measure_memory}};

    if (argc < 3)
        return 2;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (strcmp(argv[1], questions[i].name) != 0)
            continue;
        bench_pin(1);
        questions[i].measure(argv[2], bench_rounds(argc, argv, 3, 7));
        return 0;
    }
    run_process(argv[1], argv[2], (unsigned)bench_number(argc, argv, 3, 1));
}
