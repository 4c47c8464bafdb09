/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/parts.h"

#include "analysis/table_registry.h"
#include "ask/files/budget.h"

/* Whether a line about quality follows the table of K. */
static bool says_quality(const struct osc_asked *k)
{
    return !k->form->is_machine && k->def != &osc_table_quality;
}

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
    struct osc_asked quality = {0};
    struct osc_asked *const asked[] = {k, &quality};
    const bool has_two = says_quality(k);
    struct osc_set *set = NULL;
    int failed = has_two ? osc_show_prepare_quality(&quality, true) : OSC_EXIT_DONE;

    if (!failed)
        failed = osc_show_open_to_ask(&set, args, &o, asked, has_two ? 2 : 1);
    if (!failed) {
        const osc_status st = osc_set_put_parts(set, &k->request, out);

        *has_failed = osc_set_loaded(set)->has_failed;
        if (st != OSC_OK)
            failed =
                osc_show_fail(osc_set_loaded(set), st, "making parts", &(struct osc_err){0});
    }
    osc_asked_fini(&quality);
    osc_set_release(set);
    return failed;
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

/* Print the answer to K, and the line about quality, of the parts of J. */
static int show(const struct osc_joined *j, const struct osc_args *args, struct osc_asked *k)
{
    struct osc_load o = {.joined = j, .view = &k->request.view};
    struct osc_asked quality = {0};
    struct osc_asked *const asked[] = {k, &quality};
    const bool has_two = says_quality(k);
    struct osc_set *set = NULL;
    int failed = has_two ? osc_show_prepare_quality(&quality, true) : OSC_EXIT_DONE;

    if (!failed)
        failed = osc_show_open_to_ask(&set, args, &o, asked, has_two ? 2 : 1);
    if (!failed)
        failed = osc_show_table(set, k);
    if (!failed && has_two)
        failed = osc_show_quality(set, &quality);
    if (!failed && j->has_failed)
        failed = OSC_EXIT_FAILED;
    osc_asked_fini(&quality); /* they borrow the parts */
    osc_asked_fini(k);
    osc_set_release(set);
    return failed;
}

int osc_parts_show(struct osc_joined *j, const struct osc_args *args)
{
    struct osc_request r = osc_show_request(args);
    struct osc_asked k = {0};
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
        failed = show(j, args, &k);
    osc_asked_fini(&k);
    return failed;
}
