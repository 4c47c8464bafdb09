/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/diff/sentences.h"

#include "support/unit.h"

TEST(every_sentence_names_known_facts)
{
    assert_null(osc_diff_sentences_check());
}

UNIT_MAIN("sentences")
