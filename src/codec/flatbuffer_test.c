/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/flatbuffer.h"

#include "base/mem.h"
#include "support/unit.h"

/* Read the N bytes at PLACE of B as a number. */
static int64_t number(const struct osc_strbuf *b, size_t place, size_t n)
{
    int64_t value = 0;

    assert_true(place + n <= b->len);
    memcpy(&value, b->s + place, n);
    return value;
}

/* What PLACE refers to. */
static size_t follow(const struct osc_strbuf *b, size_t place)
{
    return place + (size_t)number(b, place, 4);
}

/* The place of FIELD of TABLE, by the rules for readers; 0: it is left out. */
static size_t field_of(const struct osc_strbuf *b, size_t table, size_t field)
{
    const size_t vtable = table - (size_t)(int32_t)number(b, table, 4);
    const size_t at = 4 + 2 * field < (size_t)number(b, vtable, 2)
                          ? (size_t)number(b, vtable + 4 + 2 * field, 2)
                          : 0;

    assert_true(at < (size_t)number(b, vtable + 2, 2));
    return at > 0 ? table + at : 0;
}

static void write_all(struct osc_strbuf *out)
{
    static const int64_t pairs[2][2] = {{1, INT64_MIN}, {2, 3}};
    static const uint8_t sizes[] = {2, 1, 4, 8, 0, 4, 4};
    struct osc_flat f = osc_flat_begin(out);
    const size_t root = osc_flat_table(&f, OSC_FLAT_ROOT, sizes, 7);

    osc_flat_set(&f, root, 0, -2, 2);
    osc_flat_set(&f, root, 1, 200, 1);
    osc_flat_text(&f, osc_flat_field(&f, root, 2), OSC_STR("a\0b"));
    osc_flat_set(&f, root, 3, INT64_MAX, 8);
    osc_flat_pairs(&f, osc_flat_field(&f, root, 5), pairs, 2);
    const size_t first = osc_flat_vector(&f, osc_flat_field(&f, root, 6), 2);
    for (int64_t i = 0; i < 2; i++) {
        const size_t table = osc_flat_table(&f, first + 4 * (size_t)i, sizes, 2);

        osc_flat_set(&f, table, 1, 7 + i, 1);
    }
    osc_flat_end(&f);
}

TEST(what_was_written_is_read_by_the_rules_of_the_format)
{
    struct osc_strbuf b = {0};

    (void)state;
    write_all(&b);
    assert_int_equal(b.status, OSC_OK);
    assert_int_equal(b.len % 8, 0);
    const size_t root = follow(&b, 0);
    assert_int_equal(root % 8, 0);
    assert_int_equal((int16_t)number(&b, field_of(&b, root, 0), 2), -2);
    assert_int_equal(number(&b, field_of(&b, root, 1), 1), 200);
    const size_t text = follow(&b, field_of(&b, root, 2));
    assert_int_equal(number(&b, text, 4), 3);
    assert_memory_equal(b.s + text + 4, "a\0b", 4);
    assert_int_equal(field_of(&b, root, 3) % 8, 0);
    assert_int_equal(number(&b, field_of(&b, root, 3), 8), INT64_MAX);
    assert_int_equal(field_of(&b, root, 4), 0);
    assert_int_equal(field_of(&b, root, 9), 0);
    const size_t pairs = follow(&b, field_of(&b, root, 5));
    assert_int_equal(number(&b, pairs, 4), 2);
    assert_int_equal((pairs + 4) % 8, 0);
    assert_int_equal(number(&b, pairs + 12, 8), INT64_MIN);
    assert_int_equal(number(&b, pairs + 28, 8), 3);
    const size_t vector = follow(&b, field_of(&b, root, 6));
    assert_int_equal(number(&b, vector, 4), 2);
    for (size_t i = 0; i < 2; i++) {
        const size_t table = follow(&b, vector + 4 + 4 * i);

        assert_int_equal(number(&b, field_of(&b, table, 0), 2), 0);
        assert_int_equal(number(&b, field_of(&b, table, 1), 1), 7 + (int64_t)i);
    }
    osc_strbuf_fini(&b);
}

TEST(without_memory_the_status_says_so)
{
    (void)state;
    for (long n = 0;; n++) {
        struct osc_strbuf b = {0};

        osc_mem_fail_after(n);
        write_all(&b);
        osc_mem_fail_after(-1);
        const osc_status st = b.status;
        osc_strbuf_fini(&b);
        if (st == OSC_OK) {
            assert_true(n > 0);
            return;
        }
        assert_int_equal(st, OSC_ENOMEM);
    }
}

UNIT_MAIN("flatbuffer")
