/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/explain/headlines.h"

#include "support/unit.h"

TEST(every_sentence_names_known_facts)
{
    assert_null(osc_headlines_check());
}

UNIT_MAIN("headlines")
