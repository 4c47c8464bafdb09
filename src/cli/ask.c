/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"

#include <unistd.h>

#include "cli/budget.h"
#include "cli/scope.h"
#include "cli/shell.h"

int osc_ask_check(struct osc_args *args, const struct osc_table_def *def,
                  struct osc_where **where)
{
    const struct osc_query q = {.def = def, .options = &args->table, .columns = args->columns};
    struct osc_err err = {0};
    osc_status st = OSC_OK;
    int failed = osc_scope_check(args, def);

    if (!failed)
        failed = osc_args_group(args, def);
    if (failed)
        return failed;
    st = osc_query_check(&q, &err);
    if (st == OSC_OK && args->where)
        st = osc_where_open(where, def, args->where, NULL, &err);
    if (*where)
        args->filter = (struct osc_row_filter){osc_where_keep, *where};
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

int osc_ask_load(struct osc_loaded *l, struct osc_args *args, const struct osc_table_def *def)
{
    args->table.selection = &args->selection;
    args->selects_late = (def->takes & OSC_TAKES_SELECTION) != 0;
    return osc_load(l, args, osc_budget_for_table(args, def));
}

/* What names all traces of ARGS when it is typed, with --rank and --span. */
static osc_status add_operands(const struct osc_args *args, struct osc_strbuf *out)
{
    const struct {
        const char *option, *value;
    } lists[] = {{"--rank ", args->ranks}, {"--span ", args->spans}};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (!lists[i].value)
            continue;
        osc_strbuf_adds(out, lists[i].option);
        osc_shell_add_word(out, lists[i].value);
        osc_strbuf_addc(out, ' ');
    }
    for (int i = 0; i < args->n_operands; i++) {
        osc_strbuf_adds(out, i > 0 ? " " : "");
        osc_shell_add_trace(out, args->operands[i]);
    }
    return out->status;
}

int osc_ask(struct osc_asked *k, struct osc_loaded *l, const struct osc_args *args,
            const struct osc_table_def *def)
{
    struct osc_err err = {0};
    const int failed = osc_load_facts(l, args, def->facts);

    if (failed)
        return failed;
    osc_status st = add_operands(args, &k->operands);
    k->options = args->table;
    k->options.operands = k->operands.s;
    k->options.n_traces = l->n_traces;
    k->options.has_raw_names = osc_cli_width(STDOUT_FILENO) == 0;
    k->query = (struct osc_query){
        .def = def,
        .traces = (const struct osc_trace *const *)l->traces,
        .n_traces = l->n_traces,
        .options = &k->options,
        .columns = args->columns,
        .where = args->filter.keep ? &args->filter : NULL,
        .is_merged = args->is_merged,
        .is_machine = args->renderer->is_machine,
        /* torch's table has no columns to choose from. */
        .has_own_text = def->text && !args->renderer->is_machine && !args->columns,
    };
    if (st == OSC_OK)
        st = osc_query_run(&k->query, &k->answer, &err);
    k->answer.sheet.sources = l->sources;
    k->answer.sheet.n_sources = l->n_sources;
    k->answer.sheet.torch_version = l->torch_version;
    return st == OSC_OK ? OSC_EXIT_DONE : osc_load_fail(l, NULL, st, &err, "making a table");
}

void osc_asked_fini(struct osc_asked *k)
{
    osc_answer_fini(&k->answer);
    osc_strbuf_fini(&k->operands);
    *k = (struct osc_asked){0};
}
