/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alike.h - numbers for rows that read alike.
 *
 * Where a terminal has no room for all columns that tell rows apart, the names of rows that
 * show the same get a number: "name #2". No name with a number looks like another name.
 *
 * Threading: not locked.
 */
#pragma once

#include "names/labels.h"

/* Zeroed, it is empty; call osc_alike_fini(). */
struct osc_alike {
    struct osc_arena arena;
    struct osc_intern rows;     /* what is shown of them */
    uint32_t *numbers;          /* owned; by row: the last number that was appended */
    struct osc_intern numbered; /* names with a number */
    uint32_t *owners;           /* owned; by these: whose it is */
    size_t cap_numbers, cap_owners;
    struct osc_strbuf scratch;
};

void osc_alike_fini(struct osc_alike *a);

/* Append to OUT, which is empty, the label of the name ID of NAMES in at most WIDTH columns;
 * with a number if it has been asked for with the same OTHERS, the other cells that are shown.
 */
OSC_MUST_USE osc_status osc_alike_name(struct osc_alike *a, const struct osc_labels *names,
                                       osc_sid id, struct osc_str others, size_t width,
                                       struct osc_strbuf *out);
