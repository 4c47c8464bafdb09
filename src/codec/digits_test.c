/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/digits.h"

#include "support/unit.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

static uint64_t random_state = 88172645463325252;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void check_int(int64_t v)
{
    char want[32], got[OSC_DIGITS_MAX + 1];

    snprintf(want, sizeof want, "%" PRId64, v);
    *osc_digits_i64(got, v) = '\0';
    assert_string_equal(got, want);
    snprintf(want, sizeof want, "%" PRIu64, (uint64_t)v);
    *osc_digits_u64(got, (uint64_t)v) = '\0';
    assert_string_equal(got, want);
}

TEST(integers_are_those_of_printf)
{
    for (uint64_t ten = 1, k = 0; k < 20; k++, ten *= 10) {
        check_int((int64_t)ten);
        check_int((int64_t)(ten - 1));
        check_int(-(int64_t)ten);
    }
    check_int(INT64_MIN);
    check_int(INT64_MAX);
    for (int i = 0; i < 100000; i++)
        check_int((int64_t)(next_random() >> next_random() % 64));
}

static void check_micros(int64_t ns, const char *want)
{
    char got[OSC_DIGITS_MAX + 1];

    *osc_digits_micros(got, ns) = '\0';
    assert_string_equal(got, want);
}

TEST(times_have_three_decimals)
{
    check_micros(0, "0.000");
    check_micros(7, "0.007");
    check_micros(-7, "-0.007");
    check_micros(1000, "1.000");
    check_micros(99999999, "99999.999");
    check_micros(100000000, "100000.000");
    check_micros(INT64_MIN, "-9223372036854775.808");
    check_micros(-1234567, "-1234.567");
    check_micros(INT64_C(1623143089861123456), "1623143089861123.456");
    check_micros(INT64_C(4611686018427387903), "4611686018427387.903");
}

/* Compare with printf: the shortest text that reads back. */
static void check_shortest(double v, const char *text)
{
    char digits[32], want[48];
    int n = 15;

    do
        snprintf(digits, sizeof digits, "%.*g", n, v);
    while (n++ < 17 && strtod(digits, NULL) != v);
    snprintf(want, sizeof want, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
    assert_string_equal(text, want);
}

static void check_double(double v)
{
    char text[OSC_DIGITS_MAX + 1];
    const double zero = 0;

    *osc_digits_double(text, v) = '\0';
    if (v - v == 0 && v * v >= 1e-8)
        check_shortest(v, text);
    const double again = strtod(text, NULL);
    assert_memory_equal(&again, &v, sizeof v);
    assert_true(strpbrk(text, ".e") != NULL || v == zero);
}

TEST(doubles_read_back)
{
    char text[OSC_DIGITS_MAX + 1];

    *osc_digits_double(text, 1) = '\0';
    assert_string_equal(text, "1.0");
    *osc_digits_double(text, -0.0) = '\0';
    assert_string_equal(text, "-0.0");
    *osc_digits_double(text, 0.1) = '\0';
    assert_string_equal(text, "0.1");
    *osc_digits_double(text, -12.03125) = '\0';
    assert_string_equal(text, "-12.03125");
    check_double(DBL_MAX);
    check_double(-DBL_MIN);
    check_double(5e-324);
    check_double(1e22);
    check_double(999999999.9999999);
    check_double(0x1p-9);
    check_double(nextafter(1, 0));
    check_double(nextafter(1, 2));
    check_double(nextafter(1e-3, 0));
    check_double(9.999999999999999);
    check_double(99999999.99999999);
    for (int i = 0; i < 200000; i++) {
        const uint64_t bits = next_random();
        double v;

        check_double(ldexp((double)(bits >> 11), (int)(bits % 44) - 66));
        check_double((double)(bits >> 32) / (double)(bits % 100000 + 1));
        check_double((double)(int64_t)(bits % 2000000000) / 1000);
        memcpy(&v, &bits, sizeof v);
        if (v - v == 0)
            check_double(v);
    }
}

UNIT_MAIN("digits")
