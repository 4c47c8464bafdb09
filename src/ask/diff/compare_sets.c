/* SPDX-License-Identifier: Apache-2.0 */
/* What opscope/trace.h says about two sets: tables, texts, and the verdict of a gate. */
#include <string.h>

#include "ask/diff/gate_judge.h"
#include "ask/diff/whole.h"
#include "base/mem.h"
#include "base/note.h"

/* Two sets, what is asked about them, and their digests. */
struct two_sets {
    struct osc_set *set[2]; /* the base, and the newer one */
    const struct osc_view *view;
    struct osc_request r;
    struct osc_digests sides[2];
    struct osc_compared both;
};

/* Make the digests SIDES, a set of bits, of both sets. */
static osc_status digest(struct two_sets *t, uint32_t sides, struct osc_err *err)
{
    osc_status st = OSC_OK;

    const struct osc_view views[] = {osc_compare_view(t->view, true),
                                     osc_compare_view(t->view, false)};

    t->both = (struct osc_compared){.base = &t->sides[0], .new_ = &t->sides[1]};
    for (uint32_t i = 0; i < 2 * OSC_SIDES && st == OSC_OK; i++) {
        struct osc_side_sink side = {&t->sides[i / OSC_SIDES], i % OSC_SIDES};
        const struct osc_asking a = {.view = &views[i / OSC_SIDES],
                                     .question = &t->r.question,
                                     .digest = osc_side_defs[side.side]};
        const struct osc_sink sink = osc_sink_side(&side);

        if (sides >> side.side & 1)
            st = osc_evaluate(t->set[i / OSC_SIDES], &a, &sink, err);
    }
    return st;
}

/* Free T after a call that ended with ST; the status to return, of which ERR says why. */
static osc_status end(struct two_sets *t, osc_status st, struct osc_err *err)
{
    osc_compared_fini(&t->both);
    osc_digests_fini(&t->sides[0]);
    osc_digests_fini(&t->sides[1]);
    st = osc_mem_reason(st);
    if (st != OSC_OK && err->message[0] == '\0')
        (void)osc_fail(err, st, "%s", osc_status_text(st));
    if (st != OSC_OK)
        osc_note_clean(err);
    return st;
}

/* Make the answer K about one table. */
static osc_status answer(struct two_sets *t, struct osc_asked *k,
                         const struct osc_renderer *form, struct osc_err *err)
{
    const struct osc_table_def *def;
    osc_status st = osc_request_table(t->r.question.table, &def, err);

    if (st == OSC_OK && !def->comparison)
        st = osc_fail(err, OSC_EINVAL, "%s is a table of one run, not of two", def->name);
    if (st == OSC_OK)
        st = osc_asked_init_table(k, def, &t->r, form, err);
    if (st == OSC_OK)
        st = digest(t, osc_compare_sides(def), err);
    if (st == OSC_OK)
        st = osc_compare_run(k, &t->both, err);
    return st;
}

osc_status osc_compare(struct osc_set *base, struct osc_set *newer, const struct osc_view *view,
                       const struct osc_question *question, struct osc_frame **f,
                       struct osc_err *err)
{
    struct two_sets t = {.set = {base, newer}, .view = view, .r = {.question = *question}};
    struct osc_asked k = {0};
    struct osc_err own = {0};

    *f = NULL;
    err = err ? err : &own;
    err->message[0] = '\0';
    osc_status st = answer(&t, &k, osc_renderer_find("csv"), err);
    const struct osc_digest files[] = {t.sides[0].files, t.sides[1].files};
    const struct osc_digest all = osc_digest_of(files, sizeof files);
    if (st == OSC_OK)
        st = osc_frame_make(f, &k, NULL, &all, err);
    osc_asked_fini(&k);
    return end(&t, st, err);
}

/* Write sentences and all tables. */
static osc_status write_whole(struct two_sets *t, struct osc_err *err)
{
    struct osc_whole w = {.sentences = {0}};
    osc_status st = osc_whole_init(&w, &t->r, err);

    if (st == OSC_OK)
        st = digest(t, osc_whole_sides(), err);
    if (st == OSC_OK)
        st = osc_whole_run(&w, &t->both, err);
    if (st == OSC_OK)
        st = osc_whole_write(&w, err);
    osc_whole_fini(&w);
    return st;
}

osc_status osc_compare_text(struct osc_set *base, struct osc_set *newer,
                            const struct osc_view *view, const struct osc_question *question,
                            const struct osc_layout *text, struct osc_err *err)
{
    static const struct osc_question whole;
    struct two_sets t = {.set = {base, newer},
                         .view = view,
                         .r = {.question = question ? *question : whole, .text = *text}};
    struct osc_asked k = {0};
    struct osc_err own = {0};

    err = err ? err : &own;
    err->message[0] = '\0';
    osc_status st = OSC_OK;
    if (t.r.question.table) {
        st = answer(&t, &k, NULL, err);
        if (st == OSC_OK)
            st = osc_asked_write(&k, err);
    } else {
        st = write_whole(&t, err);
    }
    osc_asked_fini(&k);
    return end(&t, st, err);
}

/* --- gates ---------------------------------------------------------------------------- */

/* Give what is in OUT, which is not empty, to *TEXT. */
static osc_status give(struct osc_strbuf *out, char **text)
{
    if (out->status != OSC_OK)
        return out->status;
    *text = out->s;
    *out = (struct osc_strbuf){0};
    return OSC_OK;
}

/* Fill V with what F found. */
static osc_status tell(struct two_sets *t, const struct osc_gating *how,
                       struct osc_gate_findings *f, struct osc_verdict *v, struct osc_err *err)
{
    struct osc_strbuf text = {0}, report = {0};
    osc_status st = osc_gate_add_text(&text, f);

    if (st == OSC_OK)
        st = give(&text, &v->text);
    if (st == OSC_OK && how->report) {
        const enum osc_gate_form form =
            strcmp(how->report, "xml") == 0 ? OSC_GATE_JUNIT : OSC_GATE_MARKDOWN;

        st = osc_gate_add_report(&report, form, &t->r, &t->both, f, err);
    }
    if (st == OSC_OK && how->report)
        st = give(&report, &v->report);
    v->is_broken = f->gate->is_broken;
    v->knows_significance = osc_gate_knows_significance(f->tables);
    osc_strbuf_fini(&text);
    osc_strbuf_fini(&report);
    return st;
}

/* Evaluate G, which was parsed. */
static osc_status judge(struct two_sets *t, struct osc_gate *g, const struct osc_gating *how,
                        struct osc_verdict *v, struct osc_err *err)
{
    const struct osc_result *tables[OSC_GATE_TABLES];
    struct osc_whole w = {.sentences = {0}};
    osc_status st = osc_whole_init(&w, &t->r, err);

    if (st == OSC_OK)
        st = digest(t, osc_whole_sides(), err);
    if (st == OSC_OK)
        st = osc_whole_run(&w, &t->both, err);
    if (st == OSC_OK) {
        osc_whole_rows(&w, tables);
        st = osc_gate_judge(g, &t->both, tables, how->allow_different, err);
    }
    if (st == OSC_OK) {
        struct osc_gate_findings f = {.gate = g,
                                      .text = how->gate,
                                      .tables = tables,
                                      .base = how->base_name ? how->base_name : "base",
                                      .new_run = how->new_name ? how->new_name : "new",
                                      .sentences = w.sentences.s ? w.sentences.s : "",
                                      .tables_md = ""};

        st = tell(t, how, &f, v, err);
    }
    osc_whole_fini(&w);
    return st;
}

osc_status osc_compare_gate(struct osc_set *base, struct osc_set *newer,
                            const struct osc_view *view, const struct osc_gating *how,
                            struct osc_verdict *v, struct osc_err *err)
{
    struct two_sets t = {.set = {base, newer}, .view = view, .r = {.question = {.limit = -1}}};
    struct osc_gate g = {.n = 0};
    struct osc_err own = {0};
    osc_status st = OSC_OK;

    *v = (struct osc_verdict){.text = NULL};
    err = err ? err : &own;
    err->message[0] = '\0';
    if (how->report && strcmp(how->report, "xml") != 0 && strcmp(how->report, "md") != 0)
        st = osc_fail(err, OSC_EINVAL, "a report is xml or md, not '%.40s'", how->report);
    if (st == OSC_OK) {
        st = osc_gate_parse(&g, how->gate, err);
        if (st != OSC_OK)
            osc_err_prefix(err, "the gate");
    }
    if (st == OSC_OK)
        st = judge(&t, &g, how, v, err);
    osc_gate_fini(&g);
    st = end(&t, st, err);
    if (st != OSC_OK)
        osc_verdict_fini(v);
    return st;
}

void osc_verdict_fini(struct osc_verdict *v)
{
    osc_free(v->text);
    osc_free(v->report);
    *v = (struct osc_verdict){.text = NULL};
}
