/* SPDX-License-Identifier: Apache-2.0 */
#include "model/merged_pids.h"

#include "support/unit.h"

static void assert_rank(const char *pid, const char *rank)
{
    const struct osc_str found = osc_merged_rank(osc_str_c(pid));

    if (!osc_str_eq(found, osc_str_c(rank)))
        fail_msg("%s: %.*s", pid, (int)found.len, found.s);
}

TEST(a_rank_is_what_mergers_write_before_a_pid)
{
    assert_rank("[TP00] 900", "TP00");
    assert_rank("[TP00-DP01] 0", "TP00-DP01");
    assert_rank("[TP00][EP01] 0", "TP00][EP01");
    assert_rank("[Rank 1] 0", "Rank 1");
    assert_rank("rank0_900", "rank0");
    assert_rank("Rank12:0", "Rank12");
}

TEST(other_pids_have_no_rank)
{
    static const char *const pids[] = {"900",   "",        "[TP00]",   "[TP00] ", "[TP00]900",
                                       "[] 9",  "[a][] 9", "[TP00",    "[a][b",   "rank",
                                       "rank0", "rank0_",  "rank_900", "ranks1_9"};

    for (size_t i = 0; i < sizeof pids / sizeof *pids; i++)
        assert_rank(pids[i], "");
}

UNIT_MAIN("merged pids")
