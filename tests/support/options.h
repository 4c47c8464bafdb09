/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - options of tables for tests, by the words of a command line.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/shared_options.h"
#include "table/table_options.h"

/* Members of struct osc_options that ask for the rules of the TensorBoard plugin. */
#define COMPAT_TB .own = {{&osc_option_compat, "tb", 0}}, .n_own = 1

/* What GROUP_BY asks of DEF; valid until the next call. */
static inline const struct osc_options *grouped(const struct osc_table_def *def,
                                                const char *group_by)
{
    static struct osc_options o;

    o = (struct osc_options){0};
    assert_int_equal(osc_options_group(&o, def, group_by, NULL), OSC_OK);
    return &o;
}

/* DEF with its option NAME set to VALUE, NULL for a switch; valid until the next call. */
static inline const struct osc_options *with_option(const struct osc_table_def *def,
                                                    const char *name, const char *value)
{
    static struct osc_options o;
    struct osc_option_value v;
    const struct osc_table_option *const own = osc_table_option(def, name);

    o = (struct osc_options){0};
    assert_non_null(own);
    assert_int_equal(osc_option_parse(own, value, &v, NULL), OSC_OK);
    osc_options_set(&o, def, &v);
    return &o;
}
