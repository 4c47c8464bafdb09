/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef void add_fn(struct osc_strbuf *out, const char *word);

static void assert_adds(add_fn *add, const char *word, const char *expected)
{
    struct osc_strbuf out = {0};

    add(&out, word);
    assert_string_equal(out.s, expected);
    osc_strbuf_fini(&out);
}

static void quotes_what_a_shell_would_take_apart(void **state)
{
    (void)state;
    assert_adds(osc_shell_add_word, "a/b-c_1.json", "a/b-c_1.json");
    assert_adds(osc_shell_add_word, "", "''");
    assert_adds(osc_shell_add_word, "a b", "'a b'");
    assert_adds(osc_shell_add_word, "a'$b", "'a'\\''$b'");
    assert_adds(osc_shell_add_word, "a\n'\\\xff", "$'a\\x0a\\'\\\\\\xff'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_what_a_shell_would_take_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
