/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences of tables name facts that there are; those of `advice` have a test of their own. */
#include "analysis/explain/headlines.h"

#include "analysis/diff/change.h"
#include "analysis/quality/quality_rows.h"
#include "analysis/quality/rank_findings.h"
#include "analysis/quality/sample_patterns.h"
#include "analysis/ranks/late.h"
#include "analysis/stacks/flame_graph.h"
#include "support/unit.h"

TEST(every_sentence_names_known_facts)
{
    assert_null(osc_prose_check(&osc_headlines_prose));
    assert_null(osc_prose_check(&osc_change_prose));
    assert_null(osc_prose_check(&osc_diff_steps_prose));
    assert_null(osc_prose_check(&osc_quality_prose));
    assert_null(osc_prose_check(&osc_rank_findings_prose));
    assert_null(osc_prose_check(&osc_sample_patterns_prose));
    assert_null(osc_prose_check(&osc_late_prose));
    assert_null(osc_prose_check(&osc_flame_prose));
}

UNIT_MAIN("headlines")
