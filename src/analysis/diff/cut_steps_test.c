/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/cut_steps.h"

#include <stdio.h>

#include "analysis/table_registry.h"
#include "support/small_table.h"
#include "support/unit.h"

OSC_PROSE(prose, OSC_CUT_STEPS_LIST);

/* Step [0,100) launches what ends at 60 or, with EARLIER work until 95, at 100. */
static bool is_cut(const char *earlier, struct osc_strbuf *text)
{
    struct osc_prose_facts facts = {.prose = &prose};
    struct osc_cut_steps c = {0};
    char events[1000];

    (void)snprintf(events, sizeof events, "%s%s", earlier,
                   STEP(1, 0, 100) CALL(1, 10, 5, 1, "") KERNEL("k", 96, 4, 1));
    small_table(&osc_table_steps, &(struct osc_options){0}, events);
    osc_cut_steps_add(&c, &result);
    osc_cut_steps_set(&facts, FACT_ranges, FACT_measured, &c);
    if (osc_cut_steps_is(&c))
        osc_prose_say(text, &facts, FACT_cut);
    return facts.v[FACT_ranges].is_there;
}

TEST_WITH(steps_behind_earlier_work_are_cut, NULL, small_end)
{
    struct osc_strbuf text = {0};

    assert_false(is_cut("", &text));
    small_end(NULL);
    assert_true(is_cut(KERNEL("before", 0, 95, 9), &text));
    assert_string_equal(text.s,
                        "of the ranges of the kept steps, 100 us, only 5.00 us remained after "
                        "earlier steps and work of the device");
    osc_strbuf_fini(&text);
}

UNIT_MAIN("cut_steps")
