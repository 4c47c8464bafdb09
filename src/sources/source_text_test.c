/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_text.h"

#include <sys/wait.h>
#include <unistd.h>

#include "support/record_double.h"
#include "support/unit.h"

#define N_THREADS 4
#define N_TEXTS   20000

TEST(finds_an_equal_text_again)
{
    char a[] = "aten::relu", b[] = "aten::relu";

    struct osc_text *const text = osc_text_find_c(a);
    memset(a, 'x', sizeof a - 1);
    assert_ptr_equal(osc_text_find_c(b), text);
    assert_string_equal(text->bytes, "aten::relu");
    assert_ptr_not_equal(osc_text_find_c(a), text);
}

TEST(tells_texts_apart_by_every_byte)
{
    for (size_t len = 1; len < 40; len++) {
        char s[40];

        memset(s, 'a', sizeof s);
        struct osc_text *const text = osc_text_find(s, len);
        assert_int_equal(text->len, len);
        for (size_t i = 0; i < len; i++) {
            s[i] = 'b';
            assert_ptr_not_equal(osc_text_find(s, len), text);
            s[i] = 'a';
        }
        assert_ptr_equal(osc_text_find(s, len), text);
    }
}

TEST(takes_null_and_empty_and_huge_texts)
{
    char *const huge = test_malloc(OSC_TEXT_LEN_MAX + 10);

    assert_ptr_equal(osc_text_find_c(NULL), osc_text_find_c(""));
    assert_int_equal(osc_text_name(osc_text_find_c("")), 0);
    memset(huge, 'h', OSC_TEXT_LEN_MAX + 10);
    assert_int_equal(osc_text_find(huge, OSC_TEXT_LEN_MAX + 10)->len, OSC_TEXT_LEN_MAX);
    test_free(huge);
}

TEST(knows_operators_by_their_namespace)
{
    static const char *const operators[] = {"aten::conv2d", "a::b", "_c10d_functional::wait",
                                            "autograd::engine::evaluate_function: X"};
    static const char *const others[] = {
        "iteration_0", "", "::x", "a::", "a:b", "1::x", "my phase::part", "AddBackward0"};

    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        assert_true(osc_text_find_c(operators[i])->is_operator);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(osc_text_find_c(others[i])->is_operator);
}

static void *find_all(void *ctx)
{
    struct osc_text **const found = ctx;

    for (int i = 0; i < N_TEXTS; i++) {
        char s[32];

        snprintf(s, sizeof s, "name of a range %d", i);
        found[i] = osc_text_find_c(s);
    }
    return NULL;
}

TEST(gives_all_threads_the_same_entries)
{
    static struct osc_text *found[N_THREADS][N_TEXTS];
    pthread_t threads[N_THREADS];

    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, find_all, found[i]), 0);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 1; i < N_THREADS; i++)
        assert_memory_equal(found[i], found[0], sizeof found[0]);
    for (int i = 0; i < N_TEXTS; i++)
        assert_int_equal(strtol(found[0][i]->bytes + 16, NULL, 10), i);
}

/* Runs in a process of its own, because entries are never freed. */
static int fill(void)
{
    char *const s = test_malloc(OSC_TEXT_LEN_MAX);
    const struct osc_text *last = NULL, *text = NULL;

    memset(s, 's', OSC_TEXT_LEN_MAX);
    for (int i = 0; i < 300; i++) {
        memcpy(s, &i, sizeof i);
        last = text;
        text = osc_text_find(s, OSC_TEXT_LEN_MAX);
    }
    return text == last && strncmp(text->bytes, "(more", 5) == 0 ? 0 : 1;
}

TEST(shares_one_entry_when_there_is_no_room)
{
    int status = 0;

    const pid_t child = fork();
    if (child == 0)
        _exit(fill());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

UNIT_MAIN("source_text")
