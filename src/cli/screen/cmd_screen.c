/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope TRACE`: the one screen. */
#include <unistd.h>

#include "analysis/table_registry.h"
#include "ask/budget.h"
#include "cli/commands.h"
#include "cli/screen/screen.h"
#include "cli/show.h"

static const struct {
    const struct osc_table_def *def;
    bool is_merged;
} tables[OSC_SCREEN_TABLES] = {
    [OSC_SCREEN_INFO] = {&osc_table_info, true},
    [OSC_SCREEN_QUALITY] = {&osc_table_quality, true},
    [OSC_SCREEN_STEPS] = {&osc_table_steps, false},
    [OSC_SCREEN_OVERVIEW] = {&osc_table_overview, true},
    [OSC_SCREEN_RANKS] = {&osc_table_overview, false},
    [OSC_SCREEN_OPERATORS] = {&osc_table_operators, true},
    [OSC_SCREEN_KERNELS] = {&osc_table_kernels, true},
    [OSC_SCREEN_ADVICE] = {&osc_table_advice, false},
};

static int fill(struct osc_screen *s, const struct osc_set *set)
{
    const struct osc_options options = {.n_threads = s->args->request.how.n_threads};
    uint32_t facts = 0;
    struct osc_err err = {0};

    for (int i = 0; i < OSC_SCREEN_TABLES; i++)
        facts |= tables[i].def->facts;
    osc_status st =
        osc_chosen_derive(s->chosen, osc_set_loaded(set), facts, options.n_threads, &err);
    if (st != OSC_OK)
        return osc_cli_fail(st, &err);
    for (int i = 0; i < OSC_SCREEN_TABLES; i++) {
        const struct osc_query q = {
            .def = tables[i].def,
            .traces = (const struct osc_trace *const *)s->chosen->traces,
            .n_traces = s->chosen->n_traces,
            .options = &options,
            .is_merged = tables[i].is_merged,
            .is_machine = true,
        };
        st = osc_query_run(&q, &s->answers[i], &err);

        if (st != OSC_OK)
            return osc_cli_fail(st, &err);
    }
    return OSC_EXIT_DONE;
}

static int show(const struct osc_set *set, const struct osc_args *args)
{
    struct osc_screen s = {.chosen = osc_set_chosen(set),
                           .args = args,
                           .width = osc_cli_width(STDOUT_FILENO),
                           .has_colour = osc_cli_has_colour()};
    struct osc_strbuf out = {0};
    int failed = fill(&s, set);

    if (!failed) {
        osc_screen_write(&s, &out);
        failed = out.status == OSC_OK ? osc_show_text(out.s)
                                      : osc_cli_fail(out.status, &(struct osc_err){0});
    }
    osc_strbuf_fini(&out);
    for (int i = 0; i < OSC_SCREEN_TABLES; i++)
        osc_answer_fini(&s.answers[i]);
    return failed;
}

static int run(struct osc_args *args)
{
    struct osc_load o = {.reserve = osc_budget_for_tables()};
    struct osc_set *set = NULL;
    int failed = OSC_EXIT_DONE;

    if (args->n_operands == 0)
        return osc_cli_misuse(
            "no trace was named; try 'opscope trace.json' or see 'opscope --help'");
    failed = osc_show_open(&set, args, &o);
    if (!failed)
        failed = show(set, args);
    if (!failed && osc_set_loaded(set)->has_failed)
        failed = OSC_EXIT_FAILED;
    osc_set_release(set);
    return failed;
}

const struct osc_command osc_command_screen = {
    .name = "TRACE",
    .bit = OSC_COMMAND_SCREEN,
    .operands = "[TRACE...] [OPTION...]",
    .summary = "one screen: what the trace is, where the time goes, what to type next",
    .text = "Prints one screen: what the trace is, how its average step divides, the five\n"
            "operators and kernels that take the most time, the slowest steps and the\n"
            "operator that grew in them, the worst finding about its quality, what was not\n"
            "recorded, and three commands to type next. Several traces, or a directory, are\n"
            "one run; their ranks are summed.\n",
    .examples = "  opscope trace.json.gz\n"
                "  opscope runs/ddp/                          all ranks of a directory\n"
                "  opscope trace.json.gz --steps 5            one step\n",
    .run = run,
};
