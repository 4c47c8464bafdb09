/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stacks/stack_tree.h"

#include "base/mem.h"
#include "support/unit.h"

static osc_status append(void *ctx, const char *s, size_t len)
{
    struct osc_strbuf *const out = ctx;

    osc_strbuf_add(out, s, len);
    return out->status;
}

static const char *text_of(const struct osc_stack_tree *tree, struct osc_strbuf *out)
{
    uint64_t n_lines = 0, n_seen = 0;

    osc_strbuf_clear(out);
    assert_int_equal(osc_stack_tree_write(tree, append, out, &n_lines), OSC_OK);
    for (size_t i = 0; i < out->len; i++)
        n_seen += out->s[i] == '\n';
    assert_int_equal(n_lines, n_seen);
    return out->len > 0 ? out->s : "";
}

/* The stack of FRAMES, one letter each. */
static uint32_t push(struct osc_stack_tree *tree, const char *frames)
{
    uint32_t node = 0;

    for (; *frames; frames++)
        assert_int_equal(osc_stack_tree_push(tree, node, (struct osc_str){frames, 1}, &node),
                         OSC_OK);
    return node;
}

TEST(lines_are_sorted_and_positive)
{
    struct osc_stack_tree tree;
    struct osc_strbuf out = {0};

    osc_stack_tree_init(&tree);
    assert_string_equal(text_of(&tree, &out), "");
    osc_stack_tree_add(&tree, push(&tree, "b"), 2);
    osc_stack_tree_add(&tree, push(&tree, "ac"), 3);
    osc_stack_tree_add(&tree, push(&tree, "ab"), 4);
    osc_stack_tree_add(&tree, push(&tree, "ab"), 1);
    osc_stack_tree_add(&tree, push(&tree, "ad"), -7);
    osc_stack_tree_add(&tree, push(&tree, "bx"), 0);
    osc_stack_tree_add(&tree, 0, 9);
    assert_string_equal(text_of(&tree, &out), "a;b 5\na;c 3\nb 2\n");
    osc_strbuf_clear(&out);
    osc_stack_tree_text(&tree, push(&tree, "abc"), &out);
    assert_string_equal(out.s, "a;b;c");
    osc_strbuf_fini(&out);
    osc_stack_tree_fini(&tree);
}

TEST(blanks_stay_where_they_end_nothing)
{
    struct osc_stack_tree tree;
    uint32_t node = 0;

    osc_stack_tree_init(&tree);
    tree.keeps_blanks = true;
    assert_int_equal(osc_stack_tree_push(&tree, 0, OSC_STR("train.py(1): a;b"), &node), OSC_OK);
    assert_string_equal(tree.scratch.s, "train.py(1): a_b");
    osc_stack_tree_fini(&tree);
}

TEST(a_frame_holds_no_byte_that_ends_one)
{
    static const struct osc_str frames[] = {
        {"a b;c\td\n\r", 9}, {"", 0}, {"\0x\x7f", 3}, {"\xff", 1}, {"\xc2\x9b\xc2\xa0", 4}};
    struct osc_stack_tree tree;
    struct osc_strbuf out = {0};
    uint32_t node = 0;

    osc_stack_tree_init(&tree);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        assert_int_equal(osc_stack_tree_push(&tree, node, frames[i], &node), OSC_OK);
    osc_stack_tree_add(&tree, node, 1);
    assert_string_equal(text_of(&tree, &out), "a_b_c_d__;_;_x_;\xef\xbf\xbd;_\xc2\xa0 1\n");
    osc_strbuf_fini(&out);
    osc_stack_tree_fini(&tree);
}

TEST(what_is_too_deep_or_long_is_cut)
{
    char name[5000];
    struct osc_stack_tree tree;
    struct osc_strbuf out = {0};
    uint32_t node = 0;
    size_t n_frames = 1;

    osc_stack_tree_init(&tree);
    for (uint32_t i = 0; i < 2 * OSC_STACK_TREE_DEPTH; i++) {
        assert_int_equal(osc_stack_tree_push(&tree, node, OSC_STR("f"), &node), OSC_OK);
        osc_stack_tree_add(&tree, node, 1);
    }
    (void)text_of(&tree, &out);
    for (size_t i = out.len - 1; i > 0 && out.s[i - 1] != '\n'; i--)
        n_frames += out.s[i] == ';';
    assert_int_equal(n_frames, OSC_STACK_TREE_DEPTH);
    assert_memory_equal(out.s + out.len - 5, " 513\n", 5);
    osc_stack_tree_fini(&tree);

    osc_stack_tree_init(&tree);
    memset(name, 'x', sizeof name);
    name[4094] = (char)0xe2; /* a character across the bound */
    name[4095] = (char)0x82;
    name[4096] = (char)0xac;
    assert_int_equal(osc_stack_tree_push(&tree, 0, (struct osc_str){name, sizeof name}, &node),
                     OSC_OK);
    osc_stack_tree_add(&tree, node, 1);
    assert_int_equal(strlen(text_of(&tree, &out)), 4094 + 3);
    osc_strbuf_fini(&out);
    osc_stack_tree_fini(&tree);
}

static osc_status make(struct osc_strbuf *out)
{
    struct osc_stack_tree tree;
    uint64_t n_lines;
    osc_status st = OSC_OK;

    osc_stack_tree_init(&tree);
    for (uint32_t i = 0; i < 300 && st == OSC_OK; i++) {
        const char name[2] = {(char)('a' + i % 26), (char)('a' + i / 26)};
        uint32_t node;

        st = osc_stack_tree_push(&tree, i / 3, (struct osc_str){name, 2}, &node);
        if (st == OSC_OK)
            osc_stack_tree_add(&tree, node, 1);
    }
    if (st == OSC_OK)
        st = osc_stack_tree_write(&tree, append, out, &n_lines);
    osc_stack_tree_fini(&tree);
    return st;
}

TEST(says_so_when_memory_is_exhausted)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        struct osc_strbuf out = {0};

        osc_mem_fail_after(n);
        st = make(&out);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        osc_strbuf_fini(&out);
    }
}

UNIT_MAIN("stack_tree")
