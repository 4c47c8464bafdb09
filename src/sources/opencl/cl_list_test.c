/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/opencl/cl_list.h"

#include "support/unit.h"

#define ROOM 18

static cl_queue_properties copy[ROOM];
static cl_command_queue_properties asked;

static uint32_t copy_list(const cl_queue_properties *list)
{
    memset(copy, 0xff, sizeof copy);
    return osc_cl_copy_list(list, copy, ROOM, &asked);
}

static void assert_copy(const cl_queue_properties *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(copy[i], wanted[i]);
    for (size_t i = n; i < ROOM; i++)
        assert_int_equal(copy[i], UINT64_MAX);
}

TEST(no_list_and_an_empty_one_get_profiling)
{
    static const cl_queue_properties wanted[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
                                                 0};

    assert_int_equal(copy_list(NULL), 1);
    assert_copy(wanted, 3);
    assert_int_equal(copy_list(&(cl_queue_properties){0}), 1);
    assert_copy(wanted, 3);
    assert_int_equal(asked, 0);
}

TEST(profiling_is_added_to_flags_that_are_there)
{
    static const cl_queue_properties list[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_SIZE, 4096, 0};
    static const cl_queue_properties wanted[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE,
        CL_QUEUE_SIZE, 4096, 0};

    assert_int_equal(copy_list(list), 5);
    assert_copy(wanted, 5);
    assert_int_equal(asked, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

TEST(flags_are_appended_to_a_list_without_them)
{
    static const cl_queue_properties list[] = {CL_QUEUE_SIZE, 4096, 0};
    static const cl_queue_properties wanted[] = {CL_QUEUE_SIZE, 4096, CL_QUEUE_PROPERTIES,
                                                 CL_QUEUE_PROFILING_ENABLE, 0};

    assert_int_equal(copy_list(list), 3);
    assert_copy(wanted, 5);
}

TEST(a_program_that_asks_for_profiling_has_it)
{
    static const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
                                               0};

    assert_int_equal(copy_list(list), 3);
    assert_copy(list, 3);
    assert_int_equal(asked, CL_QUEUE_PROFILING_ENABLE);
}

TEST(the_longest_list_fits_and_a_longer_one_is_left_alone)
{
    cl_queue_properties list[ROOM + 1];

    for (uint32_t n = 0; n < ROOM; n += 2) {
        for (uint32_t i = 0; i < n; i++)
            list[i] = 0x5000 + i;
        list[n] = 0;
        assert_int_equal(copy_list(list), n + 3 <= ROOM ? n + 1 : 0);
        if (n + 3 <= ROOM)
            assert_int_equal(copy[n + 2], 0);
    }
}

UNIT_MAIN("cl_list")
