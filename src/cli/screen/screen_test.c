/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/screen.h"

#include "support/unit.h"

TEST(every_sentence_names_known_facts)
{
    assert_null(osc_prose_check(&osc_screen_prose));
}

UNIT_MAIN("screen")
