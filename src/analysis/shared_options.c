/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/shared_options.h"

#include "derive/breakdown.h"

static bool is_priority(const char *text)
{
    uint8_t order[OSC_CLASS_COUNT];

    return osc_priority_parse(text, order);
}

const struct osc_table_option osc_option_compat = {
    .name = "compat",
    .kind = OSC_OPTION_WORD,
    .argument = "RULES",
    .help = "tb: the rules of the TensorBoard plugin, to compare with it",
    .words = "tb",
    .expected = "not 'tb'",
};

const struct osc_table_option osc_option_at = {
    .name = "at",
    .kind = OSC_OPTION_TIME,
    .argument = "TIME",
    .help = "what is allocated and not yet released at TIME",
};

const struct osc_table_option osc_option_name = {
    .name = "name",
    .kind = OSC_OPTION_TEXT,
    .argument = "NAME",
    .help = "only ranges called NAME",
};

const struct osc_table_option osc_option_priority = {
    .name = "priority",
    .kind = OSC_OPTION_TEXT,
    .argument = "A,B",
    .help = "parts of a step, such as memcpy,runtime, that get time first which several share; "
            "the others follow as usual",
    .is_valid = is_priority,
    .expected = "no list of parts of a step such as memcpy,runtime, each of them once",
};

const struct osc_table_option osc_option_step_length = {
    .name = "step-length",
    .kind = OSC_OPTION_WORD,
    .argument = "WHAT",
    .help = "device (default): a step lasts until its device work is done; annotation: it is "
            "what the host announced",
    .words = "annotation device",
    .expected = "neither annotation nor device",
};

const struct osc_table_option osc_option_all_steps = {
    .name = "all-steps",
    .kind = OSC_OPTION_SWITCH,
    .help = "count also steps at the end whose device work may not all have been recorded, or "
            "that hold no operator",
};
