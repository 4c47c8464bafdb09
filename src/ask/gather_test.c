/* SPDX-License-Identifier: Apache-2.0 */
/* Random traces give the same bytes for every table, asked one by one and together. */
#include "ask/gather.h"

#include "analysis/table_registry.h"
#include "derive/derive.h"
#include "import/import.h"
#include "import/run.h"
#include "support/options.h"
#include "support/placed.h"
#include "support/random_trace.h"
#include "support/unit.h"
#include "table/table_options.h"

#define N_RUNS     12
#define TRACES_MAX 6

static struct osc_strbuf texts[TRACES_MAX], paths[TRACES_MAX];

static void read_trace(struct osc_trace *t, uint32_t i)
{
    const struct osc_import_options options = {.n_threads = 1};

    assert_int_equal(osc_import_memory(t, paths[i].s, osc_str_c(texts[i].s), &options, NULL),
                     OSC_OK);
}

/* --- answers ------------------------------------------------------------------------ */

/* Print the first N rows of R, hidden columns too. */
static void print_result(const struct osc_result *r, const uint32_t *order, uint64_t n,
                         struct osc_strbuf *out)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t row = order ? order[i] : i;

        for (uint32_t c = 0; c < r->def->n_columns; c++) {
            osc_strbuf_addc(out, osc_result_has(r, row, c) ? '|' : '-');
            if (!osc_result_has(r, row, c))
                continue;
            if (r->def->columns[c].type == OSC_TYPE_STRING)
                osc_strbuf_addstr(out, osc_result_get_str(r, row, c));
            else if (r->def->columns[c].type == OSC_TYPE_NUMBER)
                osc_strbuf_addf(out, "%a", osc_result_get_num(r, row, c));
            else if (r->def->columns[c].type == OSC_TYPE_INTEGER)
                osc_strbuf_addi(out, osc_result_get_int(r, row, c));
            else
                osc_strbuf_addi(out, osc_result_get_bool(r, row, c));
        }
        osc_strbuf_addc(out, '\n');
    }
}

static void print_answer(const struct osc_query *q, struct osc_strbuf *out)
{
    struct osc_answer a = {0};

    assert_int_equal(osc_query_run(q, &a, NULL), OSC_OK);
    for (uint32_t i = 0; i < a.n_blocks; i++) {
        const struct osc_answer_block *const b = &a.blocks[i];
        const uint64_t n = b->result.n_rows, n_all = n + b->result.n_left_out,
                       limit = q->limit > 0 && n > (uint64_t)q->limit ? (uint64_t)q->limit : n;

        osc_strbuf_addf(out, "rank %d, span %d, %u of %llx, %llu rows\n", b->rank, b->span,
                        b->n_traces, (unsigned long long)b->result.shown,
                        (unsigned long long)n_all);
        print_result(&b->result, b->order, limit, out);
    }
    osc_strbuf_add(out, a.sheet.notes.s ? a.sheet.notes.s : "", a.sheet.notes.len);
    for (uint32_t c = 0; c < a.sheet.n_columns; c++)
        osc_strbuf_addf(out, "%s ", a.sheet.columns[c].column->name);
    assert_int_equal(out->status, OSC_OK);
    osc_answer_fini(&a);
}

/* Append to OUT the answer of the N traces, opened together. */
static void ask_together(struct osc_query q, uint32_t n, struct osc_strbuf *out)
{
    struct osc_trace traces[TRACES_MAX] = {{0}}, *pointers[TRACES_MAX] = {0};
    const char *names[TRACES_MAX] = {0};
    struct osc_partial parts[TRACES_MAX];
    const struct osc_partial *order[TRACES_MAX];

    for (uint32_t i = 0; i < n; i++) {
        order[i] = &parts[i];
        read_trace(&traces[i], i);
        pointers[i] = &traces[i];
        names[i] = paths[i].s;
    }
    assert_int_equal(placed(pointers, names, n), OSC_OK);
    assert_int_equal(osc_run_sort(pointers, n), OSC_OK);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(osc_derive(pointers[i], osc_table_facts(q.def), 1, NULL), OSC_OK);
    for (uint32_t i = 0; i < n; i++)
        osc_partial_keep(&parts[i], pointers[i]);
    q.parts = order;
    q.n_parts = n;
    print_answer(&q, out);
    for (uint32_t i = 0; i < n; i++)
        osc_trace_fini(&traces[i]);
}

/* Append to OUT the part of trace I, opened alone. */
static void ask_alone(const struct osc_query *q, const struct osc_partial_question *of,
                      uint32_t i, struct osc_strbuf *out)
{
    struct osc_trace t = {0}, *const pointer = &t;
    const char *const name = paths[i].s;
    struct osc_identity id;

    read_trace(&t, i);
    assert_int_equal(placed(&pointer, &name, 1), OSC_OK);
    osc_run_identity(&id, &t, paths[i].s);
    id.number = i;
    assert_int_equal(osc_derive(&t, osc_table_facts(q->def), 1, NULL), OSC_OK);
    assert_int_equal(osc_query_map(q, &t, of, &id, out, NULL), OSC_OK);
    osc_trace_fini(&t);
}

/* Append to OUT the answer made of parts that arrive in random groups. */
static void ask_apart(struct osc_query q, uint32_t n, struct osc_strbuf *out)
{
    const struct osc_partial_question of = {.def = q.def,
                                            .options = q.options,
                                            .n_rows = osc_query_rows_of_each(&q),
                                            .sort = q.sort};
    const uint32_t n_piles = 1 + below(n);
    struct osc_strbuf piles[TRACES_MAX] = {{0}};
    struct osc_gathering g = {0};
    uint32_t order[TRACES_MAX];

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = below(i + 1);

        order[i] = order[k];
        order[k] = i;
    }
    for (uint32_t i = 0; i < n; i++)
        ask_alone(&q, &of, order[i], &piles[below(n_piles)]);
    for (uint32_t i = 0; i < n_piles; i++) {
        struct osc_str pile = {piles[i].s ? piles[i].s : "", (uint32_t)piles[i].len}, part;

        while (pile.len > 0) {
            assert_int_equal(osc_partial_next(&pile, &part, NULL), OSC_OK);
            assert_int_equal(osc_gather_add(&g, part, &of, NULL), OSC_OK);
        }
        osc_strbuf_fini(&piles[i]);
    }
    assert_int_equal(osc_gather_place(&g, NULL, NULL, NULL), OSC_OK);
    assert_int_equal(g.n_ordered, n);
    q.parts = (const struct osc_partial *const *)g.order;
    q.n_parts = n;
    print_answer(&q, out);
    osc_gathering_fini(&g);
}

TEST(parts_give_the_answer_of_all_at_once)
{
    (void)state;
    for (uint32_t run = 0; run < N_RUNS; run++) {
        const uint32_t n = 1 + below(TRACES_MAX);

        for (uint32_t i = 0; i < n; i++)
            make_trace(i, &texts[i], &paths[i]);
        for (uint32_t k = 0; osc_tables[k]; k++) {
            const bool is_ranges = osc_tables[k] == &osc_table_ranges;
            static const char *const groups[] = {NULL, "thread", "step", "thread,step"};
            struct osc_options options =
                *grouped(osc_tables[k], is_ranges ? groups[below(4)] : NULL);

            options.n_threads = 1;
            options.operands = "all";
            options.n_traces = n;
            if (osc_table_option(osc_tables[k], "compat") && below(2))
                options.own[options.n_own++] =
                    (struct osc_option_value){&osc_option_compat, "tb", 0};
            const struct osc_query q = {.def = osc_tables[k],
                                        .options = &options,
                                        .sort =
                                            below(2) ? osc_tables[k]->columns[0].name : NULL,
                                        .limit = below(4),
                                        .is_merged = below(2),
                                        .is_machine = true};
            struct osc_strbuf together = {0}, apart = {0};

            if (!osc_tables[k]->mapping)
                continue;
            ask_together(q, n, &together);
            ask_apart(q, n, &apart);
            if (strcmp(together.s, apart.s) != 0)
                fail_msg("run %u, %s:\n%s\nbut in parts:\n%s", run, q.def->name, together.s,
                         apart.s);
            osc_strbuf_fini(&together);
            osc_strbuf_fini(&apart);
        }
        for (uint32_t i = 0; i < n; i++) {
            osc_strbuf_fini(&texts[i]);
            osc_strbuf_fini(&paths[i]);
        }
    }
}

UNIT_MAIN("gather")
