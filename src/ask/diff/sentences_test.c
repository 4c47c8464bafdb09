/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/diff/sentences.h"

#include "support/unit.h"

TEST(every_sentence_names_known_facts)
{
    assert_null(osc_prose_check(&osc_sentences_prose));
}

UNIT_MAIN("sentences")
