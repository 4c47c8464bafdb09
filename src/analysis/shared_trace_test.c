/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads ask one trace, which has no facts at first, and views of it. */
#include <pthread.h>

#include "analysis/table_registry.h"
#include "base/hash.h"
#include "base/mem.h"
#include "derive/derive.h"
#include "derive/part/view.h"
#include "support/small_trace.h"
#include "support/unit.h"
#include "table/query.h"

#define N_THREADS  4
#define N_ROUNDS   6
#define TABLES_MAX 64

static const char events[] = STEP(5, 0, 100) STEP(6, 100, 100) OP("a", 1, 10, 20, "")
    OP("b", 1, 15, 25, "") CALL(1, 16, 2, 1, "") OP("b", 2, 110, 20, "") CALL(2, 112, 2, 2, "")
        KERNEL("ka", 150, 9, 1) KERNEL("kb", 160, 9, 2) KERNEL("orphan", 20, 9, 77)
            MEMORY(1, 20, 100) MEMORY(2, 115, -100) MEMORY(2, 116, -100);

static const struct osc_selection second = {.steps = "6"};

/* What each table says of the trace and of a view, asked by one thread that has it alone. */
static uint64_t alone[TABLES_MAX], alone_of_view[TABLES_MAX];
static uint32_t n_tables;

struct print {
    uint64_t hash;
    const struct osc_sheet *sheet;
};

static osc_status add_rows(void *ctx, const struct osc_rows *rows)
{
    struct print *const p = ctx;

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        for (uint32_t c = 0; c < p->sheet->n_columns; c++) {
            const struct osc_cell cell = osc_rows_cell(rows, i, &p->sheet->columns[c]);

            p->hash = osc_hash(cell.s.s, cell.s.len, p->hash + (uint64_t)cell.is_missing);
            p->hash = osc_hash((const char *)&cell.i, sizeof cell.i, p->hash);
            p->hash = osc_hash((const char *)&cell.d, sizeof cell.d, p->hash);
        }
    }
    return OSC_OK;
}

/* A fingerprint of all that table NUMBER says of T; 0: it failed. */
static uint64_t ask(struct osc_trace *t, uint32_t number)
{
    const struct osc_table_def *const def = osc_tables[number];
    const struct osc_options options = {.n_threads = 1};
    struct osc_partial part;
    const struct osc_partial *const parts = &part;
    const struct osc_query q = {
        .def = def, .parts = &parts, .n_parts = 1, .options = &options, .is_machine = true};
    struct osc_answer a = {0};
    struct print p = {1, &a.sheet};
    osc_status st = osc_derive(t, osc_table_facts(def), 1, NULL);

    if (def->comparison || def->composition)
        return 1; /* it says nothing of one trace by itself */
    osc_partial_keep(&part, t);
    if (st == OSC_OK)
        st = osc_query_run(&q, &a, NULL);
    if (st == OSC_OK)
        st = osc_answer_rows(&q, &a, add_rows, &p, NULL);
    if (st == OSC_OK && a.sheet.notes.len > 0)
        p.hash = osc_hash(a.sheet.notes.s, (uint32_t)a.sheet.notes.len, p.hash);
    osc_answer_fini(&a);
    return st == OSC_OK ? p.hash : 0;
}

static osc_status ask_view(struct osc_trace *t, uint32_t number, uint64_t *hash)
{
    struct osc_trace view = {0};
    osc_status st = osc_derive(t, OSC_FACT_VIEWS, 1, NULL);

    if (st == OSC_OK)
        st = osc_view_make(&view, t, &second, 1, NULL);
    *hash = st == OSC_OK ? ask(&view, number) : 0;
    osc_trace_fini(&view);
    return st;
}

static int find_answers(void **state)
{
    struct osc_trace t = {0};
    uint64_t hash;

    (void)state;
    for (n_tables = 0; osc_tables[n_tables] && n_tables < TABLES_MAX; n_tables++) {
        if (!small_load(&t, events))
            return -1;
        alone[n_tables] = ask(&t, n_tables);
        osc_trace_fini(&t);
        if (!small_load(&t, events) || ask_view(&t, n_tables, &hash) != OSC_OK)
            return -1;
        alone_of_view[n_tables] = hash;
        osc_trace_fini(&t);
    }
    return 0;
}

struct asker {
    pthread_t thread;
    struct osc_trace *t;
    uint32_t first;   /* table */
    uint32_t n_wrong; /* answers unlike those of one thread alone */
};

static void *ask_all(void *arg)
{
    struct asker *const a = arg;

    for (uint32_t k = 0; k < n_tables; k++) {
        const uint32_t number = (a->first + k) % n_tables;
        uint64_t hash;

        a->n_wrong += ask(a->t, number) != alone[number];
        if (k % N_THREADS != 0)
            continue;
        a->n_wrong += ask_view(a->t, number, &hash) != OSC_OK || hash != alone_of_view[number];
    }
    return NULL;
}

TEST(threads_get_the_answers_of_one_alone)
{
    for (uint32_t round = 0; round < N_ROUNDS; round++) {
        struct osc_trace t = {0};
        struct asker askers[N_THREADS] = {{0}};

        assert_true(small_load(&t, events));
        for (uint32_t i = 0; i < N_THREADS; i++) {
            askers[i] = (struct asker){.t = &t, .first = round + i * n_tables / N_THREADS};
            assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_all, &askers[i]), 0);
        }
        for (uint32_t i = 0; i < N_THREADS; i++) {
            assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
            assert_int_equal(askers[i].n_wrong, 0);
        }
        osc_trace_fini(&t);
    }
}

TEST(no_answer_depends_on_what_else_was_asked)
{
    struct osc_trace t = {0};

    assert_true(small_load(&t, events));
    for (uint32_t i = 0; i < n_tables; i++)
        assert_int_not_equal(ask(&t, i), 0);
    for (uint32_t i = 0; i < n_tables; i++) {
        if (ask(&t, i) != alone[i])
            fail_msg("%s says something else once others were asked", osc_tables[i]->name);
    }
    osc_trace_fini(&t);
}

int main(void)
{
    return unit_run("shared_trace", find_answers, NULL);
}
