/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/source_list.h"

#include "support/unit.h"

TEST(words_are_in_order_and_name_one_source_each)
{
    for (size_t i = 1; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_entry *const e = &osc_source_entries[i];

        assert_true(strcmp(e[-1].word, e->word) < 0);
        assert_int_equal(e->bit, 1u << i);
        assert_non_null(e->kind->title);
    }
}

TEST(a_collected_source_says_how_it_is_loaded_and_why_it_may_not_be)
{
    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_entry *const e = &osc_source_entries[i];
        const bool is_collected = (e->bit & OSC_SOURCES_COLLECTED) != 0;

        assert_int_equal(is_collected, e->kind->variable || e->kind->is_preloaded);
        assert_int_equal(is_collected, e->kind->unused != NULL);
        assert_true(e->kind->variable || !e->kind->is_list);
        assert_true(e->kind->is_preloaded || !e->kind->switch_variable);
        assert_true(!is_collected || e->kind->what);
    }
}

TEST(titles_are_joined_as_in_a_sentence)
{
    struct osc_strbuf text = {0};

    assert_int_equal(osc_sources_add_titles(&text, 0), 0);
    assert_int_equal(text.len, 0);
    assert_int_equal(osc_sources_add_titles(&text, OSC_SOURCE_ITT), 1);
    osc_strbuf_adds(&text, "; ");
    assert_int_equal(
        osc_sources_add_titles(&text, OSC_SOURCE_CUDA | OSC_SOURCE_ITT | OSC_SOURCE_NVTX), 3);
    assert_string_equal(text.s, "ITT; CUDA, ITT and NVTX");
    osc_strbuf_fini(&text);
}

UNIT_MAIN("source_list")
