/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/compare_show.h"

#include <string.h>

#include "ask/files/budget.h"
#include "base/mem.h"
#include "cli/progress.h"

/* Read VIEW of one run, the operand PATH, into D. */
static int load(struct osc_digests *d, const struct osc_args *args, const struct osc_view *view,
                const char *const *path, uint32_t sides)
{
    struct osc_show_reading reading = {.is_on = false};
    struct osc_how how = args->request.how;
    struct osc_err err = {0};

    how.progress = osc_show_progress;
    how.ctx = &reading;
    const struct osc_load o = {
        .paths = path,
        .n_paths = 1,
        .how = &how,
        .view = view,
        .reserve = osc_budget_for_tables(),
        .hear = osc_cli_hear,
    };
    const osc_status st = osc_digests_load(d, &o, &args->request, sides, &err);
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

int osc_compare_show_load(struct osc_two_runs *r, const struct osc_args *args, uint32_t sides)
{
    const char *const *const paths = osc_args_paths(args);

    if (args->n_operands != 2)
        return osc_cli_misuse("%s; name the base and the new run, each a trace or a directory: "
                              "'opscope diff BASE NEW'",
                              args->n_operands < 2 ? "two runs are compared"
                                                   : "more than two runs were named");
    if (strcmp(paths[0], "-") == 0 && strcmp(paths[1], "-") == 0)
        return osc_cli_misuse("standard input can be one of the runs, but not both");
    r->both = (struct osc_compared){.base = &r->base, .new_ = &r->new_};
    const struct osc_view base = osc_compare_view(&args->request.view, true);
    const struct osc_view newer = osc_compare_view(&args->request.view, false);
    int failed = load(&r->base, args, &base, paths, sides);
    if (!failed)
        failed = load(&r->new_, args, &newer, paths + 1, sides);
    osc_mem_set_limit(osc_budget_limit(args->request.how.max_memory_bytes));
    return failed;
}

void osc_two_runs_fini(struct osc_two_runs *r)
{
    osc_compared_fini(&r->both);
    osc_digests_fini(&r->base);
    osc_digests_fini(&r->new_);
}

int osc_compare_show_table(const struct osc_args *args, const struct osc_table_def *def)
{
    const struct osc_request request = osc_show_request(args);
    struct osc_two_runs runs = {.both = {0}};
    struct osc_asked k = {0};
    struct osc_err err = {0};
    osc_status st = osc_asked_init_table(&k, def, &request, NULL, &err);
    int failed = st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);

    if (!failed)
        failed = osc_compare_show_load(&runs, args, osc_compare_sides(def));
    if (!failed) {
        st = osc_compare_run(&k, &runs.both, &err);
        if (st == OSC_OK)
            st = osc_asked_write(&k, &err);
        failed = st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
    }
    if (!failed && (runs.base.has_failed || runs.new_.has_failed))
        failed = OSC_EXIT_FAILED;
    osc_asked_fini(&k);
    osc_two_runs_fini(&runs);
    return failed;
}
