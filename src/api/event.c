/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event, as the dock of the page shows it (JSON): event/NUMBER, as cells number them.
 */
#include "analysis/args_json.h"
#include "api/drawn.h"
#include "ask/request.h"
#include "base/parse.h"
#include "codec/json.h"
#include "derive/facts.h"
#include "names/symbol.h"

#define LINKS_MAX 64u

struct event {
    const struct osc_timeline *tl;
    const struct osc_timeline_part *part;
    const struct osc_chunk *chunk;
    uint32_t i;
    struct osc_strbuf *out;
    unsigned n_links;
};

static void add_text(struct osc_strbuf *out, const char *name, struct osc_str text)
{
    osc_strbuf_addf(out, ", \"%s\": ", name);
    osc_json_quote(out, text);
}

static void add_ns(struct osc_strbuf *out, const char *name, bool is_known, int64_t ns)
{
    if (is_known)
        osc_strbuf_addf(out, ", \"%s\": %lld", name, (long long)ns);
    else
        osc_strbuf_addf(out, ", \"%s\": null", name);
}

static struct osc_str name_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                              struct osc_strbuf *folded)
{
    const struct osc_str name = osc_row_name(t, c, i);

    osc_strbuf_clear(folded);
    if (!osc_symbol_is_function(name))
        return name;
    osc_symbol_fold(folded, name);
    return folded->status == OSC_OK && folded->len > 0
               ? (struct osc_str){folded->s, (uint32_t)folded->len}
               : name;
}

/* The number of the track of row I of C; the group is not known there, so its first one. */
static void add_track(const struct event *e, const struct osc_chunk *c, uint32_t i)
{
    const uint32_t end =
        e->part + 1 < e->tl->parts + e->tl->n_parts ? e->part[1].first_track : e->tl->n_tracks;

    for (uint32_t k = e->part->first_track; k < end; k++) {
        if (e->tl->tracks[k].track != c->track[i])
            continue;
        osc_strbuf_addf(e->out, ", \"track\": %u", k);
        return;
    }
    osc_strbuf_adds(e->out, ", \"track\": null");
}

static void add_link(struct event *e, const char *relation, uint32_t row)
{
    const struct osc_trace *const t = e->part->t;
    struct osc_strbuf folded = {0};

    if (row == 0 || e->n_links == LINKS_MAX)
        return;
    const struct osc_chunk *const c = osc_chunk_of(&t->events, (osc_row){row});
    const uint32_t i = row & OSC_CHUNK_MASK;
    osc_strbuf_addf(e->out, "%s\n {\"relation\": \"%s\", \"event\": %u",
                    e->n_links > 0 ? "," : "", relation,
                    e->part->first_event + osc_row_number(&t->events, (osc_row){row}));
    add_text(e->out, "name", name_of(t, c, i, &folded));
    add_track(e, c, i);
    add_ns(e->out, "start_ns", true, osc_timeline_time(t, c->ts_ns[i]));
    add_ns(e->out, "dur_ns", c->dur_ns[i] != OSC_NO_DUR, c->dur_ns[i]);
    osc_strbuf_addc(e->out, '}');
    e->n_links++;
    osc_strbuf_fini(&folded);
}

/* Whom the row of E is linked to. */
static void add_links(struct event *e)
{
    const struct osc_trace *const t = e->part->t;
    const struct osc_chunk *const c = e->chunk;
    const enum osc_kind kind = c->kind[e->i];
    const uint32_t link = c->link ? c->link[e->i] : 0;

    osc_strbuf_adds(e->out, ",\n\"links\": [");
    add_link(e, "parent", c->parent ? c->parent[e->i] : 0);
    if (osc_kind_is_device_work(kind) || kind == OSC_KIND_SYNC) {
        add_link(e, "launched_by", link);
        if (link != 0) {
            const struct osc_chunk *const call = osc_chunk_of(&t->events, (osc_row){link});

            add_link(e, "operator", call->link ? call->link[link & OSC_CHUNK_MASK] : 0);
        }
    } else {
        add_link(e, kind == OSC_KIND_OPERATOR ? "forward" : "operator", link);
    }
    const struct osc_links *const links = &osc_trace_facts(t)->links;
    const uint32_t row = osc_row_at(c, e->i).v;
    for (size_t k = 0; k < links->n_works && osc_kind_is_launch(kind); k++)
        if (links->works[k].call != 0 && links->calls[links->works[k].call - 1].row == row)
            add_link(e, "launched", links->works[k].row);
    for (uint32_t k = 0; k < e->part->n_arrows; k++) {
        const struct osc_timeline_arrow *const arrow = &e->part->arrows[k];

        if (arrow->from == row)
            add_link(e, "leads_to", arrow->to);
        if (arrow->to == row)
            add_link(e, "comes_from", arrow->from);
    }
    osc_strbuf_addc(e->out, ']');
}

static void add_event(struct event *e, uint32_t number)
{
    const struct osc_trace *const t = e->part->t;
    const struct osc_chunk *const c = e->chunk;
    struct osc_strbuf folded = {0};
    struct osc_args_json args = {0};

    osc_strbuf_addf(e->out, "{\"event\": %u, \"rank\": %d, \"span\": %d, \"id\": %u", number,
                    t->rank, t->span, number - e->part->first_event);
    add_text(e->out, "name", osc_row_name(t, c, e->i));
    add_text(e->out, "folded", name_of(t, c, e->i, &folded));
    const struct osc_form *const form = osc_row_form(t, c, e->i);
    const struct osc_str kind = osc_str_c(osc_kind_text((enum osc_kind)c->kind[e->i]));

    add_text(e->out, "kind", kind);
    /* As in the table of events: recordings have no words of their own. */
    add_text(e->out, "category",
             osc_form_is_neutral(form) ? kind : osc_trace_str(t, form->category));
    add_track(e, c, e->i);
    add_ns(e->out, "start_ns", true, osc_timeline_time(t, c->ts_ns[e->i]));
    add_ns(e->out, "dur_ns", c->dur_ns[e->i] != OSC_NO_DUR, c->dur_ns[e->i]);
    add_ns(e->out, "self_ns", c->self_ns && osc_is_range(&osc_trace_facts(t)->classes, c, e->i),
           c->self_ns ? c->self_ns[e->i] : 0);
    osc_strbuf_adds(e->out, ",\n\"args\": ");
    if (osc_args_json_write(&args, t, c, e->i))
        osc_strbuf_add(e->out, args.text.s, args.text.len);
    else
        osc_strbuf_adds(e->out, "{}");
    if (args.text.status != OSC_OK)
        e->out->status = args.text.status;
    add_links(e);
    osc_strbuf_adds(e->out, "}\n");
    osc_args_json_fini(&args);
    osc_strbuf_fini(&folded);
}

static void answer_event(struct osc_api_call *c)
{
    struct osc_strbuf out = {0};
    struct osc_api_drawn d;
    int64_t number;
    uint32_t part;
    osc_row row;

    if (!osc_parse_whole(c->rest, 0, UINT32_MAX, &number)) {
        osc_api_refuse(c, "the event must be a whole number");
        return;
    }
    if (!osc_api_draw(c, &d))
        return;
    const struct osc_timeline *const tl = d.drawing.timeline;
    if (osc_timeline_find(tl, (uint32_t)number, &part, &row)) {
        const struct osc_trace *const t = tl->parts[part].t;
        struct event e = {.tl = tl,
                          .part = &tl->parts[part],
                          .chunk = osc_chunk_of(&t->events, row),
                          .i = osc_row_place(row),
                          .out = &out};

        osc_trace_read(t);
        add_event(&e, (uint32_t)number);
        osc_trace_read_end(t);
        osc_respond_json(c, &out);
    } else {
        osc_respond_error(c, &(struct osc_api_error){.status = 404,
                                                     .code = "unknown_event",
                                                     .message = "there is no such event",
                                                     .what_to_do = "reload the page"});
    }
    osc_strbuf_fini(&out);
    osc_api_drawn_fini(&d);
}

const struct osc_api_endpoint osc_api_endpoint_event = {"event", true, answer_event};
