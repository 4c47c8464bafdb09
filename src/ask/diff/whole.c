/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/diff/whole.h"

#include <string.h>

#include "analysis/table_registry.h"
#include "ask/diff/gate_report.h"
#include "ask/diff/sentences.h"

#define ROWS_OF_EACH 10 /* of each table in a text for people, unless there is a limit */

static const struct osc_table_def *const defs[OSC_WHOLE_TABLES] = {
    [OSC_WHOLE_STEPS] = &osc_table_diff_steps,
    [OSC_WHOLE_OPERATORS] = &osc_table_diff_operators,
    [OSC_WHOLE_KERNELS] = &osc_table_diff_kernels,
    [OSC_WHOLE_TREE] = &osc_table_diff_tree,
};

uint32_t osc_whole_sides(void)
{
    uint32_t sides = 1u << OSC_SIDE_ABOUT | 1u << OSC_SIDE_CALLS;

    for (int t = 0; t < OSC_WHOLE_TABLES; t++)
        sides |= osc_compare_sides(defs[t]);
    return sides;
}

static bool is_form(const struct osc_whole *w, const char *name)
{
    return strcmp(w->asked[0].form->name, name) == 0;
}

/* Check that R asks for nothing that only one table can be asked. */
static osc_status check_question(const struct osc_request *r, struct osc_err *err)
{
    const struct osc_question *const q = &r->question;
    const char *const name = q->sort       ? "sort"
                             : q->columns  ? "columns"
                             : q->where    ? "where"
                             : q->group_by ? "group-by"
                                           : q->options[0].name;

    return name ? osc_fail(err, OSC_EINVAL, "--%s is for one table: name it with --table", name)
                : OSC_OK;
}

osc_status osc_whole_init(struct osc_whole *w, const struct osc_request *r, struct osc_err *err)
{
    const struct osc_question *const q = &r->question;
    struct osc_request own = *r;
    const struct osc_renderer *form = NULL;
    osc_status st = check_question(r, err);

    if (st == OSC_OK)
        st = osc_request_form(r->text.format, &form, err);
    if (st == OSC_OK && form->one_table)
        st = osc_fail(err, OSC_EINVAL, "%s holds one table; name it with --table",
                      form->one_table);
    if (st == OSC_OK && !form->is_machine) {
        own.question.limit = q->limit ? q->limit : ROWS_OF_EACH;
        own.text.note = NULL; /* it would say which columns each table leaves out */
    }
    for (int t = 0; t < OSC_WHOLE_TABLES && st == OSC_OK; t++)
        st = osc_asked_init_table(&w->asked[t], defs[t], &own, form, err);
    return st;
}

void osc_whole_fini(struct osc_whole *w)
{
    for (int t = 0; t < OSC_WHOLE_TABLES; t++)
        osc_asked_fini(&w->asked[t]);
    osc_strbuf_fini(&w->sentences);
}

static const struct osc_result *rows_of(const struct osc_whole *w, enum osc_whole_table table)
{
    return &w->asked[table].answer.blocks[0].result;
}

void osc_whole_rows(const struct osc_whole *w, const struct osc_result *tables[OSC_GATE_TABLES])
{
    tables[OSC_GATE_STEPS] = rows_of(w, OSC_WHOLE_STEPS);
    tables[OSC_GATE_OPERATORS] = rows_of(w, OSC_WHOLE_OPERATORS);
    tables[OSC_GATE_KERNELS] = rows_of(w, OSC_WHOLE_KERNELS);
}

osc_status osc_whole_run(struct osc_whole *w, struct osc_compared *c, struct osc_err *err)
{
    osc_status st = OSC_OK;

    for (int t = 0; t < OSC_WHOLE_TABLES && st == OSC_OK; t++) {
        st = osc_compare_run(&w->asked[t], c, err);
        if (t > 0 && !w->asked[t].form->is_machine)
            osc_strbuf_clear(&w->asked[t].answer.sheet.notes); /* the same as above */
    }
    if (st != OSC_OK)
        return st;
    const struct osc_diff_tables tables = {
        .steps = rows_of(w, OSC_WHOLE_STEPS),
        .operators = rows_of(w, OSC_WHOLE_OPERATORS),
        .kernels = rows_of(w, OSC_WHOLE_KERNELS),
        .calls = {&c->base->of[OSC_SIDE_CALLS], &c->new_->of[OSC_SIDE_CALLS]},
    };

    st = osc_diff_sentences(&tables, &w->sentences);
    return st == OSC_OK ? st : osc_fail(err, st, "%s", osc_status_text(st));
}

/* Write the LEN bytes of S between tables. */
static osc_status put(const struct osc_whole *w, const char *s, size_t len)
{
    const struct osc_layout *const to = &w->asked[0].request.text;
    return len == 0 || to->write(to->ctx, s, len) == 0 ? OSC_OK : OSC_EIO;
}

static osc_status write_sentences(const struct osc_whole *w)
{
    struct osc_strbuf out = {0};

    if (w->sentences.len == 0 || is_form(w, "json"))
        return OSC_OK;
    if (!is_form(w, "md"))
        return put(w, w->sentences.s, w->sentences.len);
    osc_report_add_list(&out, w->sentences.s);
    const osc_status st = out.status == OSC_OK ? put(w, out.s, out.len) : out.status;
    osc_strbuf_fini(&out);
    return st;
}

osc_status osc_whole_write(struct osc_whole *w, struct osc_err *err)
{
    const bool is_json = is_form(w, "json");
    osc_status st = write_sentences(w);

    if (st == OSC_OK && is_json)
        st = put(w, "[", 1);
    for (int t = 0; t < OSC_WHOLE_TABLES && st == OSC_OK; t++) {
        if (!is_json && rows_of(w, (enum osc_whole_table)t)->n_rows == 0)
            continue;
        if (!is_json || t > 0)
            st = put(w, is_json ? "," : "\n", 1);
        if (st == OSC_OK)
            st = osc_asked_write(&w->asked[t], err);
    }
    if (st == OSC_OK && is_json)
        st = put(w, "]\n", 2);
    return st;
}
