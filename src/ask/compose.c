/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/compose.h"

#include "base/mem.h"

/* Answer K with the rows that its table makes of OF. */
static osc_status answer(struct osc_asked *k, const struct osc_result *const *of,
                         const struct osc_asked_of *whom, struct osc_err *err)
{
    struct osc_result rows;

    osc_result_init(&rows, k->def);
    k->query.ready = &rows;
    osc_status st = osc_asked_name(k, whom);
    if (st == OSC_OK)
        st = k->def->composition->compose(of, &k->options, &rows, err);
    k->sources = whom->chosen->sources;
    if (st == OSC_OK)
        st = osc_asked_answer(k, whom, err);
    k->query.ready = NULL;
    osc_result_fini(&rows);
    return st;
}

osc_status osc_compose_run(struct osc_asked *k, const struct osc_asked_of *of,
                           const struct osc_composing *with, struct osc_err *err)
{
    const struct osc_table_def *const *const tables = k->def->composition->tables;
    size_t n = 0, n_made = 0;

    while (tables[n])
        n++;
    struct osc_result *const made = osc_calloc(n + 1, sizeof *made);
    const struct osc_result **const all = osc_calloc(n + 1, sizeof(void *));
    osc_status st = made && all ? OSC_OK : OSC_ENOMEM;

    for (; n_made < n && st == OSC_OK; n_made++) {
        osc_result_init(&made[n_made], tables[n_made]);
        all[n_made] = &made[n_made];
        st = with->digest(with->ctx, k, tables[n_made], &made[n_made], err);
    }
    if (st == OSC_OK)
        st = answer(k, all, of, err);
    for (size_t i = 0; i < n_made; i++)
        osc_result_fini(&made[i]);
    osc_free(made);
    osc_free(all);
    return osc_loaded_fail(of->loaded, NULL, st, "making a table", err);
}
