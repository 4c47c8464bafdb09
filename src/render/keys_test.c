/* SPDX-License-Identifier: Apache-2.0 */
#include "render/keys.h"

#include "base/mem.h"
#include "support/unit.h"

/* A name, a process, a thread, and a step that is the same everywhere. */
static const uint64_t cells[][4] = {{1, 7, 1, 0}, {1, 7, 2, 0}, {2, 7, 1, 0}, {2, 8, 3, 0}};

static uint64_t needed(uint32_t n_rows, uint64_t always)
{
    uint64_t bits = 99;

    assert_int_equal(osc_keys_find(&cells[0][0], n_rows, 4, always, &bits), OSC_OK);
    return bits;
}

TEST(needs_no_column_that_says_what_others_say)
{
    assert_int_equal(needed(4, 1), 4); /* the thread */
    assert_int_equal(needed(4, 0), 5); /* the name and the thread */
    assert_int_equal(needed(4, 5), 0);
    assert_int_equal(needed(2, 1), 4);
    assert_int_equal(needed(1, 1), 0);
    assert_int_equal(needed(0, 1), 0);
}

TEST(needs_what_tells_rows_apart_that_others_do_not)
{
    const uint64_t rows[] = {1, 7, 1, 8}; /* names and processes */
    uint64_t bits;

    assert_int_equal(osc_keys_find(rows, 2, 2, 1, &bits), OSC_OK);
    assert_int_equal(bits, 2);
}

TEST(survives_any_failed_allocation)
{
    uint64_t bits;

    osc_mem_fail_after(0);
    assert_int_equal(osc_keys_find(&cells[0][0], 4, 4, 0, &bits), OSC_ENOMEM);
    osc_mem_fail_after(-1);
}

UNIT_MAIN("keys")
