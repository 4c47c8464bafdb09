/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.h - the rules that several columns follow, in words for users.
 *
 * A column refers to its rules by bits. `--explain` prints their text, and `opscope table
 * --list
 * --format md` the same text under the same headings. The source is rules.md, from which the
 * build generates C.
 *
 * Threading: constants.
 */
#pragma once

#include <stdint.h>

/* Bits of osc_column.rules and osc_table_def.rules. */
#define OSC_RULE_RANKS         (UINT64_C(1) << 0)
#define OSC_RULE_MERGE         (UINT64_C(1) << 1)
#define OSC_RULE_TIME          (UINT64_C(1) << 2)
#define OSC_RULE_KINDS         (UINT64_C(1) << 3)
#define OSC_RULE_NAMES         (UINT64_C(1) << 4)
#define OSC_RULE_FOREST        (UINT64_C(1) << 5)
#define OSC_RULE_LINKS         (UINT64_C(1) << 6)
#define OSC_RULE_ARROWS        (UINT64_C(1) << 7)
#define OSC_RULE_STEPS         (UINT64_C(1) << 8)
#define OSC_RULE_STEP_LENGTH   (UINT64_C(1) << 9)
#define OSC_RULE_BREAKDOWN     (UINT64_C(1) << 10)
#define OSC_RULE_OUTLIERS      (UINT64_C(1) << 11)
#define OSC_RULE_COMMUNICATION (UINT64_C(1) << 12)
#define OSC_RULE_OPERATORS     (UINT64_C(1) << 13)
#define OSC_RULE_TENSOR_CORES  (UINT64_C(1) << 14)
#define OSC_RULE_LOADS         (UINT64_C(1) << 15)
#define OSC_RULE_DEVICES       (UINT64_C(1) << 16)
#define OSC_RULE_MEMORY        (UINT64_C(1) << 17)
#define OSC_RULE_PAIRS         (UINT64_C(1) << 18)
#define OSC_RULE_AVERAGES      (UINT64_C(1) << 19)
#define OSC_RULE_TORCH_DEVICE  (UINT64_C(1) << 20)
#define OSC_RULE_TORCH_MEMORY  (UINT64_C(1) << 21)
#define OSC_RULE_STACKS        (UINT64_C(1) << 22)
#define OSC_RULE_FLOPS         (UINT64_C(1) << 23)
#define OSC_RULE_MODULES       (UINT64_C(1) << 24)
#define OSC_RULE_BACKWARD      (UINT64_C(1) << 25)
#define OSC_RULE_ADVICE        (UINT64_C(1) << 26)
#define OSC_RULE_QUALITY       (UINT64_C(1) << 27)
#define OSC_RULE_SELECTION     (UINT64_C(1) << 28)
#define OSC_RULE_FACTS         (UINT64_C(1) << 29)
#define OSC_RULE_RANGES        (UINT64_C(1) << 30)
#define OSC_RULE_IDLE          (UINT64_C(1) << 31)
#define OSC_RULE_HOST_ADVICE   (UINT64_C(1) << 32)
#define OSC_RULE_SPLIT         (UINT64_C(1) << 33)
#define OSC_RULE_THINNED       (UINT64_C(1) << 34)
#define OSC_RULE_OVERLAP       (UINT64_C(1) << 35)
#define OSC_RULE_COLLECTIVES   (UINT64_C(1) << 36)
#define OSC_RULE_CLOCKS        (UINT64_C(1) << 37)
#define OSC_RULE_DIFF          (UINT64_C(1) << 38)
#define OSC_RULE_DIFF_TREE     (UINT64_C(1) << 39)
#define OSC_RULE_PRODUCTS      (UINT64_C(1) << 40)
#define OSC_RULE_CATEGORIES    (UINT64_C(1) << 41)

struct osc_rule_text {
    uint64_t rule;      /* one of these bits */
    const char *title;  /* letters and spaces: it becomes an anchor in Markdown */
    const char *text;   /* complete lines of at most 78 characters */
    const char *source; /* a sentence that continues "Source: " */
};

/* In the order of the bits; the last one has rule 0. */
extern const struct osc_rule_text osc_rules[];
