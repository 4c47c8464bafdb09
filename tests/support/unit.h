/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - unit tests: cmocka with its headers, and an automatic list of tests.
 *
 *   TEST(name)                    then the body; its argument is void **state
 *   TEST_WITH(name, make, end)    the same between two fixtures, either of which may be NULL
 *   UNIT_MAIN("group")            last: main(), which runs them in order of their lines
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * Slow tests whose cases differ only in data run one in so many of their cases, because
 * ThreadSanitizer and MemorySanitizer make them up to twenty times slower, and AddressSanitizer
 * two or three times.
 */
#if defined __SANITIZE_THREAD__
#define UNIT_SLOWNESS 4u
#elif defined __SANITIZE_ADDRESS__
#define UNIT_SLOWNESS 2u
#elif defined __has_feature
#define UNIT_SLOWNESS \
    (__has_feature(thread_sanitizer) || __has_feature(memory_sanitizer) ? 4u : 1u)
#else
#define UNIT_SLOWNESS 1u
#endif

#define UNIT_TESTS_MAX 64

static struct CMUnitTest unit_tests[UNIT_TESTS_MAX];
static int unit_lines[UNIT_TESTS_MAX];
static size_t n_unit_tests;

/* Insert TEST in order of LINE, because constructors run in any order. */
static inline void unit_add(struct CMUnitTest test, int line)
{
    size_t i = n_unit_tests++;

    if (i == UNIT_TESTS_MAX)
        abort();
    for (; i > 0 && unit_lines[i - 1] > line; i--) {
        unit_tests[i] = unit_tests[i - 1];
        unit_lines[i] = unit_lines[i - 1];
    }
    unit_tests[i] = test;
    unit_lines[i] = line;
}

static inline int unit_run(const char *group, CMFixtureFunction make, CMFixtureFunction end)
{
    return _cmocka_run_group_tests(group, unit_tests, n_unit_tests, make, end);
}

#define TEST_WITH(test, make, end)                                                    \
    static void test(void **state);                                                   \
    __attribute__((constructor)) static void add_##test(void)                         \
    {                                                                                 \
        unit_add((struct CMUnitTest)cmocka_unit_test_setup_teardown(test, make, end), \
                 __LINE__);                                                           \
    }                                                                                 \
    static void test(void **state __attribute__((unused)))

#define TEST(test) TEST_WITH(test, NULL, NULL)

#define UNIT_MAIN(group)                    \
    int main(void)                          \
    {                                       \
        return unit_run(group, NULL, NULL); \
    }
