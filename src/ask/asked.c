/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/asked.h"

#include <string.h>

#include "analysis/table_registry.h"
#include "ask/file_findings.h"
#include "ask/operands.h"
#include "base/mem.h"
#include "base/note.h"
#include "base/utf8.h"

osc_status osc_asked_init(struct osc_asked *k, const struct osc_request *r,
                          const struct osc_renderer *form, struct osc_err *err)
{
    const struct osc_table_def *def;
    const osc_status st = osc_request_table(r->question.table, &def, err);

    *k = (struct osc_asked){0};
    if (st == OSC_OK && def->comparison)
        return osc_fail(err, OSC_EINVAL,
                        "%s compares two runs: 'opscope diff BASE NEW --table %s'", def->name,
                        def->name);
    return st == OSC_OK ? osc_asked_init_table(k, def, r, form, err) : st;
}

osc_status osc_asked_init_table(struct osc_asked *k, const struct osc_table_def *def,
                                const struct osc_request *r, const struct osc_renderer *form,
                                struct osc_err *err)
{
    const struct osc_question *const q = &k->request.question;
    osc_status st = OSC_OK;

    *k = (struct osc_asked){.def = def, .request = *r, .form = form};
    k->selection = osc_request_selection(&r->view);
    k->query = (struct osc_query){.options = &k->options,
                                  .sort = q->sort,
                                  .limit = q->limit,
                                  .columns = q->columns,
                                  .is_merged = q->merge != 0};
    if (!form)
        st = osc_request_form(r->text.format, &k->form, err);
    if (st == OSC_OK)
        st = osc_request_check(r, err);
    if (st == OSC_OK)
        st = osc_request_check_scope(r, k->def, k->form, err);
    if (st == OSC_OK)
        st = osc_request_options(r, k->def, &k->options, err);
    k->options.selection = &k->selection;
    k->options.view = &k->request.view;
    k->query.def = k->def;
    if (st == OSC_OK)
        st = osc_query_check(&k->query, err);
    if (st == OSC_OK && q->where)
        st = osc_where_open(&k->where, k->def, q->where, osc_mem_is_cancelled, err);
    if (st != OSC_OK)
        return st;
    k->filter = (struct osc_row_filter){osc_where_keep, k->where};
    k->query.where = k->where ? &k->filter : NULL;
    k->query.is_machine = k->form->is_machine;
    k->options.has_rest = !k->form->is_machine;
    /* torch's table has no columns to choose from. */
    k->query.has_own_text = k->def->text && !k->form->is_machine && !q->columns;
    return OSC_OK;
}

void osc_asked_fini(struct osc_asked *k)
{
    osc_answer_fini(&k->answer);
    osc_where_close(k->where);
    osc_free(k->sources);
    osc_strbuf_fini(&k->operands);
    *k = (struct osc_asked){0};
}

bool osc_asked_selects_late(const struct osc_asked *k)
{
    return k->def->mapping && k->def->mapping->selects_itself;
}

uint32_t osc_asked_facts(const struct osc_asked *k)
{
    return k->takes_facts_as_they_are ? 0 : osc_table_facts(k->def) | k->more_facts;
}

osc_status osc_asked_name(struct osc_asked *k, const struct osc_asked_of *of)
{
    osc_strbuf_clear(&k->operands);
    if (k->stands_for)
        osc_strbuf_adds(&k->operands, k->stands_for);
    else
        osc_operands_add(&k->operands, of->paths, of->n_paths);
    k->options.operands = k->operands.s;
    k->options.n_traces = of->n_parts;
    return k->operands.status;
}

/* Give K the source of each part of OF. */
static osc_status name_sources(struct osc_asked *k, const struct osc_asked_of *of)
{
    osc_free(k->sources);
    k->sources = osc_calloc((size_t)of->n_parts + 1, sizeof *k->sources);
    for (uint32_t i = 0; i < of->n_parts && k->sources; i++)
        k->sources[i] = of->parts[i]->identity.source;
    return k->sources ? OSC_OK : OSC_ENOMEM;
}

osc_status osc_asked_answer(struct osc_asked *k, const struct osc_asked_of *of,
                            struct osc_err *err)
{
    struct osc_file_findings findings = {&of->loaded->files.left, &k->query};
    const struct osc_more_rows more = {osc_file_findings_add, &findings};
    osc_status st = osc_asked_name(k, of);

    if (!k->query.ready) {
        k->query.parts = of->parts;
        k->query.n_parts = of->n_parts;
    }
    if (st == OSC_OK)
        st = name_sources(k, of);
    k->query.more = k->def == &osc_table_quality ? &more : NULL;
    if (st == OSC_OK)
        st = osc_query_run(&k->query, &k->answer, err);
    k->query.more = NULL;
    k->answer.sheet.sources = k->sources;
    k->answer.sheet.n_sources = k->options.n_traces;
    k->answer.sheet.torch_version = of->loaded->torch_version;
    return osc_loaded_fail(of->loaded, NULL, st, "making a table", err);
}

/* --- as text -------------------------------------------------------------------- */

static osc_status write_on(void *ctx, const char *s, size_t len)
{
    const struct osc_layout *const text = ctx;

    return text->write(text->ctx, s, len) == 0 ? OSC_OK : OSC_EIO;
}

static void note_on(void *ctx, const char *line)
{
    const struct osc_layout *const text = ctx;

    if (text->note)
        text->note(text->ctx, line);
}

static osc_status emit(void *ctx, const struct osc_rows *rows)
{
    return osc_render_rows(ctx, rows);
}

static osc_status render(struct osc_asked *k, struct osc_err *err)
{
    const struct osc_layout *const text = &k->request.text;
    struct osc_render r = {
        .renderer = k->form,
        .sheet = &k->answer.sheet,
        .width = text->width,
        .has_colour = text->has_colour != 0,
        .has_full_names = text->full_names != 0,
        .note = note_on,
        .write = write_on,
        .ctx = &k->request.text,
    };
    osc_status st = osc_render_begin(&r);

    if (st == OSC_OK)
        st = osc_answer_rows(&k->query, &k->answer, emit, &r, err);
    if (st == OSC_OK)
        st = osc_render_end(&r);
    if (st == OSC_OK && (r.n_rows == 0 || k->answer.is_unsorted) && k->form->lacks_notes &&
        text->note)
        osc_notes_each(&k->answer.sheet.notes, text->note, text->ctx);
    osc_render_fini(&r);
    return st;
}

/* Append the lines of NOTES, each after "note: ". */
static void add_notes(struct osc_strbuf *out, const struct osc_strbuf *notes)
{
    const char *line = notes->len > 0 ? notes->s : "";

    while (*line) {
        const char *end = strchrnul(line, '\n');

        osc_strbuf_adds(out, "note: ");
        osc_utf8_append_terminal(out, (struct osc_str){line, (uint32_t)(end - line)});
        osc_strbuf_addc(out, '\n');
        line = *end ? end + 1 : end;
    }
}

/* How a table that prints its own text does it for K. */
static struct osc_text_options own_text(const struct osc_asked *k)
{
    return (struct osc_text_options){
        .options = &k->options,
        .sort = k->request.question.sort,
        .limit = k->request.question.limit,
        .has_raw_names = k->request.text.width == 0,
    };
}

/*
 * Write the answer of a table that prints its own text, as Python's print() does: one text for
 * each block, and if there are several, each with a header of that text's own. Whoever compares
 * them reads nothing else, so notes go elsewhere if there is such a place.
 */
static osc_status write_own_text(struct osc_asked *k, struct osc_err *err)
{
    struct osc_text_options options = own_text(k);
    struct osc_answer *const a = &k->answer;
    struct osc_layout *const text = &k->request.text;
    struct osc_strbuf out = {0}, header = {0};
    bool has_written = false;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < a->n_blocks && st == OSC_OK; i++) {
        const struct osc_answer_block *b = &a->blocks[i];

        osc_strbuf_clear(&out);
        osc_strbuf_clear(&header);
        if (a->n_blocks > 1) {
            osc_strbuf_addf(&header, "rank %d, span %d", b->rank, b->span);
            options.block = header.s;
        }
        st = header.status;
        if (st == OSC_OK)
            st = k->def->text(&b->result, &options, &out, err);
        if (st == OSC_OK && out.status != OSC_OK)
            st = osc_fail(err, out.status, "%s", osc_status_text(out.status));
        if (st == OSC_OK && out.len > 0 && has_written)
            st = write_on(text, "\n", 1);
        if (st == OSC_OK && out.len > 0)
            st = write_on(text, out.s, out.len);
        has_written |= out.len > 0;
    }
    osc_strbuf_clear(&out);
    if (st == OSC_OK && text->note)
        osc_notes_each(&a->sheet.notes, text->note, text->ctx);
    else
        add_notes(&out, &a->sheet.notes);
    if (st == OSC_OK && out.len > 0)
        st = write_on(text, out.s, out.len);
    osc_strbuf_fini(&out);
    osc_strbuf_fini(&header);
    return st;
}

osc_status osc_asked_write(struct osc_asked *k, struct osc_err *err)
{
    return k->query.has_own_text ? write_own_text(k, err) : render(k, err);
}
