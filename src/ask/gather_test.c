/* SPDX-License-Identifier: Apache-2.0 */
/* Random traces, asked one by one and together: the same bytes for every table. */
#include "ask/gather.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/table_registry.h"
#include "derive/derive.h"
#include "import/import.h"
#include "import/run.h"

#define N_RUNS     12
#define TRACES_MAX 6

static uint64_t state_of_random = 1;

static uint32_t below(uint32_t n)
{
    state_of_random = state_of_random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state_of_random >> 33) % n;
}

/* --- random traces ------------------------------------------------------------------ */

static char texts[TRACES_MAX][1 << 15], paths[TRACES_MAX][64];

static void add_event(struct osc_strbuf *out, uint32_t at)
{
    const uint32_t tid = 1 + below(2), dur = below(30), id = below(6);

    switch (below(8)) {
    case 0:
    case 1:
        osc_strbuf_addf(out,
                        "{'ph':'X','cat':'cpu_op','name':'aten::op%u','pid':1,'tid':%u,"
                        "'ts':%u.%u,'dur':%u,'args':{'Input Dims':[[%u,2]]}},",
                        below(3), tid, at, below(1000), dur, below(3));
        break;
    case 2:
        osc_strbuf_addf(out,
                        "{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':1,"
                        "'tid':%u,'ts':%u,'dur':2,'args':{'correlation':%u}},",
                        tid, at, id);
        break;
    case 3:
    case 4:
        osc_strbuf_addf(
            out,
            "{'ph':'X','cat':'kernel','name':'k%u','pid':0,'tid':7,'ts':%u,'dur':%u,"
            "'args':{'device':%u,'stream':7,'correlation':%u,'blocks per SM':0.%u,"
            "'est. achieved occupancy %%':%u}},",
            below(3), at, dur, below(2), id, 1 + below(9), below(100));
        break;
    case 5:
        osc_strbuf_addf(out,
                        "{'ph':'i','s':'t','cat':'cpu_instant_event','name':'[memory]','pid':1,"
                        "'tid':%u,'ts':%u,'args':{'Device Type':%u,'Device Id':0,'Addr':%u,"
                        "'Bytes':%d,'Total Allocated':%u}},",
                        tid, at, below(2), below(4), below(2) ? 64 : -64, below(900));
        break;
    case 6:
        osc_strbuf_addf(out,
                        "{'ph':'X','cat':'cuda_runtime','name':'cudaDeviceSynchronize','pid':1,"
                        "'tid':%u,'ts':%u,'dur':%u},",
                        tid, at, dur);
        break;
    default:
        osc_strbuf_addf(out,
                        "{'ph':'%s','cat':'python_function','name':'nn.Module: A_%u','pid':1,"
                        "'tid':%u,'ts':%u,'dur':%u},",
                        below(9) ? "X" : "Q", below(2), tid, at, 20 + dur);
        break;
    }
}

/* Write trace I of a run: of some rank, host, boot and clock, with or without steps. */
static void make_trace(uint32_t i)
{
    struct osc_strbuf out = {0};
    const uint32_t start = below(5000), n = below(8) ? 20 + below(60) : 0;

    osc_strbuf_adds(&out, "{'schemaVersion':1,");
    if (below(4))
        osc_strbuf_addf(&out, "'distributedInfo':{'rank':%u},", below(3));
    if (below(2))
        osc_strbuf_addf(&out, "'host_name':'h%u',", below(2));
    if (below(2))
        osc_strbuf_addf(&out, "'boot_id':'b%u',", below(2));
    if (below(2))
        osc_strbuf_addf(&out, "'baseTimeNanoseconds':17000000000000%05u,", below(99999));
    osc_strbuf_adds(&out, "'traceEvents':[");
    for (uint32_t k = 0; n > 0 && k < below(4); k++)
        osc_strbuf_addf(&out,
                        "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#%u','pid':1,"
                        "'tid':1,'ts':%u,'dur':100},",
                        k, start + 100 * k);
    for (uint32_t k = 0; k < n; k++)
        add_event(&out, start + below(400));
    osc_strbuf_adds(&out, "{'ph':'M','name':'process_name','pid':1,'tid':0,'args':{}}]}");
    assert_int_equal(out.status, OSC_OK);
    assert_true(out.len < sizeof texts[i]);
    for (size_t k = 0; k < out.len; k++)
        texts[i][k] = out.s[k] == '\'' ? '"' : out.s[k];
    texts[i][out.len] = '\0';
    osc_strbuf_fini(&out);
    if (below(2)) /* windows of a worker */
        snprintf(paths[i], sizeof paths[i], "w%u.%u.pt.trace.json", below(2), below(4));
    else
        snprintf(paths[i], sizeof paths[i], "trace%u.json", i);
}

static void read_trace(struct osc_trace *t, uint32_t i)
{
    const struct osc_import_options options = {.n_threads = 1};

    assert_int_equal(osc_import_memory(t, paths[i], osc_str_c(texts[i]), &options, NULL),
                     OSC_OK);
}

/* --- answers ------------------------------------------------------------------------ */

/* All of R, hidden columns too. */
static void print_result(const struct osc_result *r, const uint32_t *order,
                         struct osc_strbuf *out)
{
    for (uint64_t i = 0; i < r->n_rows; i++) {
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

        osc_strbuf_addf(out, "rank %d, span %d, %u of %llx\n", b->rank, b->span, b->n_traces,
                        (unsigned long long)b->result.shown);
        print_result(&b->result, b->order, out);
    }
    osc_strbuf_add(out, a.sheet.notes.s ? a.sheet.notes.s : "", a.sheet.notes.len);
    for (uint32_t c = 0; c < a.sheet.n_columns; c++)
        osc_strbuf_addf(out, "%s ", a.sheet.columns[c].column->name);
    assert_int_equal(out->status, OSC_OK);
    osc_answer_fini(&a);
}

/* What all of the N traces say when they are opened together. */
static void ask_together(struct osc_query q, uint32_t n, struct osc_strbuf *out)
{
    struct osc_trace traces[TRACES_MAX] = {{0}}, *pointers[TRACES_MAX] = {0};
    const char *names[TRACES_MAX] = {0};

    for (uint32_t i = 0; i < n; i++) {
        read_trace(&traces[i], i);
        pointers[i] = &traces[i];
        names[i] = paths[i];
    }
    assert_int_equal(osc_run_identify(pointers, names, n), OSC_OK);
    assert_int_equal(osc_run_align(pointers, n), OSC_OK);
    osc_run_sort(pointers, n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(osc_derive(pointers[i], q.def->facts, 1, NULL), OSC_OK);
    q.traces = (const struct osc_trace *const *)pointers;
    q.n_traces = n;
    print_answer(&q, out);
    for (uint32_t i = 0; i < n; i++)
        osc_trace_fini(&traces[i]);
}

/* Append to OUT what trace I says, opened alone. */
static void ask_alone(const struct osc_query *q, const struct osc_partial_question *of,
                      uint32_t i, struct osc_strbuf *out)
{
    struct osc_trace t = {0}, *const pointer = &t;
    const char *const name = paths[i];
    struct osc_identity id;

    read_trace(&t, i);
    assert_int_equal(osc_run_identify(&pointer, &name, 1), OSC_OK);
    assert_int_equal(osc_run_align(&pointer, 1), OSC_OK);
    osc_run_identity(&id, &t, paths[i]);
    id.number = i;
    assert_int_equal(osc_derive(&t, q->def->facts, 1, NULL), OSC_OK);
    assert_int_equal(osc_query_map(q, &t, of, &id, out, NULL), OSC_OK);
    osc_trace_fini(&t);
}

/* The same from parts that were split and put together at random. */
static void ask_apart(struct osc_query q, uint32_t n, struct osc_strbuf *out)
{
    const struct osc_partial_question of = {.def = q.def, .options = q.options};
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
        const struct osc_str pile = {piles[i].s ? piles[i].s : "", (uint32_t)piles[i].len};

        assert_int_equal(osc_gather_add(&g, pile, &of, NULL), OSC_OK);
        osc_strbuf_fini(&piles[i]);
    }
    assert_int_equal(osc_gather_place(&g, NULL, NULL, &q, NULL), OSC_OK);
    assert_int_equal(q.n_traces, n);
    print_answer(&q, out);
    osc_gathering_fini(&g);
}

static void parts_give_the_answer_of_all_at_once(void **state)
{
    (void)state;
    for (uint32_t run = 0; run < N_RUNS; run++) {
        const uint32_t n = 1 + below(TRACES_MAX);

        for (uint32_t i = 0; i < n; i++)
            make_trace(i);
        for (uint32_t k = 0; osc_tables[k]; k++) {
            const struct osc_options options = {
                .n_threads = 1,
                .operands = "all",
                .n_traces = n,
                .compat_tb = osc_tables[k]->takes & OSC_TAKES_COMPAT && below(2)};
            const struct osc_query q = {.def = osc_tables[k],
                                        .options = &options,
                                        .is_merged = below(2),
                                        .is_machine = true};
            struct osc_strbuf together = {0}, apart = {0};

            if (!osc_tables[k]->map)
                continue;
            ask_together(q, n, &together);
            ask_apart(q, n, &apart);
            if (strcmp(together.s, apart.s) != 0)
                fail_msg("run %u, %s:\n%s\nbut in parts:\n%s", run, q.def->name, together.s,
                         apart.s);
            osc_strbuf_fini(&together);
            osc_strbuf_fini(&apart);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_give_the_answer_of_all_at_once),
    };
    return cmocka_run_group_tests_name("gather", tests, NULL, NULL);
}
