/* SPDX-License-Identifier: Apache-2.0 */
#include "table/merge.h"

#include "base/mem.h"
#include "support/unit.h"

enum { NAME, STREAM, CALLS, MAX, MIN, WEIGHT, ANY, WHERE, ALL, COUNTS, MEAN };

static const struct osc_column columns[] = {
    {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0, .help = ""},
    {"stream", OSC_TYPE_INTEGER, NULL, OSC_MERGE_KEY, 0, .help = ""},
    {"calls", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0, .help = ""},
    {"max_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_MAX, 0, .help = ""},
    {"min", OSC_TYPE_NUMBER, NULL, OSC_MERGE_MIN, 0, .help = ""},
    {"weight", OSC_TYPE_NUMBER, NULL, OSC_MERGE_SUM, OSC_COLUMN_HIDDEN, .help = ""},
    {"any", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_OR, 0, .help = ""},
    {"where", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, OSC_COLUMN_OPTIONAL, .help = ""},
    {"all", OSC_TYPE_STRING, NULL, OSC_MERGE_JOIN, 0, .help = ""},
    {"counts", OSC_TYPE_STRING, NULL, OSC_MERGE_BUCKETS, OSC_COLUMN_HIDDEN, .help = ""},
    {"mean", OSC_TYPE_NUMBER, NULL, OSC_MERGE_FINISH, 0, .help = ""},
};
static const struct osc_table_def def = {.name = "t", .columns = columns, .n_columns = 11};

#define PARTS 7

/* Part P: rows that partly have the keys of others, values from a fixed generator. */
static osc_status fill_part(struct osc_result *r, unsigned p)
{
    unsigned seed = 77 + p;

    osc_result_init(r, &def);
    if (p == 3)
        return OSC_OK; /* a rank where the table does not apply */
    if (p == 5)
        osc_result_show(r, WHERE);
    osc_result_note(r, "note %u", p % 3);
    for (int i = 0; i < 40; i++) {
        char text[32];

        osc_result_row(r);
        int len = snprintf(text, sizeof text, "k%d", rand_r(&seed) % 50);
        osc_result_str(r, NAME, (struct osc_str){text, (uint32_t)len});
        if (rand_r(&seed) % 3)
            osc_result_int(r, STREAM, rand_r(&seed) % 2);
        osc_result_int(r, CALLS, rand_r(&seed) % 1000);
        osc_result_int(r, MAX, rand_r(&seed) - RAND_MAX / 2);
        if (rand_r(&seed) % 4)
            osc_result_num(r, MIN, rand_r(&seed) / 7.0);
        osc_result_num(r, WEIGHT, rand_r(&seed) / 3.0 * (rand_r(&seed) % 2 ? 1e-9 : -1e9));
        osc_result_bool(r, ANY, rand_r(&seed) % 5 == 0);
        len = snprintf(text, sizeof text, "part %u row %d", p, i);
        osc_result_str(r, WHERE, (struct osc_str){text, (uint32_t)len});
        if (rand_r(&seed) % 3)
            osc_result_str(r, ALL, (struct osc_str){text, (uint32_t)len});
        len = snprintf(text, sizeof text, "%d:%d 40:7", rand_r(&seed) % 30, 1 + i);
        if (rand_r(&seed) % 4)
            osc_result_str(r, COUNTS, (struct osc_str){text, (uint32_t)len});
    }
    return r->status;
}

/* All of R as text: every bit of it shows. */
static void print_result(const struct osc_result *r, struct osc_strbuf *out)
{
    osc_strbuf_addf(out, "%llx\n", (unsigned long long)r->shown);
    osc_strbuf_add(out, r->notes.s, r->notes.len);
    for (uint64_t i = 0; i < r->n_rows; i++) {
        for (uint32_t c = 0; c < def.n_columns; c++) {
            osc_strbuf_addc(out, osc_result_has(r, i, c) ? '+' : '-');
            if (columns[c].type == OSC_TYPE_STRING)
                osc_strbuf_addstr(out, osc_result_get_str(r, i, c));
            else if (columns[c].type == OSC_TYPE_INTEGER)
                osc_strbuf_addi(out, osc_result_get_int(r, i, c));
            else if (columns[c].type == OSC_TYPE_NUMBER)
                osc_strbuf_addf(out, "%a", osc_result_get_num(r, i, c));
            else
                osc_strbuf_addc(out, osc_result_get_bool(r, i, c) ? 'T' : 'F');
        }
        osc_strbuf_addc(out, '\n');
    }
}

/* Merge all parts in the order that SEED gives. */
static osc_status merge_all(unsigned seed, struct osc_strbuf *text)
{
    struct osc_merger merger;
    struct osc_result parts[PARTS], out;
    unsigned order[PARTS];
    osc_status st = OSC_OK;

    osc_merger_init(&merger, &def);
    for (unsigned i = 0; i < PARTS; i++) {
        const osc_status filled = fill_part(&parts[i], i);

        order[i] = i;
        if (st == OSC_OK)
            st = filled;
    }
    for (unsigned i = PARTS - 1; i > 0 && seed; i--) {
        const unsigned j = (unsigned)rand_r(&seed) % (i + 1);
        const unsigned swap = order[i];

        order[i] = order[j];
        order[j] = swap;
    }
    for (unsigned i = 0; i < PARTS && st == OSC_OK; i++)
        st = osc_merger_add(&merger, &parts[order[i]], order[i]);
    osc_result_init(&out, &def);
    if (st == OSC_OK)
        st = osc_merger_result(&merger, &out);
    if (st == OSC_OK)
        print_result(&out, text);
    osc_result_fini(&out);
    for (unsigned i = 0; i < PARTS; i++)
        osc_result_fini(&parts[i]);
    osc_merger_fini(&merger);
    return st;
}

TEST(gives_the_same_bytes_for_any_order)
{
    struct osc_strbuf first = {0};

    assert_int_equal(merge_all(0, &first), OSC_OK);
    assert_true(first.len > 1000);
    for (unsigned seed = 1; seed < 300; seed++) {
        struct osc_strbuf other = {0};

        assert_int_equal(merge_all(seed, &other), OSC_OK);
        assert_int_equal(other.len, first.len);
        assert_memory_equal(other.s, first.s, first.len);
        osc_strbuf_fini(&other);
    }
    osc_strbuf_fini(&first);
}

/* Merge parts 0 and 1 of which N_ROWS have a row; each of the others has a note why not. */
static void merge_notes(unsigned n_rows, const char *notes, bool says_why_empty)
{
    struct osc_merger merger;
    struct osc_result parts[2], out;

    osc_merger_init(&merger, &def);
    osc_result_init(&out, &def);
    for (unsigned i = 0; i < 2; i++) {
        osc_result_init(&parts[i], &def);
        if (i < n_rows)
            osc_result_row(&parts[i]);
        else
            osc_result_why_empty(&parts[i], "none");
        assert_int_equal(osc_merger_add(&merger, &parts[i], i), OSC_OK);
    }
    assert_int_equal(osc_merger_result(&merger, &out), OSC_OK);
    assert_string_equal(out.notes.len > 0 ? out.notes.s : "", notes);
    assert_int_equal(out.says_why_empty, says_why_empty);
    osc_result_fini(&parts[0]);
    osc_result_fini(&parts[1]);
    osc_result_fini(&out);
    osc_merger_fini(&merger);
}

TEST(says_why_it_is_empty_only_if_all_parts_are)
{
    merge_notes(0, "none\n", true);
    merge_notes(1, "", false);
    merge_notes(2, "", false);
}

/* A list has no keys. Its rows are moved if the parts came in order, and sorted if not. */
TEST(a_list_has_the_rows_of_all_parts_in_order)
{
    static const struct osc_column list_columns[] = {
        {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, 0, .help = ""},
        {"mean", OSC_TYPE_NUMBER, NULL, OSC_MERGE_FINISH, 0, .help = ""},
    };
    static const struct osc_table_def list = {
        .name = "l", .columns = list_columns, .n_columns = 2};
    static const unsigned orders[][3] = {{0, 1, 2}, {2, 0, 1}};

    assert_false(osc_merge_has_keys(&list));
    assert_true(osc_merge_has_keys(&def));
    for (size_t k = 0; k < 2; k++) {
        struct osc_merger m;
        struct osc_result out, part;

        osc_merger_init(&m, &list);
        osc_result_init(&out, &list);
        for (size_t i = 0; i < 3; i++) {
            const unsigned p = orders[k][i];

            osc_result_init(&part, &list);
            part.n_left_out = 10 + p;
            osc_result_note(&part, "note %u", 2 - p);
            for (unsigned row = 0; row < 2; row++) {
                osc_result_row(&part);
                osc_result_str(&part, 0, (struct osc_str){&"aabbcc"[2 * p + row], 1});
                osc_result_num(&part, 1, 0.5);
            }
            assert_int_equal(osc_merger_add(&m, &part, p), OSC_OK);
            osc_result_fini(&part);
        }
        assert_int_equal(osc_merger_result(&m, &out), OSC_OK);
        osc_merger_fini(&m);
        assert_int_equal(out.n_rows, 6);
        assert_int_equal(out.n_left_out, 33);
        assert_string_equal(out.notes.s, "note 0\nnote 1\nnote 2\n");
        for (uint64_t i = 0; i < 6; i++) {
            const struct osc_str name = osc_result_get_str(&out, i, 0);

            assert_int_equal(name.len, 1);
            assert_int_equal(name.s[0], "aabbcc"[i]);
            assert_false(osc_result_has(&out, i, 1));
        }
        osc_result_row(&out); /* it can go on growing */
        osc_result_str(&out, 0, OSC_STR("d"));
        assert_int_equal(out.status, OSC_OK);
        osc_result_fini(&out);
    }
}

TEST(follows_the_rule_of_each_column)
{
    static const double weights[] = {1e30, 1.0, -1e30};
    struct osc_merger m;
    struct osc_result part, out;

    osc_merger_init(&m, &def);
    osc_result_init(&out, &def);
    for (unsigned p = 0; p < 3; p++) {
        osc_result_init(&part, &def);
        osc_result_row(&part);
        osc_result_str(&part, NAME, OSC_STR("k"));
        osc_result_int(&part, CALLS, 2);
        osc_result_int(&part, MAX, (int64_t)p);
        if (p > 0)
            osc_result_num(&part, MIN, p);
        osc_result_num(&part, WEIGHT, weights[p]);
        osc_result_bool(&part, ANY, p == 1);
        osc_result_str(&part, WHERE, p == 0 ? OSC_STR("here") : OSC_STR("there"));
        if (p != 1)
            osc_result_str(&part, ALL, p == 0 ? OSC_STR("one") : OSC_STR("two"));
        assert_int_equal(osc_merger_add(&m, &part, p), OSC_OK);
        osc_result_fini(&part);
    }
    assert_int_equal(osc_merger_result(&m, &out), OSC_OK);
    assert_int_equal(out.n_rows, 1);
    assert_false(osc_result_has(&out, 0, STREAM));
    assert_int_equal(osc_result_get_int(&out, 0, CALLS), 6);
    assert_int_equal(osc_result_get_int(&out, 0, MAX), 2);
    assert_true(osc_result_get_num(&out, 0, MIN) == 1.0);
    assert_true(osc_result_get_num(&out, 0, WEIGHT) == 1.0); /* plain sums would lose it */
    assert_true(osc_result_get_bool(&out, 0, ANY));
    assert_true(osc_str_eq(osc_result_get_str(&out, 0, WHERE), OSC_STR("here")));
    assert_true(osc_str_eq(osc_result_get_str(&out, 0, ALL), OSC_STR("one\ntwo")));
    assert_false(osc_result_has(&out, 0, MEAN));
    osc_result_fini(&out);
    osc_merger_fini(&m);
}

/* CALLS of one row made of the N values of CALLS, each in a part of its own. */
static int64_t sum_calls(const int64_t *calls, unsigned n)
{
    struct osc_merger merger;
    struct osc_result part, out;
    int64_t sum = 0;

    osc_merger_init(&merger, &def);
    for (unsigned p = 0; p < n; p++) {
        osc_result_init(&part, &def);
        osc_result_row(&part);
        osc_result_str(&part, NAME, OSC_STR("k"));
        osc_result_int(&part, CALLS, calls[p]);
        assert_int_equal(osc_merger_add(&merger, &part, p), OSC_OK);
        osc_result_fini(&part);
    }
    osc_result_init(&out, &def);
    assert_int_equal(osc_merger_result(&merger, &out), OSC_OK);
    assert_int_equal(out.n_rows, 1);
    assert_true(osc_result_has(&out, 0, CALLS));
    sum = osc_result_get_int(&out, 0, CALLS);
    osc_result_fini(&out);
    osc_merger_fini(&merger);
    return sum;
}

TEST(cuts_sums_of_integers_only_at_the_end)
{
    static const int64_t forth_and_back[] = {INT64_MAX, 5, INT64_MIN, 7};
    static const int64_t back_and_forth[] = {INT64_MIN, INT64_MIN, INT64_MAX, INT64_MAX};
    static const int64_t much[] = {INT64_MAX, 1, 1}, little[] = {INT64_MIN, -1, INT64_MIN};

    assert_int_equal(sum_calls(forth_and_back, 4), 11);
    assert_int_equal(sum_calls(back_and_forth, 4), -2);
    assert_true(sum_calls(much, 3) == INT64_MAX);
    assert_true(sum_calls(little, 3) == INT64_MIN);
}

TEST(frees_everything_after_any_failed_allocation)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        struct osc_strbuf text = {0};

        osc_mem_fail_after(n);
        st = merge_all(5, &text);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        osc_strbuf_fini(&text);
    }
}

UNIT_MAIN("merge")
