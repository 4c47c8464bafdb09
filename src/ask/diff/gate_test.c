/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/diff/gate.h"

#include "analysis/diff/change.h"
#include "analysis/table_registry.h"
#include "base/mem.h"
#include "support/unit.h"

static struct osc_result tables[OSC_GATE_TABLES];
static struct osc_gate gate;

static void add(enum osc_gate_table t, const char *name, double base_ns, double new_ns,
                bool sig)
{
    struct osc_result *const r = &tables[t];
    const struct osc_change_columns at = t == OSC_GATE_STEPS ? *osc_diff_steps_columns()
                                         : t == OSC_GATE_OPERATORS
                                             ? osc_change_columns(r->def, OSC_TIME_HOST_SELF)
                                             : osc_change_columns(r->def, 0);

    osc_result_row(r);
    osc_result_str(r, at.name, osc_str_c(name));
    osc_result_num(r, at.mean_base_ns, base_ns);
    osc_result_num(r, at.mean_new_ns, new_ns);
    osc_result_num(r, at.mean_delta_ns, new_ns - base_ns);
    osc_result_bool(r, at.significant, sig);
}

static int make(void **state)
{
    (void)state;
    osc_result_init(&tables[OSC_GATE_STEPS], &osc_table_diff_steps);
    osc_result_init(&tables[OSC_GATE_OPERATORS], &osc_table_diff_operators);
    osc_result_init(&tables[OSC_GATE_KERNELS], &osc_table_diff_kernels);
    add(OSC_GATE_STEPS, "total", 100e6, 110e6, true);
    add(OSC_GATE_STEPS, "kernel", 50e6, 54e6, false);
    add(OSC_GATE_STEPS, "other", 10e6, 5e6, true);
    add(OSC_GATE_OPERATORS, "it's", 0, 5, true);
    add(OSC_GATE_OPERATORS, "slow", 1000, 1100, false);
    add(OSC_GATE_KERNELS, "k", 1000, 1100, true);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int t = 0; t < OSC_GATE_TABLES; t++)
        osc_result_fini(&tables[t]);
    return 0;
}

static const struct osc_result *const all[] = {&tables[0], &tables[1], &tables[2]};

static bool breaks(const char *text)
{
    struct osc_err err = {0};

    if (osc_gate_parse(&gate, text, &err) != OSC_OK ||
        osc_gate_evaluate(&gate, all, &err) != OSC_OK)
        fail_msg("%s: %s", text, err.message);
    const bool is_broken = gate.is_broken;
    osc_gate_fini(&gate);
    return is_broken;
}

static void assert_refuses(const char *text, const char *message)
{
    struct osc_err err = {0};

    assert_int_equal(osc_gate_parse(&gate, text, &err), OSC_EINVAL);
    assert_string_equal(err.message, message);
    osc_gate_fini(&gate);
}

TEST_WITH(only_growth_beyond_the_limit_breaks, make, end)
{
    assert_true(breaks("step.total > 9.9%"));
    assert_false(breaks("step.total > 10%"));
    assert_true(breaks("step.total>9999us"));
    assert_false(breaks("step.total > 10ms"));
    assert_true(breaks("step.total > 0.0099 s"));
    assert_false(breaks("step.other > 0ns"));
    assert_false(breaks("step.communication > 0%"));
    assert_true(breaks("operator('it''s').self > 1000000%"));
    assert_true(breaks("operator( \"it's\" ) . self > 4ns"));
    assert_true(breaks("kernel('k') > 99ns"));
    assert_false(breaks("step.total > 999999999999999999s"));
}

TEST_WITH(what_did_not_grow_breaks_no_gate, make, end)
{
    assert_false(breaks("not step.total > 50%"));
    assert_false(breaks("not step.other > 0ns or step.total > 50%"));
    assert_true(breaks("not step.other > 0ns and step.total > 5%"));
    assert_true(breaks("not not step.total > 5%"));
    assert_true(breaks("not (not step.total > 5% or step.total > 50%)"));
}

TEST_WITH(significance_is_about_the_comparisons_beside_it, make, end)
{
    assert_true(breaks("step.total > 5% and significant"));
    assert_false(breaks("step.kernel > 5% and significant"));
    assert_true(breaks("step.kernel > 5% and not significant"));
    assert_false(breaks("step.total > 5% and not significant"));
    assert_true(breaks("significant and (step.kernel > 5% or step.total > 5%)"));
    assert_false(breaks("significant and step.total > 5% and step.kernel > 5%"));
    assert_true(breaks("(significant and step.total > 5%) and step.kernel > 5%"));
    assert_false(breaks("step.kernel > 5% and (significant and significant)"));
    assert_true(breaks("significant"));
    assert_false(breaks("not significant"));
    assert_true(breaks("not not significant"));
    assert_true(breaks("step.kernel > 90% or significant"));
    assert_false(breaks("not (step.total > 5% and significant)"));
    assert_true(breaks("not (not significant) and step.total > 5%"));
    assert_false(
        breaks("step.kernel > 5% and (step.total > 50% or significant) and significant"));
}

TEST_WITH(words_bind_as_usual, make, end)
{
    assert_true(breaks("step.total > 5% or step.total > 50% and step.kernel > 50%"));
    assert_false(breaks("(step.total > 5% or step.total > 50%) and step.kernel > 50%"));
    assert_true(breaks("not step.total > 50% and step.kernel > 5%"));
    assert_false(breaks("not (step.total > 50% or step.kernel > 5%)"));
}

TEST(what_is_no_gate_is_refused_where_it_ends_to_be_one)
{
    assert_refuses("step.total", "'>' and a limit such as 5% or 2ms are expected at "
                                 "'the end' (character 11)");
    assert_refuses("step.total > 5% significant",
                   "'and', 'or' or the end is expected at 'significant' (character "
                   "17)");
    assert_refuses("step.total > .5%",
                   "a limit such as 5% or 2ms is expected at '.5%' (character 14)");
    assert_refuses("step.total > 5 days", "a limit needs a unit, %, ns, us, ms or s, "
                                          "at '5 days' (character 14)");
    assert_refuses("operator('x') > 5%",
                   "operator('NAME').self is expected at '> 5%' (character 15)");
    assert_refuses("step.total >= 5%",
                   "'>' is expected, without '=' at ' >= 5%' (character 11)");
}

TEST_WITH(a_name_that_neither_run_has_is_not_found, make, end)
{
    struct osc_err err = {0};

    assert_int_equal(osc_gate_parse(&gate, "operator('slwo').self > 1%", &err), OSC_OK);
    assert_int_equal(osc_gate_evaluate(&gate, all, &err), OSC_ENOTFOUND);
    assert_string_equal(err.message, "neither run has the operator 'slwo'; did you "
                                     "mean 'slow'?");
    osc_gate_fini(&gate);
}

TEST(long_gates_are_parsed_or_refused)
{
    static char text[100000];
    struct osc_err err = {0};

    memset(text, '(', sizeof text - 1);
    assert_int_equal(osc_gate_parse(&gate, text, &err), OSC_EINVAL);
    osc_gate_fini(&gate);
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = "not "[i % 4];
    assert_int_equal(osc_gate_parse(&gate, text, &err), OSC_EINVAL);
    osc_gate_fini(&gate);
}

/* Words of gates in any order: none crashes, and each is either parsed or explained. */
TEST_WITH(words_in_any_order_do_no_harm, make, end)
{
    static const char *const words[] = {"(",
                                        ")",
                                        "and",
                                        "or",
                                        "not",
                                        "significant",
                                        "step.total",
                                        "step.",
                                        "operator",
                                        "('k'",
                                        "')",
                                        "'",
                                        "kernel",
                                        ">",
                                        "5%",
                                        "2ms",
                                        ".self",
                                        "(\"slow\")",
                                        "<",
                                        "5",
                                        "\x01",
                                        "kernel('k') > 5%",
                                        "step.total > 1ms",
                                        " "};
    uint32_t seed = 1;

    for (int round = 0; round < 20000; round++) {
        char text[256] = "";
        struct osc_err err = {0};

        for (int k = 0; k < 10; k++) {
            seed = seed * 1664525 + 1013904223;
            strcat(text, words[(seed >> 8) % (sizeof words / sizeof *words)]);
            if (seed >> 31)
                strcat(text, " ");
        }
        if (osc_gate_parse(&gate, text, &err) == OSC_OK)
            (void)!osc_gate_evaluate(&gate, all, &err);
        else
            assert_true(err.message[0] != '\0');
        osc_gate_fini(&gate);
    }
}

TEST_WITH(survives_any_failed_allocation, make, end)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = osc_gate_parse(&gate, "not (step.total > 5% or kernel('k') > 1us) and significant",
                            NULL);
        if (st == OSC_OK)
            st = osc_gate_evaluate(&gate, all, NULL);
        osc_gate_fini(&gate);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
}

UNIT_MAIN("gate")
