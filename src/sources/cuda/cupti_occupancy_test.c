/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/cuda/cupti_occupancy.h"

#include "support/unit.h"

/* As an A100, and as a T4. */
static const struct osc_cupti_limits ampere = {.n_units = 108,
                                               .major = 8,
                                               .warp_threads = 32,
                                               .warps_per_unit = 64,
                                               .blocks_per_unit = 32,
                                               .registers_per_unit = 65536,
                                               .registers_per_block = 65536,
                                               .shared_per_unit = 164 << 10};
static const struct osc_cupti_limits turing = {.n_units = 40,
                                               .major = 7,
                                               .minor = 5,
                                               .warp_threads = 32,
                                               .warps_per_unit = 32,
                                               .blocks_per_unit = 16,
                                               .registers_per_unit = 65536,
                                               .registers_per_block = 65536,
                                               .shared_per_unit = 64 << 10};

static struct osc_cupti_occupancy of(const struct osc_cupti_limits *device, int32_t n_blocks,
                                     int32_t n_threads, uint32_t registers, uint32_t shared)
{
    return osc_cupti_occupancy_of(device, &(struct osc_cupti_launch){.grid = {n_blocks, 1, 1},
                                                                     .block = {n_threads, 1, 1},
                                                                     .registers = registers,
                                                                     .shared_bytes = shared});
}

TEST(registers_warps_blocks_and_shared_memory_limit_it)
{
    (void)state;
    assert_int_equal(of(&ampere, 1080, 256, 64, 0).percent, 50);  /* 4 blocks of 8 warps */
    assert_int_equal(of(&ampere, 1080, 256, 255, 0).percent, 13); /* 1 block */
    assert_int_equal(of(&ampere, 1080, 256, 16, 0).percent, 100);
    assert_int_equal(of(&ampere, 10800, 32, 16, 0).percent, 50); /* 32 blocks of a warp */
    assert_int_equal(of(&ampere, 1080, 128, 16, 48 << 10).percent, 19); /* 3 with 1 KiB more */
    assert_int_equal(of(&turing, 400, 128, 16, 48 << 10).percent, 13);  /* 1 */
    assert_int_equal(of(&turing, 400, 1024, 128, 0).percent, 0); /* more than a block has */
}

TEST(few_blocks_are_not_more_than_there_are)
{
    (void)state;
    const struct osc_cupti_occupancy o = of(&ampere, 54, 256, 16, 0);
    assert_true(o.is_known);
    assert_true(o.blocks_per_unit == 0.5f);
    assert_true(o.warps_per_unit == 4.0f);
    assert_int_equal(o.percent, 6);
}

TEST(what_is_not_known_has_no_numbers)
{
    (void)state;
    const struct osc_cupti_limits none = {0};
    assert_false(of(&none, 1, 1, 1, 1).is_known);
    assert_false(of(&ampere, 0, 256, 16, 0).is_known);
    assert_false(of(&ampere, 1, -1, 16, 0).is_known);
    assert_true(of(&ampere, INT32_MAX, 1024, 16, 0).is_known);
}

UNIT_MAIN("cupti_occupancy")
