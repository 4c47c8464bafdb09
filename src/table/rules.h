/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.h - the rules that several columns follow, in words for users.
 *
 * A column refers to its rules by bits. `--explain` prints their text, and docs/numbers.md,
 * which the command writes, has the same text under the same headings. The source is rules.md,
 * from which the build generates C.
 *
 * Threading: constants.
 */
#pragma once

#include <stdint.h>

enum osc_rule {
    OSC_RULE_RANKS = 1 << 0,
    OSC_RULE_MERGE = 1 << 1,
    OSC_RULE_TIME = 1 << 2,
    OSC_RULE_KINDS = 1 << 3,
    OSC_RULE_NAMES = 1 << 4,
    OSC_RULE_FOREST = 1 << 5,
    OSC_RULE_LINKS = 1 << 6,
    OSC_RULE_ARROWS = 1 << 7,
    OSC_RULE_STEPS = 1 << 8,
    OSC_RULE_STEP_LENGTH = 1 << 9,
    OSC_RULE_BREAKDOWN = 1 << 10,
    OSC_RULE_OUTLIERS = 1 << 11,
    OSC_RULE_COMMUNICATION = 1 << 12,
    OSC_RULE_OPERATORS = 1 << 13,
    OSC_RULE_TENSOR_CORES = 1 << 14,
    OSC_RULE_LOADS = 1 << 15,
    OSC_RULE_DEVICES = 1 << 16,
    OSC_RULE_MEMORY = 1 << 17,
    OSC_RULE_PAIRS = 1 << 18,
    OSC_RULE_AVERAGES = 1 << 19,
    OSC_RULE_TORCH_DEVICE = 1 << 20,
    OSC_RULE_TORCH_MEMORY = 1 << 21,
    OSC_RULE_STACKS = 1 << 22,
    OSC_RULE_FLOPS = 1 << 23,
    OSC_RULE_MODULES = 1 << 24,
    OSC_RULE_BACKWARD = 1 << 25,
    OSC_RULE_ADVICE = 1 << 26,
    OSC_RULE_QUALITY = 1 << 27,
    OSC_RULE_SELECTION = 1 << 28,
    OSC_RULE_FACTS = 1 << 29,
    OSC_RULE_RANGES = 1 << 30,
};

/* The last bit, which no enumerator can be. */
#define OSC_RULE_SPLIT (UINT32_C(1) << 31)

struct osc_rule_text {
    uint32_t rule;      /* one of enum osc_rule, or OSC_RULE_SPLIT */
    const char *title;  /* letters and spaces: it becomes the anchor in docs/numbers.md */
    const char *text;   /* complete lines of at most 78 characters */
    const char *source; /* a sentence that continues "Source: " */
};

/* In the order of enum osc_rule; the last one has rule 0. */
extern const struct osc_rule_text osc_rules[];
