/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/where.h"

#include <math.h>

#include "analysis/table_registry.h"
#include "support/unit.h"

enum { NAME, CALLS, TOTAL, MEAN, HOT, SECRET, EXTRA };

static const struct osc_column columns[] = {
    [NAME] = {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0, .help = "A name."},
    [CALLS] = {"calls", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0, .help = "A count."},
    [TOTAL] = {"total_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0, .help = "A time."},
    [MEAN] = {"mean_ns", OSC_TYPE_NUMBER, "ns", OSC_MERGE_FINISH, 0, .help = "A mean."},
    [HOT] = {"hot", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_OR, 0, .help = "A truth value."},
    [SECRET] = {"secret", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, OSC_COLUMN_HIDDEN,
                .help = "Hidden."},
    [EXTRA] = {"extra", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, OSC_COLUMN_OPTIONAL,
               .help = "JSON."},
};
static const struct osc_table_def def = {
    .name = "things", .help = "Things.", .columns = columns, .n_columns = 7};

/*
 * 0 gemm, 1 relu, 2 without anything but an empty name, 3 the greatest integer and NaN,
 * 4 one less.
 */
static void fill(struct osc_result *r)
{
    osc_result_init(r, &def);
    osc_result_row(r);
    osc_result_str(r, NAME, OSC_STR("gemm<float, 4>"));
    osc_result_int(r, CALLS, 10);
    osc_result_int(r, TOTAL, 10000);
    osc_result_num(r, MEAN, 1000.5);
    osc_result_bool(r, HOT, true);
    osc_result_str(r, EXTRA, OSC_STR("{\"stream\": 7}"));
    osc_result_row(r);
    osc_result_str(r, NAME, OSC_STR("relu\0x"));
    osc_result_int(r, CALLS, 2);
    osc_result_int(r, TOTAL, 10001);
    osc_result_bool(r, HOT, false);
    osc_result_str(r, EXTRA, OSC_STR("{\"stream\": "));
    osc_result_row(r);
    osc_result_str(r, NAME, OSC_STR(""));
    osc_result_row(r);
    osc_result_int(r, CALLS, INT64_MAX);
    osc_result_num(r, MEAN, (double)NAN);
    osc_result_row(r);
    osc_result_int(r, CALLS, INT64_MAX - 1);
    assert_int_equal(r->status, OSC_OK);
}

static void leaves(const char *expr, const char *expected)
{
    struct osc_where *w;
    struct osc_err err = {0};
    struct osc_result r;
    bool keep[5];
    char rows[8];
    size_t n = 0;

    fill(&r);
    const osc_status st = osc_where_open(&w, &def, expr, NULL, &err);
    if (st != OSC_OK)
        fail_msg("%s", err.message);
    /* A statement is run again for each batch. */
    for (int i = 0; i < 2; i++) {
        const struct osc_rows all = {&r, NULL, r.n_rows, 3, OSC_NO_RANK};

        memset(keep, i, sizeof keep);
        assert_int_equal(osc_where_keep(w, &all, keep, &err), OSC_OK);
    }
    for (uint32_t i = 0; i < 5; i++) {
        if (keep[i])
            rows[n++] = (char)('0' + i);
    }
    rows[n] = '\0';
    assert_string_equal(rows, expected);
    osc_where_close(w);
    osc_result_fini(&r);
}

static void fails(const char *expr, const char *message)
{
    struct osc_where *w;
    struct osc_err err = {0};
    struct osc_result r;
    bool keep[5];

    fill(&r);
    osc_status st = osc_where_open(&w, &def, expr, NULL, &err);
    if (st == OSC_OK) {
        const struct osc_rows all = {&r, NULL, r.n_rows, 0, 1};

        st = osc_where_keep(w, &all, keep, &err);
    }
    assert_int_equal(st, OSC_EINVAL);
    if (!strstr(err.message, message))
        fail_msg("'%s' is not in: %s", message, err.message);
    osc_where_close(w);
    osc_result_fini(&r);
}

TEST(leaves_rows_for_which_the_expression_is_true)
{
    leaves("calls > 2", "034");
    leaves("name LIKE 'GEMM%' OR calls = 2", "01");
    leaves("name REGEXP '^gemm|^x$' OR calls = 2", "01");
    leaves("hot", "0");
    leaves("hot = false", "1");
    leaves("mean_ns > 1000.25", "0");
    leaves("1", "01234");
    leaves("calls BETWEEN 2 AND 10 AND NOT hot", "1");
    leaves("calls -- more than\n > 2", "034");
    leaves("rank = 3", "01234");
    leaves("CALLS > 2", "034");
}

TEST(keeps_integers_exact_and_null_unknown)
{
    leaves("calls = 9223372036854775807", "3");
    leaves("calls < 9223372036854775807", "014");
    leaves("calls - 9223372036854775806 = 0", "4");
    leaves("calls = 9223372036854775807.0", "");
    leaves("calls IS NULL", "2");
    leaves("calls <> 2", "034"); /* not row 2 */
    leaves("mean_ns IS NULL", "1234");
    leaves("name = ''", "2");
    leaves("name IS NULL", "34");
    leaves("span IS NULL", "01234"); /* of several */
    leaves("length(name) = 4 AND hex(name) LIKE '%0078'", "1");
    leaves("NULL", "");
}

TEST(knows_units_of_time_and_size)
{
    leaves("total_ns > us(10)", "1");
    leaves("total_ns = us(10.001)", "1");
    leaves("ms(1) = 1000000 AND s(2) = 2000000000 AND ns(7) = 7", "01234");
    leaves("kib(1.5) = 1536 AND mib(2) = 2097152 AND gib(4) = 4294967296", "01234");
    leaves("us(NULL) IS NULL AND us('3') = 3000", "01234");
    leaves("typeof(us(1)) || typeof(us(1.5)) || typeof(us(0.0001)) = 'integerintegerreal'",
           "01234");
    fails("us('much') > 1", "us() takes a number");
    fails("s(calls) > 0", "integer overflow");
}

TEST(reads_optional_columns_and_json)
{
    leaves("extra IS NOT NULL", "01");
    leaves("hot AND extra ->> 'stream' = 7", "0");
    leaves("json_valid(extra) AND json_extract(extra, '$.stream') = 7", "0");
    fails("extra ->> 'stream' = 7", "malformed JSON");
}

TEST(names_what_is_nearest)
{
    fails("totl_ns > 5", "--where 'totl_ns > 5': things has no column 'totl_ns'; did you mean "
                         "'total_ns'?");
    fails("things.totl_ns > 5", "did you mean 'total_ns'?");
    fails("secret > 5", "things has no column 'secret'");
    fails("name = \"gemm<float, 4>\"", "write text in single quotes");
    fails("name = aten::mm", "write text in single quotes");
    fails("uss(5)", "unknown function uss(); did you mean us()?");
    fails("substrin(name, 1)", "did you mean substring()?");
    fails("total_ns > 1.5 us", "1.5 us is no number; write us(1.5)");
    fails("total_ns > 1 ms and calls > 2 s", "1 ms is no number; write ms(1)");
    fails("1 foo", "near");
    fails("calls >", "the expression is incomplete");
    fails("(calls", "the expression is incomplete");
    fails("", "the expression is incomplete");
    fails("calls > 5 /* much", "the expression is incomplete");
    fails("calls calls", "syntax error");
}

TEST(sees_nothing_but_the_row)
{
    static const char *const wrong[] = {
        "1) OR (1",
        "1) UNION SELECT 1 WHERE (1",
        "1 ORDER BY calls",
        "SELECT 1",
        "1 THEN 1 WHEN 1",
        "(SELECT 1)",
        "calls > (SELECT avg(calls) FROM things)",
        "EXISTS (SELECT 1 FROM sqlite_schema)",
        "calls IN (SELECT calls FROM things)",
        "calls IN things",
        "calls IN sqlite_schema",
        "1; DROP TABLE things",
        "1 LIMIT 1",
        "max(calls)",
        "count(*) > 1",
        "rank() OVER () = 1",
        "load_extension('x')",
        "readfile('/etc/passwd')",
        "random() > 0",
        "date('now') > 5",
        "sqlite_version() > 5",
        "fts3_tokenizer('simple')",
        "calls = ?1",
        "calls = :a",
        "raise(abort, 'x')",
        "calls MATCH 'x'",
        "name REGEXP '(x'",
        "name REGEXP '*'",
        "zeroblob(1)",
        "calls := 5",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        fails(wrong[i], "--where '");
}

TEST(limits_depth_and_length)
{
    struct osc_strbuf text = {0};

    for (int i = 0; i < 5000; i++)
        osc_strbuf_adds(&text, "NOT ");
    osc_strbuf_adds(&text, "1");
    fails(text.s, "...'");
    osc_strbuf_clear(&text);
    osc_strbuf_adds(&text, "1");
    osc_strbuf_pad(&text, ' ', 70000);
    fails(text.s, "...'");
    osc_strbuf_clear(&text);
    osc_strbuf_adds(&text, "name LIKE '");
    osc_strbuf_pad(&text, '%', 1001);
    osc_strbuf_adds(&text, "'");
    fails(text.s, "too complex");
    osc_strbuf_clear(&text);
    osc_strbuf_adds(&text, "calls IN (1");
    for (int i = 0; i < 30000; i++)
        osc_strbuf_adds(&text, ",1");
    osc_strbuf_adds(&text, ")");
    fails(text.s, "the expression is too long");
    osc_strbuf_clear(&text);
    osc_strbuf_adds(&text, "calls = ");
    osc_strbuf_pad(&text, ' ', 70000);
    osc_strbuf_adds(&text, "1");
    fails(text.s, "the expression is too long");
    osc_strbuf_clear(&text);
    osc_strbuf_adds(&text, "length(printf('%999999999d', 1)) > 1");
    leaves(text.s, ""); /* too long a text is NULL */
    osc_strbuf_fini(&text);
}

static bool yes(void)
{
    return true;
}

TEST(can_be_stopped)
{
    struct osc_where *w;
    struct osc_result r;
    bool keep[5];

    fill(&r);
    const struct osc_rows all = {&r, NULL, r.n_rows, 0, 1};
    assert_int_equal(osc_where_open(&w, &def, "calls > 1", yes, NULL), OSC_OK);
    assert_int_equal(osc_where_keep(w, &all, keep, NULL), OSC_ECANCELED);
    osc_where_close(w);
    osc_result_fini(&r);
}

static int n_looks;

static bool yes_later(void)
{
    return n_looks++ > 0;
}

TEST(can_be_stopped_by_each_row_that_is_matched)
{
    struct osc_where *w;
    struct osc_result r;
    bool keep[5];

    fill(&r);
    const struct osc_rows all = {&r, NULL, r.n_rows, 0, 1};
    assert_int_equal(osc_where_open(&w, &def, "name REGEXP 'a'", yes_later, NULL), OSC_OK);
    n_looks = 0;
    assert_int_equal(osc_where_keep(w, &all, keep, NULL), OSC_ECANCELED);
    assert_int_equal(n_looks, 2);
    osc_where_close(w);
    osc_result_fini(&r);
}

/* Whatever a column is called, it can be named without quotes. */
TEST(compiles_every_column_of_every_table)
{
    char expr[160];
    struct osc_err err = {0};
    struct osc_where *w;
    uint32_t n = 0;

    for (size_t i = 0; osc_tables[i]; i++) {
        for (uint32_t c = 0; c < osc_tables[i]->n_columns; c++) {
            const struct osc_column *const column = &osc_tables[i]->columns[c];

            snprintf(expr, sizeof expr, "%s IS NULL OR %s.%s <> 0", column->name,
                     osc_tables[i]->name, column->name);
            const osc_status st = osc_where_open(&w, osc_tables[i], expr, NULL, &err);
            if ((st == OSC_OK) != !(column->flags & OSC_COLUMN_HIDDEN))
                fail_msg("%s.%s: %s", osc_tables[i]->name, column->name, err.message);
            osc_where_close(w);
            n++;
        }
    }
    assert_true(n > 90);
}

UNIT_MAIN("where")
