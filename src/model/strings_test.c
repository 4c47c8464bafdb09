/* SPDX-License-Identifier: Apache-2.0 */
#include "model/strings.h"

#include "base/thread.h"
#include "support/unit.h"

#define N_STRINGS 20000u
#define N_THREADS 4u

/* Names of equal length that agree at both ends and in the middle. */
static struct osc_str name_of(uint32_t i, char *room, size_t size)
{
    const int len = snprintf(room, size, "[[%06u, 64, 64], [64, %06u]]", i, i * 7 % 1000000);

    return (struct osc_str){room, (uint32_t)len};
}

struct adding {
    struct osc_strings strings;
    osc_sid ids[N_THREADS][N_STRINGS];
    osc_status statuses[N_THREADS];
};

static void add_all(void *ctx, uint32_t thread)
{
    struct adding *const a = ctx;
    char room[64];

    for (uint32_t i = 0; i < N_STRINGS && a->statuses[thread] == OSC_OK; i++)
        a->statuses[thread] = osc_strings_add(&a->strings, name_of(i, room, sizeof room),
                                              &a->ids[thread][i], NULL);
}

TEST(gives_all_threads_one_id_for_one_string)
{
    static struct adding a;
    char room[64];

    assert_int_equal(osc_strings_init(&a.strings), OSC_OK);
    osc_parallel(N_THREADS, N_THREADS, add_all, &a);
    for (uint32_t k = 0; k < N_THREADS; k++)
        assert_int_equal(a.statuses[k], OSC_OK);
    for (uint32_t i = 0; i < N_STRINGS; i++) {
        const struct osc_str name = name_of(i, room, sizeof room);

        for (uint32_t k = 1; k < N_THREADS; k++)
            assert_int_equal(a.ids[k][i].v, a.ids[0][i].v);
        assert_true(osc_strings_has(&a.strings, a.ids[0][i]));
        assert_true(osc_str_eq(osc_strings_get(&a.strings, a.ids[0][i]), name));
        assert_int_equal(osc_strings_find(&a.strings, name).v, a.ids[0][i].v);
        assert_true(a.ids[0][i].v < osc_strings_bound(&a.strings));
    }
    osc_strings_fini(&a.strings);
}

/* If one shard received all strings, arrays indexed by id would be sixteen times as long. */
TEST(spreads_strings_that_are_alike_over_its_shards)
{
    struct osc_strings s = {0};
    osc_sid id;
    char room[64];

    assert_int_equal(osc_strings_init(&s), OSC_OK);
    for (uint32_t i = 0; i < N_STRINGS; i++)
        assert_int_equal(osc_strings_add(&s, name_of(i, room, sizeof room), &id, NULL), OSC_OK);
    assert_true(osc_strings_bound(&s) < N_STRINGS * 2);
    osc_strings_fini(&s);
}

TEST(says_which_strings_are_new)
{
    struct osc_strings_place first, again;
    struct osc_strings s = {0};
    osc_sid id;

    assert_int_equal(osc_strings_init(&s), OSC_OK);
    assert_int_equal(osc_strings_add(&s, OSC_STR("a"), &id, &first), OSC_OK);
    assert_int_equal(osc_strings_add(&s, OSC_STR("a"), &id, &again), OSC_OK);
    assert_true(first.is_new);
    assert_false(again.is_new);
    assert_ptr_equal(first.bytes, again.bytes);
    osc_strings_fini(&s);
}

TEST(knows_the_empty_string_from_the_start)
{
    struct osc_strings_place place = {.is_new = true};
    struct osc_strings s = {0};
    osc_sid id = {7};

    assert_int_equal(osc_strings_init(&s), OSC_OK);
    assert_int_equal(osc_strings_add(&s, OSC_STR(""), &id, &place), OSC_OK);
    assert_int_equal(id.v, 0);
    assert_string_equal(place.bytes, "");
    assert_false(place.is_new);
    assert_true(osc_strings_has(&s, id));
    assert_false(osc_strings_has(&s, (osc_sid){OSC_STRINGS_SHARDS}));
    assert_int_equal(osc_strings_find(&s, OSC_STR("x")).v, 0);
    osc_strings_fini(&s);
}

TEST(finds_and_adds_beside_strings_that_were_adopted)
{
    static const char bytes[] = "\0one\0\0t\0wo"; /* "", "one", a hole, "t\0wo" */
    static const uint64_t starts[] = {0, 1, 5, 6, 11};
    struct osc_strings s = {0};
    osc_sid id;

    assert_int_equal(osc_strings_init(&s), OSC_OK);
    osc_strings_adopt(&s, starts, bytes, 4);
    assert_true(osc_str_eq(osc_strings_get(&s, (osc_sid){3}), OSC_STR("t\0wo")));
    assert_int_equal(osc_strings_find(&s, OSC_STR("one")).v, 0); /* no index yet */
    assert_int_equal(osc_strings_index(&s), OSC_OK);
    assert_int_equal(osc_strings_find(&s, OSC_STR("one")).v, 1);
    assert_int_equal(osc_strings_add(&s, OSC_STR("t\0wo"), &id, NULL), OSC_OK);
    assert_int_equal(id.v, 3);
    assert_int_equal(osc_strings_add(&s, OSC_STR("three"), &id, NULL), OSC_OK);
    assert_true(id.v >= 4 && id.v < osc_strings_bound(&s) && osc_strings_has(&s, id));
    assert_true(osc_str_eq(osc_strings_get(&s, id), OSC_STR("three")));
    assert_int_equal(osc_strings_find(&s, OSC_STR("three")).v, id.v);
    assert_int_equal(osc_strings_find(&s, OSC_STR("four")).v, 0);
    osc_strings_fini(&s);
}

UNIT_MAIN("strings")
