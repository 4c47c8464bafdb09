/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - names short enough for a column, no two of which read alike.
 *
 * Names are added, and composed for a width when all that stand together are known: C++ names
 * are folded but for what tells them apart (told.h), others and those that are still too long
 * are cut where they do not differ (elide.h). Only if all that can be shown of two names is
 * equal, a number is appended: "name #2". Names that come later get labels that no earlier one
 * has.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/arena.h"
#include "base/intern.h"
#include "base/strbuf.h"

#define OSC_LABELS_WIDTH 80 /* columns of a symbol where no terminal says how many */

struct osc_label;
struct osc_label_use;

/* Zeroed, it is empty; call osc_labels_fini(). */
struct osc_labels {
    struct osc_arena arena;
    struct osc_intern names;    /* as they were added */
    struct osc_intern used;     /* labels */
    struct osc_label *at;       /* owned; by id of the name */
    struct osc_label_use *uses; /* owned; by id of the label */
    size_t cap, cap_uses;
    bool are_told;               /* what tells the names apart is known */
    size_t width, width_symbols; /* of the last composition */
};

void osc_labels_fini(struct osc_labels *l);

/* Add NAME, which IS_SYMBOL if C++ names shall be folded. The same name has the same id; that
 * of the empty name is 0. */
OSC_MUST_USE osc_status osc_labels_add(struct osc_labels *l, struct osc_str name,
                                       bool is_symbol, osc_sid *id);

/* Compose the labels of all names, for symbols at most WIDTH_SYMBOLS columns wide, for others
 * at most WIDTH; SIZE_MAX: any. A number may need more. May be called again for other widths.
 */
OSC_MUST_USE osc_status osc_labels_compose(struct osc_labels *l, size_t width,
                                           size_t width_symbols);

/* Add NAME after the composition, and compose its label. */
OSC_MUST_USE osc_status osc_labels_add_late(struct osc_labels *l, struct osc_str name,
                                            bool is_symbol, osc_sid *id);

/* Borrow the label of a name. */
struct osc_str osc_labels_get(const struct osc_labels *l, osc_sid id);
