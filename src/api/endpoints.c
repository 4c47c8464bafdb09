/* SPDX-License-Identifier: Apache-2.0 */
#include "api/endpoints.h"

#include <string.h>
#include <time.h>

#include "ask/set.h"
#include "base/clock.h"
#include "table/nearest.h"

#define SECOND_NS INT64_C(1000000000)

/* So long a question waits for others to end. */
#define QUEUE_NS (2 * SECOND_NS)

const struct osc_api_endpoint *const osc_api_endpoints[] = {
#define ENDPOINT_LINE(name) &osc_api_endpoint_##name,
    OSC_API_ENDPOINT_LIST(ENDPOINT_LINE)
#undef ENDPOINT_LINE
        NULL};

bool osc_api_find_run(struct osc_api_call *c, const char *name, uint32_t *run)
{
    const char *const wanted = osc_url_get(&c->url, name);
    struct osc_nearest near = {.word = wanted};
    struct osc_strbuf text = {0};

    *run = c->api->first;
    for (uint32_t i = 0; i < osc_keeper_n(c->api->keeper) && wanted; i++) {
        const char *const known = osc_keeper_run_at(c->api->keeper, i)->name;

        *run = i;
        if (strcmp(known, wanted) == 0)
            return true;
        osc_nearest_try(&near, known);
    }
    if (!wanted)
        return true;
    osc_strbuf_addf(&text, "no run is called '%s'", wanted);
    if (near.best)
        osc_strbuf_addf(&text, "; did you mean '%s'?", near.best);
    osc_respond_error(
        c, &(struct osc_api_error){.status = 404,
                                   .code = "unknown_run",
                                   .message = text.s ? text.s : "no run is called so",
                                   .what_to_do = "choose one of the runs that session lists"});
    osc_strbuf_fini(&text);
    return false;
}

struct waiting {
    struct osc_api_call *call;
};

static bool is_over(void *ctx)
{
    const struct waiting *const w = ctx;
    const struct osc_api_sink *const sink = w->call->sink;

    return sink->is_gone(sink->ctx);
}

bool osc_api_take_base(struct osc_api_call *c, uint32_t run, struct osc_set **set,
                       struct osc_keeping *kept)
{
    struct waiting w = {c};
    const struct osc_keeper_wait wait = {is_over, &w};
    struct osc_err err = {0};
    const osc_status st = osc_keeper_take(c->api->keeper, run, &wait, set, kept, &err);

    if (st == OSC_OK)
        return true;
    osc_respond_error(c, &(struct osc_api_error){
                             .status = st == OSC_ECANCELED ? 503 : 500,
                             .code = st == OSC_ECANCELED ? "loading" : "not_loaded",
                             .message = err.message[0] ? err.message : osc_status_text(st),
                             .what_to_do = st == OSC_ECANCELED
                                               ? "come again; progress says how far it is"
                                               : "see what 'opscope info' says about the "
                                                 "files",
                             .retry_s = st == OSC_ECANCELED ? 1 : 0});
    return false;
}

void osc_api_refuse_changed(struct osc_api_call *c)
{
    osc_respond_error(c, &(struct osc_api_error){
                             .status = 409,
                             .code = "changed",
                             .message = "the files of the run have changed",
                             .what_to_do = "ask again with the fingerprint that session has"});
}

bool osc_api_take(struct osc_api_call *c, uint32_t run, struct osc_set **set,
                  struct osc_keeping *kept)
{
    const char *const known = osc_url_get(&c->url, "fp");

    *set = NULL;
    if (!osc_api_take_base(c, run, set, kept))
        return false;
    if (!known || strcmp(known, kept->fingerprint) == 0)
        return true;
    osc_set_release(*set);
    *set = NULL;
    osc_api_refuse_changed(c);
    return false;
}

bool osc_api_begin_work(struct osc_api_call *c)
{
    struct osc_api *const api = c->api;
    const int64_t until_ns = osc_clock_now_ns() + QUEUE_NS;
    const struct timespec until = {.tv_sec = until_ns / SECOND_NS,
                                   .tv_nsec = until_ns % SECOND_NS};

    pthread_mutex_lock(&api->lock);
    while (api->n_questions >= OSC_API_QUESTIONS_MAX && !api->is_stopping &&
           osc_clock_now_ns() < until_ns)
        (void)pthread_cond_timedwait(&api->freed, &api->lock, &until);
    const bool is_free = api->n_questions < OSC_API_QUESTIONS_MAX && !api->is_stopping;
    api->n_questions += is_free;
    pthread_mutex_unlock(&api->lock);
    if (is_free && c->sink->work)
        c->sink->work(c->sink->ctx);
    if (!is_free)
        osc_respond_error(c, &(struct osc_api_error){
                                 .status = 429,
                                 .code = "busy",
                                 .message = "other questions are at work",
                                 .what_to_do = "come again, or drop questions whose answers "
                                               "are not wanted any more",
                                 .retry_s = 1});
    return is_free;
}

void osc_api_end_work(struct osc_api_call *c)
{
    pthread_mutex_lock(&c->api->lock);
    c->api->n_questions--;
    pthread_cond_broadcast(&c->api->freed);
    pthread_mutex_unlock(&c->api->lock);
}

/* Let others have the place of C. False: too many have done so. */
static bool pause_work(struct osc_api_call *c)
{
    struct osc_api *const api = c->api;

    pthread_mutex_lock(&api->lock);
    const bool is_paused = api->n_paused < OSC_API_PAUSED_MAX;
    api->n_paused += is_paused;
    api->n_questions -= is_paused;
    pthread_cond_broadcast(&api->freed);
    pthread_mutex_unlock(&api->lock);
    return is_paused;
}

/* Wait for a place for C again. False: the client is gone; C has one place too many, and ends.
 */
static bool resume_work(struct osc_api_call *c)
{
    struct osc_api *const api = c->api;
    const struct osc_api_sink *const sink = c->sink;
    bool is_gone = sink->is_gone(sink->ctx);

    pthread_mutex_lock(&api->lock);
    while (api->n_questions >= OSC_API_QUESTIONS_MAX && !api->is_stopping && !is_gone) {
        const int64_t until_ns = osc_clock_now_ns() + SECOND_NS / 4;
        const struct timespec until = {.tv_sec = until_ns / SECOND_NS,
                                       .tv_nsec = until_ns % SECOND_NS};

        (void)pthread_cond_timedwait(&api->freed, &api->lock, &until);
        pthread_mutex_unlock(&api->lock); /* a leaf: the sink has a lock of its own */
        is_gone = sink->is_gone(sink->ctx);
        pthread_mutex_lock(&api->lock);
    }
    const bool has_place = api->n_questions < OSC_API_QUESTIONS_MAX;
    api->n_paused--;
    api->n_questions++;
    pthread_mutex_unlock(&api->lock);
    return has_place;
}

int osc_api_write(struct osc_api_call *c, const char *s, size_t len)
{
    const struct osc_api_sink *const sink = c->sink;
    const bool is_paused = sink->is_full && sink->is_full(sink->ctx, len) && pause_work(c);
    const int failed = osc_respond_write(c, s, len);

    return is_paused && !resume_work(c) ? -1 : failed;
}
