/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_options.h - what a question may want of a table besides rows and columns.
 *
 * A table declares its own options (struct osc_table_option) and groupings (words of
 * --group-by): nobody else has a list of them. --help, completion, the interfaces of programs
 * and the catalog are made from these declarations.
 *
 *   - A grouping is the index of its word in the list of the table. A word that ends in ":N"
 *     has a number. A word of several with commas is none of its own: it shows what may be
 *     combined.
 *   - Two tables may share an option. Options of one name are of one kind.
 *   - A missing option is not set: its default is what the table does then.
 *
 * Threading: constants and pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"

struct osc_selection;

enum osc_option_kind {
    OSC_OPTION_SWITCH, /* given or not */
    OSC_OPTION_TEXT,   /* any text, or what is_valid() takes */
    OSC_OPTION_WORD,   /* one of some words */
    OSC_OPTION_TIME,   /* nanoseconds, written as osc_parse_time() reads them */
    OSC_OPTION_WHOLE,  /* a whole number from 0 */
};

struct osc_table_option {
    const char *name; /* without the dashes of a command line */
    enum osc_option_kind kind;
    const char *argument; /* as --help shows it; NULL for a switch */
    const char *help;
    const char *words;                   /* of WORD: separated by blanks */
    bool (*is_valid)(const char *value); /* of TEXT: NULL: every text is */
    const char *expected;                /* of TEXT, WORD and WHOLE: continues "'x' is " */
    bool is_of_text; /* changes only the table's own text form, not its rows */
};

/* An option with its value. */
struct osc_option_value {
    const struct osc_table_option *option;
    const char *text; /* borrowed: as given; "" for a switch */
    int64_t number;   /* of TIME and WHOLE */
};

#define OSC_OWN_OPTIONS_MAX 8

/* What a question wants. Zeroed: the defaults. */
struct osc_options {
    const char *group_by;  /* as given, or NULL; borrowed */
    uint32_t groups;       /* bit I: the I-th grouping of the table */
    uint32_t group_number; /* N of the grouping that has a number */
    const char *pattern;   /* of name~PATTERN, in group_by; NULL: none */
    struct osc_option_value own[OSC_OWN_OPTIONS_MAX]; /* those of the table that are set */
    uint32_t n_own;
    unsigned n_threads;
    const struct osc_selection *selection; /* borrowed; NULL: all. A table that selects itself
                                            * applies it; otherwise T is already cut to it */
    const char *operands;        /* borrowed; shell words that name all files; or NULL */
    const struct osc_view *view; /* borrowed; what is selected of these; NULL: everything */
    uint32_t n_traces;           /* number of traces that are selected, if known */
    bool has_rest; /* operators: add device work that no operator launched: for people */
};

/* Whether rows are grouped by the grouping with this INDEX. */
static inline bool osc_is_grouped(const struct osc_options *o, uint32_t index)
{
    return (o->groups >> index & 1) != 0;
}

/* The value of OPTION in O; NULL: it is not set. */
const struct osc_option_value *osc_option_get(const struct osc_options *o,
                                              const struct osc_table_option *option);

static inline bool osc_option_is_set(const struct osc_options *o,
                                     const struct osc_table_option *option)
{
    return osc_option_get(o, option) != NULL;
}

/* The text of OPTION; NULL: it is not set. */
static inline const char *osc_option_text(const struct osc_options *o,
                                          const struct osc_table_option *option)
{
    const struct osc_option_value *const v = osc_option_get(o, option);

    return v ? v->text : NULL;
}

/*
 * Make *V of OPTION and TEXT (NULL for a switch), which it borrows. OSC_EINVAL: TEXT is no
 * value of it; the message names it as a command line does.
 */
OSC_MUST_USE osc_status osc_option_parse(const struct osc_table_option *option,
                                         const char *text, struct osc_option_value *v,
                                         struct osc_err *err);

/* Whether an option of O is a time, which counts from the origin of all traces. */
bool osc_options_name_time(const struct osc_options *o);
