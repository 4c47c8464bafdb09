/* SPDX-License-Identifier: Apache-2.0 */
#include "names/elide.h"

#include <string.h>

#include "base/utf8.h"
#include "support/unit.h"

static struct osc_strbuf out;

static int end(void **state)
{
    (void)state;
    osc_strbuf_fini(&out);
    return 0;
}

/* TEXT in WIDTH columns, with KEPT. */
static const char *elided(const char *text, size_t width, const struct osc_kept *kept)
{
    osc_strbuf_clear(&out);
    osc_elide(&out, osc_str_c(text), width, kept);
    assert_int_equal(out.status, OSC_OK);
    assert_true(osc_utf8_columns((struct osc_str){out.s ? out.s : "", (uint32_t)out.len}) <=
                width);
    return out.s ? out.s : "";
}

TEST_WITH(what_fits_is_not_cut, NULL, end)
{
    assert_string_equal(elided("abcdef", 6, NULL), "abcdef");
    assert_string_equal(elided("\xc3\xa4\xc3\xb6", 2, NULL), "\xc3\xa4\xc3\xb6");
    assert_string_equal(elided("", 0, NULL), "");
}

TEST_WITH(start_and_end_stay, NULL, end)
{
    assert_string_equal(elided("abcdefghij", 5, NULL), "ab\xe2\x80\xa6ij");
    assert_string_equal(elided("abcdefghij", 1, NULL), "\xe2\x80\xa6");
    assert_string_equal(elided("abcdefghij", 0, NULL), "");
}

TEST_WITH(parts_that_are_kept_stay_where_there_is_room, NULL, end)
{
    struct osc_kept kept = {.n = 0};

    osc_kept_add(&kept, (struct osc_span){10, 13});
    osc_kept_add(&kept, (struct osc_span){7, 7}); /* empty: none */
    assert_int_equal(kept.n, 1);
    assert_non_null(strstr(elided("aaaaaaaaaaxyzbbbbbbbbbb", 9, &kept), "xyz"));
    assert_true(osc_elide_fits(OSC_STR("aaaaaaaaaaxyzbbbbbbbbbb"), 5, &kept));
    assert_false(osc_elide_fits(OSC_STR("aaaaaaaaaaxyzbbbbbbbbbb"), 4, &kept));
    assert_null(strstr(elided("aaaaaaaaaaxyzbbbbbbbbbb", 4, &kept), "xyz"));
}

TEST_WITH(words_that_differ_are_found, NULL, end)
{
    const struct osc_str texts[] = {OSC_STR("f same one tail"), OSC_STR("f same two tail")};
    const struct osc_elide_room room = {.word = 8, .number = 8};
    struct osc_kept kept[2];

    assert_int_equal(osc_elide_apart(texts, 2, room, kept), OSC_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kept[i].n, 1);
        assert_int_equal(kept[i].at[0].from, 7);
        assert_int_equal(kept[i].at[0].to, 10);
    }
}

UNIT_MAIN("elide")
