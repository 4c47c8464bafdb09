/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.c - a process that makes all that TensorBoard's plugin shows of one trace.
 *
 *   views FILE THREADS
 *
 * Loads the file, derives the facts and makes every table of the plugin's views, each
 * written as JSON to nowhere. For plugin.py, which measures it from outside. Prints
 * "KEY NUMBER" lines: rows and bytes of the tables, so that nobody takes none for fast.
 */
#include <malloc.h>
#include <string.h>

#include "analysis/table_registry.h"
#include "bench.h"
#include "derive/derive.h"
#include "import/import.h"
#include "render/render.h"
#include "table/query.h"

struct view {
    const char *table;
    bool by_shape, by_op;
};

static const struct view views[] = {
    {.table = "overview"},      {.table = "steps"},
    {.table = "operators"},     {.table = "operators", .by_shape = true},
    {.table = "kernels"},       {.table = "kernels", .by_op = true},
    {.table = "devices"},       {.table = "utilization"},
    {.table = "modules"},       {.table = "memory"},
    {.table = "memory_events"}, {.table = "memory_curve"},
    {.table = "memory_peaks"},  {.table = "advice"},
};

static unsigned long long n_rows, n_bytes;

static osc_status count(void *ctx, const char *s, size_t len)
{
    (void)ctx;
    (void)s;
    n_bytes += len;
    return OSC_OK;
}

static osc_status emit(void *ctx, const struct osc_rows *rows)
{
    return osc_render_rows(ctx, rows);
}

static osc_status make(const struct osc_trace *t, const struct osc_table_def *def,
                       const struct view *v, unsigned n_threads, struct osc_err *err)
{
    const struct osc_options options = {
        .n_threads = n_threads, .by_shape = v->by_shape, .by_op = v->by_op};
    const struct osc_query q = {
        .def = def, .traces = &t, .n_traces = 1, .options = &options, .is_machine = true};
    struct osc_answer a = {0};
    struct osc_render r = {
        .renderer = osc_renderer_find("json"), .sheet = &a.sheet, .write = count};
    osc_status st = osc_query_run(&q, &a, err);

    if (st == OSC_OK)
        st = osc_render_begin(&r);
    if (st == OSC_OK)
        st = osc_answer_rows(&q, &a, emit, &r, err);
    if (st == OSC_OK)
        st = osc_render_end(&r);
    n_rows += r.n_rows;
    osc_render_fini(&r);
    osc_answer_fini(&a);
    return st;
}

int main(int argc, char **argv)
{
    enum { N_VIEWS = sizeof views / sizeof *views };
    const struct osc_table_def *defs[N_VIEWS];
    struct osc_trace t = {0};
    struct osc_err err = {0};
    uint32_t facts = 0;

    if (argc < 3) {
        fputs("usage: views FILE THREADS\n", stderr);
        return 2;
    }
    const struct osc_import_options o = {.n_threads = (unsigned)atoi(argv[2])};
    /* As the command has it (ask/budget.c): large blocks go back at once. */
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 2 << 20);
    for (size_t i = 0; i < N_VIEWS; i++) {
        defs[i] = osc_table_find(views[i].table);
        if (!defs[i]) {
            fprintf(stderr, "views: there is no table %s\n", views[i].table);
            return 1;
        }
        facts |= defs[i]->facts;
    }
    osc_status st = osc_import_path(&t, argv[1], &o, &err);
    if (st == OSC_OK)
        st = osc_derive(&t, facts, o.n_threads, &err);
    for (size_t i = 0; i < N_VIEWS && st == OSC_OK; i++)
        st = make(&t, defs[i], &views[i], o.n_threads, &err);
    if (st != OSC_OK) {
        fprintf(stderr, "views: %s\n", err.message);
        return 1;
    }
    printf("rows %llu\nbytes %llu\n", n_rows, n_bytes);
    /* Not freed: nobody who exits would. */
    fflush(stdout);
    _Exit(0);
}
