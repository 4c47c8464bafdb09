/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/endpoints.h"
#include "base/mem.h"
#include "table/nearest.h"

/* --- life ------------------------------------------------------------------------ */

osc_status osc_api_new(struct osc_api **to, const struct osc_api_config *config)
{
    struct osc_api *const api = osc_calloc(1, sizeof *api);
    pthread_condattr_t attr;

    *to = NULL;
    if (!api)
        return OSC_ENOMEM;
    osc_frames_init(&api->frames);
    pthread_mutex_init(&api->lock, NULL); /* none of these can fail on Linux */
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&api->freed, &attr);
    pthread_condattr_destroy(&attr);
    api->first = config->first;
    api->dirs = config->dirs;
    osc_status st = osc_keeper_new(&api->keeper, &config->keeper);
    if (st == OSC_OK)
        st = osc_keeper_start(api->keeper, api->first);
    if (st == OSC_OK)
        *to = api;
    else
        osc_api_free(api);
    return st;
}

bool osc_api_stop(struct osc_api *api)
{
    pthread_mutex_lock(&api->lock);
    api->is_stopping = true;
    pthread_cond_broadcast(&api->freed);
    pthread_mutex_unlock(&api->lock);
    return osc_keeper_stop(api->keeper);
}

void osc_api_free(struct osc_api *api)
{
    if (!api)
        return;
    osc_frames_fini(&api->frames);
    osc_keeper_free(api->keeper);
    pthread_cond_destroy(&api->freed);
    pthread_mutex_destroy(&api->lock);
    osc_free(api);
}

struct osc_keeper *osc_api_keeper(struct osc_api *api)
{
    return api->keeper;
}

/* --- answering ------------------------------------------------------------------- */

bool osc_api_is_asked(const char *target)
{
    const size_t len = strlen(OSC_API_PATH);

    return strncmp(target, OSC_API_PATH, len) == 0;
}

/* Answer that nothing is at PATH, which begins with OSC_API_PATH or not. */
static void no_endpoint(struct osc_api_call *c, const char *path)
{
    const bool is_here = osc_api_is_asked(path);
    const char *const word = is_here ? path + strlen(OSC_API_PATH) : path;
    char first[32];
    struct osc_nearest near = {.word = first};
    struct osc_strbuf text = {0};

    snprintf(first, sizeof first, "%.*s", (int)(strcspn(word, "/") % sizeof first), word);
    for (size_t i = 0; osc_api_endpoints[i] && is_here; i++)
        osc_nearest_try(&near, osc_api_endpoints[i]->name);
    osc_strbuf_addf(&text, "nothing is at '%s'", word);
    if (near.best)
        osc_strbuf_addf(&text, "; did you mean '%s'?", near.best);
    osc_respond_error(c,
                      &(struct osc_api_error){.status = 404,
                                              .code = "unknown_endpoint",
                                              .message = text.s ? text.s : "nothing is there",
                                              .what_to_do = "see api/v1/catalog"});
    osc_strbuf_fini(&text);
}

/* Answer C, whose path is read. */
static void answer(struct osc_api_call *c)
{
    const char *const path = c->url.path;
    const char *const word = osc_api_is_asked(path) ? path + strlen(OSC_API_PATH) : "";
    const size_t len = strcspn(word, "/");

    for (size_t i = 0; osc_api_endpoints[i]; i++) {
        const struct osc_api_endpoint *const e = osc_api_endpoints[i];

        if (strlen(e->name) != len || strncmp(e->name, word, len) != 0 ||
            (word[len] == '/') != e->has_rest)
            continue;
        c->rest = word[len] == '/' ? word + len + 1 : "";
        e->answer(c);
        return;
    }
    no_endpoint(c, path);
}

bool osc_api_answer(struct osc_api *api, const struct osc_api_request *request,
                    const struct osc_api_sink *sink)
{
    struct osc_api_call c = {.api = api, .request = request, .sink = sink, .rest = ""};
    struct osc_err err = {0};

    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
        osc_respond_error(&c, &(struct osc_api_error){.status = 405,
                                                      .code = "wrong_method",
                                                      .message = "only GET is answered",
                                                      .what_to_do = "use GET",
                                                      .allow = "GET, HEAD"});
    } else {
        const osc_status st = osc_url_read(&c.url, request->target, &err);

        if (st == OSC_OK)
            answer(&c);
        else
            osc_respond_failure(&c, st, &err, NULL);
    }
    osc_url_fini(&c.url);
    return !c.is_incomplete;
}
