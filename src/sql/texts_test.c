/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/texts.h"

#include <sqlite3.h>
#include <strings.h>
#include <time.h>

#include "base/strbuf.h"
#include "support/unit.h"

/* Run SQL, whose variables are the N texts at ARGS, on DB; append type and value, or the
 * failure, to OUT. */
static void run(sqlite3 *db, const char *sql, const struct osc_str *args, int n,
                struct osc_strbuf *out)
{
    sqlite3_stmt *s = NULL;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    for (int i = 0; i < n; i++) /* the first letter says which type */
        if (args[i].s[0] == 'b')
            sqlite3_bind_blob(s, i + 1, args[i].s + 1, (int)args[i].len - 1, SQLITE_TRANSIENT);
        else if (args[i].s[0] == 't')
            sqlite3_bind_text(s, i + 1, args[i].s + 1, (int)args[i].len - 1, SQLITE_TRANSIENT);
        else if (args[i].s[0] == 'i')
            sqlite3_bind_int64(s, i + 1, args[i].s[args[i].len - 1]);
    if (sqlite3_step(s) == SQLITE_ROW) {
        osc_strbuf_addf(out, "%d ", sqlite3_column_type(s, 0));
        const void *const bytes = sqlite3_column_blob(s, 0);
        osc_strbuf_add(out, bytes ? bytes : "", (size_t)sqlite3_column_bytes(s, 0));
    } else {
        osc_strbuf_adds(out, sqlite3_errmsg(db));
    }
    sqlite3_finalize(s);
}

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* Append a value of a random type, made of pieces that matter to the functions. */
static void make_value(struct osc_strbuf *to, uint64_t *seed)
{
    static const char types[] = "tttttbin";
    const struct osc_str pieces[] = {
        OSC_STR("a"),
        OSC_STR("a"),
        OSC_STR("b"),
        OSC_STR("A"),
        OSC_STR("%"),
        OSC_STR("_"),
        OSC_STR("*"),
        OSC_STR("?"),
        OSC_STR("["),
        OSC_STR("]"),
        OSC_STR("^"),
        OSC_STR("-"),
        OSC_STR("[a-b]"),
        OSC_STR("aab"),
        OSC_STR("\\"),
        OSC_STR(" "),
        OSC_STR("\xc3\xa9"),
        OSC_STR("\xa9"),
        OSC_STR("\xc3"),
        OSC_STR("\0"),
        OSC_STR("[^a]"),
        OSC_STR("%_"),
        OSC_STR("\xf0\x9f\x98\x80"),
    };
    const uint32_t n = random_below(seed, 8);

    osc_strbuf_addc(to, types[random_below(seed, sizeof types - 1)]);
    for (uint32_t i = 0; i < n; i++)
        osc_strbuf_addstr(
            to, pieces[random_below(seed, (uint32_t)(sizeof pieces / sizeof *pieces))]);
}

/* Check that OURS, of the N ARGS, is THEIRS. */
static void expect_same(const char *text, const struct osc_str *args, int n,
                        const struct osc_strbuf *ours, const struct osc_strbuf *theirs)
{
    if (ours->len == theirs->len && memcmp(ours->s, theirs->s, ours->len) == 0)
        return;
    for (int k = 0; k < n; k++)
        print_message("'%.*s'\n", (int)args[k].len, args[k].s);
    fail_msg("%s: %s, not %s", text, ours->s, theirs->s);
}

TEST(the_answers_are_those_of_sqlite)
{
    static const char *const calls[] = {
        "like(?1, ?2)",        "?2 LIKE ?1 ESCAPE ?3",
        "glob(?1, ?2)",        "instr(?1, ?2)",
        "replace(?1, ?2, ?3)", "trim(?1)",
        "trim(?1, ?2)",        "ltrim(?1)",
        "ltrim(?1, ?2)",       "rtrim(?1)",
        "rtrim(?1, ?2)",
    };
    struct osc_strbuf values[3] = {{0}, {0}, {0}}, ours = {0}, theirs = {0};
    struct osc_sql sql;
    sqlite3 *plain = NULL;
    uint64_t seed = 1;
    uint32_t n_same = 0;

    assert_int_equal(osc_sql_open(&sql, NULL), OSC_OK);
    assert_int_equal(osc_sql_texts_add(&sql), OSC_OK);
    sqlite3_set_authorizer(sql.db, NULL, NULL);
    sqlite3_limit(sql.db, SQLITE_LIMIT_VARIABLE_NUMBER, 3);
    assert_int_equal(sqlite3_open(":memory:", &plain), SQLITE_OK);
    for (int i = 0; i < 30000; i++) {
        const size_t which = (size_t)i % (sizeof calls / sizeof *calls);
        const int n = strstr(calls[which], "?3") ? 3 : strstr(calls[which], "?2") ? 2 : 1;
        struct osc_str args[3];
        char text[64];

        for (int k = 0; k < n; k++) {
            osc_strbuf_clear(&values[k]);
            make_value(&values[k], &seed);
            /* Whether a blob can be like something depends on how SQLite was built. */
            if (values[k].s[0] == 'b' && which < 3)
                values[k].s[0] = 't';
            args[k] = (struct osc_str){values[k].s, (uint32_t)values[k].len};
        }
        snprintf(text, sizeof text, "SELECT %s", calls[which]);
        osc_strbuf_clear(&ours);
        osc_strbuf_clear(&theirs);
        run(sql.db, text, args, n, &ours);
        run(plain, text, args, n, &theirs);
        expect_same(text, args, n, &ours, &theirs);
        n_same += ours.len > 2;
    }
    assert_true(n_same > 10000);
    for (int k = 0; k < 3; k++)
        osc_strbuf_fini(&values[k]);
    osc_strbuf_fini(&ours);
    osc_strbuf_fini(&theirs);
    sqlite3_close(plain);
    osc_sql_close(&sql);
}

/* --- how long each function takes ------------------------------------------------ */

/* AddressSanitizer's memmem() looks at all that follows, at each call. */
#ifdef __SANITIZE_ADDRESS__
#define MANY "20000"
#else
#define MANY "2000000"
#endif
#define A "printf('%.*c', " MANY ", 'a')"
#define B "(printf('%.*c', " MANY " / 2, 'a') || 'b')"

/* The worst that is known of each function. */
static const struct {
    const char *name, *call;
} worst[] = {
    {"ns", "ns(" A ")"},
    {"us", "us(" A ")"},
    {"ms", "ms(" A ")"},
    {"s", "s(" A ")"},
    {"kib", "kib(" A ")"},
    {"mib", "mib(" A ")"},
    {"gib", "gib(" A ")"},
    {"like", A " LIKE '%' || substr(" B ", -900)"},
    {"glob", "glob('*' || substr(" B ", -900), " A ")"},
    {"regexp", A " REGEXP '(a|b|ab)*(a|aa)*(a*)*(a|b)*(a|b)*(a|b)*(a|b)*(a|b)*c'"},
    {"instr", "instr(" A ", " B ")"},
    {"substr", "substr(" A ", -1999999, 1999998)"},
    {"substring", "substring(" A ", 2, 1999998)"},
    {"length", "length(" A ")"},
    {"lower", "lower(" A ")"},
    {"upper", "upper(" A ")"},
    {"trim", "trim(" A ", replace(" A ", 'a', 'b') || 'a')"},
    {"ltrim", "ltrim(" A ", replace(" A ", 'a', 'b') || 'a')"},
    {"rtrim", "rtrim(" A ", replace(" A ", 'a', 'b') || 'a')"},
    {"replace", "replace(" A ", " B ", 'c')"},
    {"printf", "printf('%.2000000f%2000000d%s%Q%q', 1e300, 1, " A ", " A ", " A ")"},
    {"format", "format('%,.2000000d%.2000000e', 1, 1e-300)"},
    {"char", "char(1114111, 65, 66)"},
    {"unicode", "unicode(" A ")"},
    {"hex", "hex(" A ")"},
    {"quote", "quote(replace(" A ", 'a', ''''))"},
    {"abs", "abs(" A ")"},
    {"round", "round(1e300, 30)"},
    {"ceil", "ceil(" A ")"},
    {"ceiling", "ceiling(" A ")"},
    {"floor", "floor(" A ")"},
    {"trunc", "trunc(" A ")"},
    {"mod", "mod(1e300, 3)"},
    {"sign", "sign(replace(" A ", 'a', '1'))"},
    {"sqrt", "sqrt(replace(" A ", 'a', '1'))"},
    {"exp", "exp(700)"},
    {"ln", "ln(replace(" A ", 'a', '1'))"},
    {"log", "log(2, replace(" A ", 'a', '1'))"},
    {"log10", "log10(1e300)"},
    {"log2", "log2(1e300)"},
    {"pow", "pow(1e300, 1e300)"},
    {"power", "power(1.000001, 1e9)"},
    {"min", "min(" A ", " B ", " A ", " B ")"},
    {"max", "max(" A ", " B ", " A ", " B ")"},
    {"coalesce", "coalesce(NULL, " A ")"},
    {"ifnull", "ifnull(NULL, " A ")"},
    {"nullif", "nullif(" A ", " A ")"},
    {"iif", "iif(" A " = " A ", 1, 2)"},
    {"typeof", "typeof(" A ")"},
    {"likely", "likely(" A ")"},
    {"unlikely", "unlikely(" A ")"},
    {"likelihood", "likelihood(" A ", 0.5)"},
    {"->", "('[' || replace(" A ", 'a', '1,') || '1]') -> '$[#-1]'"},
    {"->>", "('[' || replace(" A ", 'a', '1,') || '1]') ->> '$[2000000]'"},
    {"json_extract", "json_extract(replace(substr(" A ", 1, 1900), 'a', '[') || "
                     "replace(substr(" A ", 1, 1900), 'a', ']'), '$' || replace(substr(" A
                     ", 1, 1899), 'a', '[0]'))"},
    {"json_type", "json_type('{' || replace(" A ", 'a', '\"\":1,') || '\"b\":2}', '$.b')"},
    {"json_valid", "json_valid(replace(" A ", 'a', '['))"},
    {"json_array_length", "json_array_length('[' || replace(" A ", 'a', '1,') || '1]')"},
};

static double cpu_seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double stop_at;

static bool is_late(void)
{
    return cpu_seconds() > stop_at;
}

TEST(every_function_ends_soon_when_it_is_stopped)
{
    struct osc_sql sql;
    struct osc_strbuf text = {0}, out = {0};

    assert_int_equal(osc_sql_open(&sql, is_late), OSC_OK);
    assert_int_equal(osc_sql_texts_add(&sql), OSC_OK);
    for (size_t i = 0; i < sizeof worst / sizeof *worst; i++) {
        osc_strbuf_clear(&text);
        osc_strbuf_addf(&text, "SELECT length(%s)", worst[i].call);
        sql.n_selects = 0;
        stop_at = cpu_seconds() + 0.02;
        run(sql.db, text.s, NULL, 0, &out);
        const double took = cpu_seconds() - stop_at;
        if (took > 2) /* seconds to hours without a question */
            fail_msg("%s takes %.1f s longer than it may", worst[i].name, took);
    }
    osc_strbuf_fini(&text);
    osc_strbuf_fini(&out);
    osc_sql_close(&sql);
}

/* A function that is allowed must be tried here, unless it works on several rows. */
TEST(every_function_of_a_row_is_tried)
{
    bool is_row = true;

    for (size_t i = 0; osc_sql_functions[i]; i++) {
        bool is_tried = false;

        is_row = is_row && strcmp(osc_sql_functions[i], "count") != 0;
        for (size_t k = 0; k < sizeof worst / sizeof *worst; k++)
            is_tried = is_tried || strcmp(worst[k].name, osc_sql_functions[i]) == 0;
        if (is_row && !is_tried)
            fail_msg("%s() is not tried", osc_sql_functions[i]);
    }
    assert_false(is_row);
}

UNIT_MAIN("texts")
