/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope TRACE`: print a summary of one screen. */
#include <unistd.h>

#include "analysis/table_registry.h"
#include "ask/files/budget.h"
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
    [OSC_SCREEN_MODULES] = {&osc_table_modules, true},
    [OSC_SCREEN_RANGES] = {&osc_table_ranges, true},
    [OSC_SCREEN_POINTS] = {&osc_table_points, true},
    [OSC_SCREEN_ADVICE] = {&osc_table_advice, false},
    [OSC_SCREEN_TRACKS] = {&osc_table_tracks, false},
    [OSC_SCREEN_STRAGGLERS] = {&osc_table_stragglers, false},
};

/* Prepare the questions for all tables, so that all facts are derived before the first. */
static int prepare(struct osc_asked *asked, const struct osc_args *args)
{
    const struct osc_renderer *const exact = osc_renderer_find("csv");
    struct osc_err err = {0};
    osc_status st = OSC_OK;
    uint32_t facts = 0;

    for (int i = 0; i < OSC_SCREEN_TABLES && st == OSC_OK; i++) {
        const struct osc_request r = {
            .how = args->request.how,
            .view = args->request.view,
            .question = {.table = tables[i].def->name, .merge = tables[i].is_merged},
        };

        facts |= osc_table_facts(tables[i].def);
        st = osc_asked_init(&asked[i], &r, exact, &err);
        asked[i].options.has_rest = true; /* people read it */
    }
    asked[0].more_facts = facts;
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

static int show(struct osc_screen *s)
{
    struct osc_strbuf out = {0};

    osc_screen_write(s, &out);
    const int failed = out.status == OSC_OK ? osc_show_text(out.s)
                                            : osc_cli_fail(out.status, &(struct osc_err){0});
    osc_strbuf_fini(&out);
    return failed;
}

static int run(struct osc_args *args)
{
    struct osc_load o = {.reserve = osc_budget_for_tables()};
    struct osc_asked asked[OSC_SCREEN_TABLES] = {{0}};
    struct osc_asked *all[OSC_SCREEN_TABLES];
    struct osc_screen s = {.args = args,
                           .width = osc_cli_width(STDOUT_FILENO),
                           .has_colour = osc_cli_has_colour()};
    struct osc_set *set = NULL;
    struct osc_err err = {0};
    int failed = OSC_EXIT_DONE;

    if (args->n_operands == 0)
        return osc_cli_misuse(
            "no trace was named; try 'opscope trace.json' or see 'opscope --help'");
    for (int i = 0; i < OSC_SCREEN_TABLES; i++) {
        all[i] = &asked[i];
        s.answers[i] = &asked[i].answer;
    }
    failed = prepare(asked, args);
    if (!failed)
        failed = osc_show_open_to_ask(&set, args, &o, all, OSC_SCREEN_TABLES);
    for (int i = 0; i < OSC_SCREEN_TABLES && !failed; i++) {
        const osc_status st = osc_evaluate_opened(set, &asked[i], NULL, &err);

        failed = st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
    }
    s.n_traces = asked[0].query.n_parts;
    if (!failed)
        failed = show(&s);
    if (!failed && osc_set_loaded(set)->has_failed)
        failed = OSC_EXIT_FAILED;
    for (int i = 0; i < OSC_SCREEN_TABLES; i++)
        osc_asked_fini(&asked[i]);
    osc_set_release(set);
    return failed;
}

const struct osc_command osc_command_screen = {
    .name = "TRACE",
    .bit = OSC_COMMAND_SCREEN,
    .operands = "[TRACE...] [OPTION...]",
    .summary = "one screen: what the trace is, where the time goes, what to type next",
    .text = "Prints one screen: what the trace is, how its average step divides, up to five\n"
            "operators, kernels, ranges, Python functions and parts of the model, each with\n"
            "the most time, the slowest steps and what grew in them, the worst finding about\n"
            "its quality, what was not recorded, and three commands to type next. Several\n"
            "traces, or a directory, are one run; their ranks are summed.\n",
    .examples = "  opscope trace.json.gz\n"
                "  opscope runs/ddp/                          all ranks of a directory\n"
                "  opscope trace.json.gz --steps 5            one step\n",
    .run = run,
};
