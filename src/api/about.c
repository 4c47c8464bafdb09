/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to ask about: the session, its runs, and the catalog. None waits for a trace.
 */
#include <string.h>

#include "api/endpoints.h"
#include "api/tables_json.h"
#include "ask/folders/logdir.h"
#include "ask/folders/runs_table.h"
#include "ask/operands.h"
#include "codec/json.h"
#include "render/renderers.h"
#include "table/question.h"

/* --- session --------------------------------------------------------------------- */

static void add_text(struct osc_strbuf *out, const char *text)
{
    osc_json_quote(out, osc_str_c(text));
}

static void add_optional(struct osc_strbuf *out, const char *name, const char *text)
{
    osc_strbuf_addf(out, ", \"%s\": ", name);
    if (text && text[0])
        add_text(out, text);
    else
        osc_strbuf_adds(out, "null");
}

static void add_run(struct osc_strbuf *out, struct osc_keeper *k, uint32_t i)
{
    static const char *const states[] = {"idle", "waiting", "loading", "ready", "failed"};
    const struct osc_keeper_run *const run = osc_keeper_run_at(k, i);
    struct osc_strbuf operands = {0};
    struct osc_keeping now;

    osc_keeper_look(k, i, &now);
    osc_operands_add(&operands, run->paths, run->n_paths);
    osc_strbuf_adds(out, "\n {\"name\": ");
    add_text(out, run->name);
    osc_strbuf_addf(out, ", \"state\": \"%s\"", states[now.state]);
    osc_strbuf_addf(out, ", \"done_bytes\": %llu, \"total_bytes\": %llu",
                    (unsigned long long)now.done_bytes, (unsigned long long)now.total_bytes);
    add_optional(out, "fingerprint", now.fingerprint);
    add_optional(out, "message", now.message);
    add_optional(out, "operands", operands.s);
    osc_strbuf_adds(out, ", \"options\": ");
    osc_question_json_options(out, run->options);
    osc_strbuf_adds(out, ", \"paths\": [");
    for (size_t p = 0; p < run->n_paths; p++) {
        osc_strbuf_adds(out, p > 0 ? ", " : "");
        add_text(out, run->paths[p]);
    }
    osc_strbuf_adds(out, "]}");
    if (operands.status != OSC_OK)
        out->status = operands.status;
    osc_strbuf_fini(&operands);
}

static void answer_session(struct osc_api_call *c)
{
    struct osc_keeper *const k = c->api->keeper;
    struct osc_strbuf out = {0};

    osc_strbuf_adds(&out, "{\"opscope\": \"" OSC_VERSION "\", \"schema\": 1,\n\"run\": ");
    add_text(&out, osc_keeper_run_at(k, c->api->first)->name);
    osc_strbuf_adds(&out, ",\n\"runs\": [");
    for (uint32_t i = 0; i < osc_keeper_n(k); i++) {
        osc_strbuf_adds(&out, i > 0 ? "," : "");
        add_run(&out, k, i);
    }
    osc_strbuf_addf(&out,
                    "],\n\"limits\": {\"questions\": %u, \"query_pairs\": %u, \"runs_loaded\": "
                    "%u}}\n",
                    OSC_API_QUESTIONS_MAX, OSC_URL_PAIRS_MAX, OSC_KEEPER_LOADED_MAX);
    osc_respond_json(c, &out);
}

const struct osc_api_endpoint osc_api_endpoint_session = {"session", false, answer_session};

/* --- catalog --------------------------------------------------------------------- */

static void answer_catalog(struct osc_api_call *c)
{
    struct osc_strbuf out = {0};

    if (osc_respond_unchanged(c, OSC_VERSION))
        return;
    osc_tables_json(&out);
    osc_respond_json(c, &out);
}

const struct osc_api_endpoint osc_api_endpoint_catalog = {"catalog", false, answer_catalog};

/* --- runs ------------------------------------------------------------------------ */

static osc_status write_on(void *ctx, const char *s, size_t len)
{
    struct osc_strbuf *const out = ctx;

    osc_strbuf_add(out, s, len);
    return out->status;
}

/* Append the table `runs` of the directories D as `opscope info --format json` prints it. */
static osc_status add_dirs(struct osc_strbuf *out, const struct osc_logdir *d,
                           struct osc_err *err)
{
    struct osc_sheet sheet = {.def = &osc_table_runs};
    struct osc_result r;

    osc_result_init(&r, &osc_table_runs);
    osc_status st = osc_runs_table_add(&r, d);
    osc_runs_table_count(d, &sheet.notes);
    osc_strbuf_addc(&sheet.notes, '\n');
    const struct osc_sheet_choice choice = {.shown = r.shown, .is_machine = true};
    const struct osc_rows rows = {.result = &r, .n_rows = r.n_rows};
    struct osc_render render = {
        .renderer = osc_renderer_find("json"), .sheet = &sheet, .write = write_on, .ctx = out};
    if (st == OSC_OK)
        st = osc_sheet_choose(&sheet, &choice, err);
    if (st == OSC_OK)
        st = osc_render_begin(&render);
    if (st == OSC_OK)
        st = osc_render_rows(&render, &rows);
    if (st == OSC_OK)
        st = osc_render_end(&render);
    osc_render_fini(&render);
    osc_sheet_fini(&sheet);
    osc_result_fini(&r);
    return st;
}

static int append(void *ctx, const char *s, size_t len)
{
    return write_on(ctx, s, len) == OSC_OK ? 0 : -1;
}

/* Append the table `info` of RUN, which has its ranks and spans, if it is loaded. */
static osc_status add_info(struct osc_api_call *c, uint32_t run, struct osc_strbuf *out,
                           struct osc_err *err)
{
    const struct osc_question q = {.table = "info", .limit = -1, .cancel = c->request->cancel};
    const struct osc_layout layout = {.format = "json", .write = append, .ctx = out};
    struct osc_keeping now;
    struct osc_set *set = NULL;
    osc_status st = OSC_OK;

    osc_keeper_look(c->api->keeper, run, &now);
    if (now.state != OSC_KEEPER_READY || !osc_api_take(c, run, &set, &now)) {
        osc_strbuf_adds(out, "null");
        return OSC_OK;
    }
    st = osc_ask_text(set, NULL, &q, &layout, err);
    osc_strbuf_adds(out, ",\n\"notes\": ");
    add_text(out, osc_set_notes(set));
    osc_set_release(set);
    return st;
}

static void answer_runs(struct osc_api_call *c)
{
    struct osc_strbuf out = {0};
    struct osc_err err = {0};
    osc_status st = OSC_OK;
    uint32_t run;

    if (!osc_api_find_run(c, "run", &run))
        return;
    osc_strbuf_adds(&out, "{\"run\": ");
    add_text(&out, osc_keeper_run_at(c->api->keeper, run)->name);
    osc_strbuf_adds(&out, ",\n\"runs\": ");
    if (c->api->dirs && c->api->dirs->n_runs > 0)
        st = add_dirs(&out, c->api->dirs, &err);
    else
        osc_strbuf_adds(&out, "null");
    osc_strbuf_adds(&out, ",\n\"info\": ");
    if (st == OSC_OK)
        st = add_info(c, run, &out, &err);
    osc_strbuf_adds(&out, "}\n");
    if (!c->is_begun && st != OSC_OK)
        osc_respond_failure(c, st, &err, NULL);
    if (!c->is_begun)
        osc_respond_json(c, &out);
    osc_strbuf_fini(&out);
}

const struct osc_api_endpoint osc_api_endpoint_runs = {"runs", false, answer_runs};
