/* SPDX-License-Identifier: Apache-2.0 */
#include "api/respond.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "codec/json.h"

static const char json_type[] = "application/json; charset=utf-8";

void osc_respond_begin(struct osc_api_call *c, const char *type)
{
    const struct osc_api_head head = {
        .status = 200, .type = type, .tag = c->tag[0] ? c->tag : NULL};

    c->is_begun = true;
    c->sink->begin(c->sink->ctx, &head);
}

int osc_respond_write(struct osc_api_call *c, const char *s, size_t len)
{
    return len > 0 ? c->sink->write(c->sink->ctx, s, len) : 0;
}

static void add_member(struct osc_strbuf *out, const char *name, const char *value)
{
    osc_strbuf_addf(out, ",\n \"%s\": ", name);
    if (value)
        osc_json_quote(out, osc_str_c(value));
    else
        osc_strbuf_adds(out, "null");
}

void osc_respond_error(struct osc_api_call *c, const struct osc_api_error *e)
{
    const struct osc_api_head head = {
        .status = e->status, .type = json_type, .allow = e->allow, .retry_s = e->retry_s};
    struct osc_strbuf body = {0};

    if (c->is_begun) { /* too late to say so */
        c->is_incomplete = true;
        return;
    }
    osc_strbuf_addf(&body, "{\"code\": \"%s\"", e->code);
    add_member(&body, "message", e->message);
    add_member(&body, "what_to_do", e->what_to_do);
    add_member(&body, "command", e->command);
    osc_strbuf_adds(&body, "}\n");
    c->is_begun = true;
    c->sink->begin(c->sink->ctx, &head);
    if (body.status == OSC_OK)
        (void)osc_respond_write(c, body.s, body.len);
    osc_strbuf_fini(&body);
}

void osc_respond_failure(struct osc_api_call *c, osc_status st, const struct osc_err *err,
                         const char *command)
{
    static const struct {
        osc_status st;
        int status;
        const char *code, *what_to_do;
    } known[] = {
        {OSC_EINVAL, 400, "bad_request",
         "correct the query; 'opscope table --list' names tables and columns, 'opscope help "
         "table' options"},
        {OSC_ENOTFOUND, 404, "not_found", "choose ranks and spans that the run has: runs"},
        {OSC_ECANCELED, 504, "too_slow",
         "ask for less: select steps, a time or ranks, or run the command"},
        {OSC_ELIMIT, 503, "limit_reached",
         "ask for less, or start the server with more --max-memory"},
        {OSC_ENOMEM, 503, "no_memory", "ask for less"},
    };
    struct osc_api_error e = {.status = 500, .code = "failed", .command = command};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].st == st) {
            e.status = known[i].status;
            e.code = known[i].code;
            e.what_to_do = known[i].what_to_do;
        }
    }
    e.message = err && err->message[0] ? err->message : osc_status_text(st);
    if (st == OSC_ECANCELED)
        e.message = "the answer took too long";
    osc_respond_error(c, &e);
}

void osc_respond_json(struct osc_api_call *c, struct osc_strbuf *body)
{
    const struct osc_err err = {0};

    if (body->status != OSC_OK) {
        osc_respond_failure(c, body->status, &err, NULL);
    } else {
        osc_respond_begin(c, json_type);
        (void)osc_respond_write(c, body->s, body->len);
    }
    osc_strbuf_fini(body);
}

bool osc_respond_unchanged(struct osc_api_call *c, const char *fingerprint)
{
    const char *const target = c->request->target, *const known = c->request->if_none_match;
    const uint64_t of_runs = osc_hash(fingerprint, strlen(fingerprint), 0);

    /* Weak, because it may be sent compressed or not. */
    snprintf(c->tag, sizeof c->tag, "W/\"%.32s-%016llx\"", fingerprint,
             (unsigned long long)osc_hash(target, strlen(target), of_runs));
    if (!known || !strstr(known, c->tag + 2))
        return false;
    c->is_begun = true;
    c->sink->begin(c->sink->ctx, &(struct osc_api_head){.status = 304, .tag = c->tag});
    return true;
}
