/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/parts.h"

#include "analysis/table_registry.h"
#include "ask/files/budget.h"

int osc_parts_make(const struct osc_args *args, struct osc_asked *k, struct osc_share share,
                   const struct osc_origins *origins, struct osc_strbuf *out, bool *has_failed)
{
    const struct osc_selection selection = osc_request_selection(&args->request.view);
    struct osc_load o = {
        .selects_late = osc_asked_selects_late(k),
        .reserve = osc_budget_for_table(k->def, false, osc_selection_is_all(&selection)),
        .keeps_parts = true,
        .share = share,
        .origins = origins ? origins->all : NULL,
        .n_origins = origins ? origins->n : 0,
    };
    const struct osc_sink sink = osc_sink_parts(out);

    return osc_show_answer(args, &o, k, &sink, has_failed);
}

int osc_parts_make_places(const struct osc_args *args, struct osc_share share,
                          struct osc_strbuf *out)
{
    struct osc_args all = *args;
    struct osc_request r = {.question = {.table = osc_table_tracks.name}};
    struct osc_asked k = {0};
    struct osc_err err = {0};
    bool has_failed = false;

    all.request.view = (struct osc_view){.ranks = NULL};
    const osc_status st = osc_asked_init(&k, &r, osc_renderer_find("csv"), &err);
    const int failed = st == OSC_OK ? osc_parts_make(&all, &k, share, NULL, out, &has_failed)
                                    : osc_cli_fail(st, &err);
    osc_asked_fini(&k);
    return failed;
}

int osc_parts_origins(struct osc_joined *j, struct osc_origins *origins)
{
    const struct osc_view view = {.ranks = NULL};
    const struct osc_args none = {.n_operands = 0};
    struct osc_load o = {.joined = j, .view = &view};
    struct osc_request r = {.question = {.table = osc_table_tracks.name}};
    struct osc_asked k = {0};
    struct osc_asked *const asked = &k;
    struct osc_set *set = NULL;
    struct osc_err err = {0};
    osc_status st = osc_joined_end(j, &err);
    int failed = OSC_EXIT_DONE;

    if (st == OSC_OK)
        st = osc_asked_init(&k, &r, osc_renderer_find("csv"), &err);
    failed = st == OSC_OK ? osc_show_open_to_ask(&set, &none, &o, &asked, 1)
                          : osc_cli_fail(OSC_EIO, &err);
    if (!failed && osc_set_origins(set, &origins->all, &origins->n) != OSC_OK)
        failed = osc_cli_fail(OSC_ENOMEM, &err);
    osc_asked_fini(&k);
    osc_set_release(set);
    return failed;
}

int osc_parts_show(struct osc_joined *j, const struct osc_args *args)
{
    struct osc_request r = osc_show_request(args);
    struct osc_asked k = {0};
    struct osc_load o = {.joined = j, .view = &k.request.view};
    bool has_failed = false;
    struct osc_err err = {0};
    osc_status st = osc_joined_end(j, &err);
    int failed = OSC_EXIT_DONE;

    if (st == OSC_OK)
        st = osc_joined_request(j, &r, &err);
    if (st == OSC_OK)
        st = osc_asked_init(&k, &r, NULL, &err);
    if (st != OSC_OK)
        failed = osc_cli_fail(OSC_EIO, &err); /* it is in the files, not in the options */
    else
        failed = osc_show_answer(args, &o, &k, NULL, &has_failed);
    osc_asked_fini(&k);
    return !failed && has_failed ? OSC_EXIT_FAILED : failed;
}
