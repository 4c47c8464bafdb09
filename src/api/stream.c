/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream `progress` (server-sent events): how far a run is loaded, and when it changes.
 *
 *     load   {"done_bytes", "total_bytes"}    while it loads
 *     ready  {"fingerprint"}                  it is loaded
 *     model  {"fingerprint"}                  its files have changed, and were read again
 *     failed {"message"}                      it cannot be loaded
 *     stale  {"message"}                      its files cannot be read again; what was read
 *                                             stays
 *     idle   {}                               it was given up for others; a question loads it
 *     bye    {}                               the server ends
 *
 * Without news a comment every five seconds, so that both ends notice when the other is gone.
 */
#include <string.h>

#include "api/endpoints.h"
#include "codec/json.h"

#define SECOND_NS   INT64_C(1000000000)
#define BEAT_NS     (5 * SECOND_NS)
#define STREAMS_MAX 64u

static int send_event(struct osc_api_call *c, const char *name, const char *member,
                      const char *text)
{
    struct osc_strbuf out = {0};
    int failed = -1;

    osc_strbuf_addf(&out, "event: %s\ndata: {", name);
    if (member) {
        osc_strbuf_addf(&out, "\"%s\": ", member);
        osc_json_quote(&out, osc_str_c(text));
    }
    osc_strbuf_adds(&out, "}\n\n");
    if (out.status == OSC_OK)
        failed = osc_respond_write(c, out.s, out.len);
    osc_strbuf_fini(&out);
    return failed;
}

static int send_load(struct osc_api_call *c, const struct osc_keeping *now)
{
    struct osc_strbuf out = {0};
    int failed = -1;

    osc_strbuf_addf(&out,
                    "event: load\ndata: {\"done_bytes\": %llu, \"total_bytes\": %llu}\n\n",
                    (unsigned long long)now->done_bytes, (unsigned long long)now->total_bytes);
    if (out.status == OSC_OK)
        failed = osc_respond_write(c, out.s, out.len);
    osc_strbuf_fini(&out);
    return failed;
}

/* Send what is new in NOW, compared to BEFORE. */
static int send_news(struct osc_api_call *c, const struct osc_keeping *before,
                     const struct osc_keeping *now)
{
    const bool is_same_state = now->state == before->state && before->serial != 0;

    switch (now->state) {
    case OSC_KEEPER_IDLE:
        return is_same_state ? 0 : send_event(c, "idle", NULL, NULL);
    case OSC_KEEPER_WANTED:
    case OSC_KEEPER_LOADING:
        return send_load(c, now);
    case OSC_KEEPER_FAILED:
        return is_same_state ? 0 : send_event(c, "failed", "message", now->message);
    case OSC_KEEPER_READY:
        break;
    }
    if (!is_same_state)
        return send_event(c, "ready", "fingerprint", now->fingerprint);
    if (strcmp(now->fingerprint, before->fingerprint) != 0)
        return send_event(c, "model", "fingerprint", now->fingerprint);
    if (now->message[0] && strcmp(now->message, before->message) != 0)
        return send_event(c, "stale", "message", now->message);
    return 0;
}

static void stream(struct osc_api_call *c, uint32_t run)
{
    struct osc_keeping before = {.state = OSC_KEEPER_IDLE}, now;
    bool is_running = true;
    int failed = 0;

    while (is_running && !failed) {
        osc_keeper_look(c->api->keeper, run, &now);
        failed = now.serial != before.serial || before.serial == 0
                     ? send_news(c, &before, &now)
                     : osc_respond_write(c, ": beat\n\n", 8);
        before = now;
        if (!failed)
            is_running = osc_keeper_wait_for_change(c->api->keeper, run, now.serial, BEAT_NS);
    }
    if (!failed)
        (void)send_event(c, "bye", NULL, NULL);
}

/* Count one stream more, if there may be one. */
static bool begin_stream(struct osc_api *api)
{
    pthread_mutex_lock(&api->lock);
    const bool is_free = api->n_streams < STREAMS_MAX;
    api->n_streams += is_free;
    pthread_mutex_unlock(&api->lock);
    return is_free;
}

static void answer_progress(struct osc_api_call *c)
{
    const struct osc_api_head head = {
        .status = 200, .type = "text/event-stream", .is_live = true};
    uint32_t run;

    if (!osc_api_find_run(c, "run", &run))
        return;
    if (!begin_stream(c->api)) {
        osc_respond_error(c, &(struct osc_api_error){.status = 429,
                                                     .code = "busy",
                                                     .message = "too many pages are open",
                                                     .what_to_do = "close some",
                                                     .retry_s = 5});
        return;
    }
    c->is_begun = true;
    c->sink->begin(c->sink->ctx, &head);
    if (strcmp(c->request->method, "HEAD") != 0)
        stream(c, run);
    pthread_mutex_lock(&c->api->lock);
    c->api->n_streams--;
    pthread_mutex_unlock(&c->api->lock);
}

const struct osc_api_endpoint osc_api_endpoint_progress = {"progress", false, answer_progress};
