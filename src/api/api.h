/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the interface of the viewer: a request goes in, a response comes out.
 *
 * It is a client of the library, without a socket (exchange.h). All paths begin with /api/v1/
 * and are listed in endpoints.h. The page and the catalog are there while traces still load; a
 * question about a trace waits for it.
 *
 * At most four questions are at work at a time. A further one waits a little,
 * and then is told to come again (429).
 *
 * Threading: osc_api_answer() may be called by any number of threads at the same time.
 */
#pragma once

#include "api/exchange.h"
#include "api/keeper.h"

#define OSC_API_PATH "/api/v1/"

/* So many names of ranges have one answer; those of a timeline say it, too (drawn.c). */
#define OSC_API_NAMES_PER_PAGE 256u

struct osc_logdir;
struct osc_api;

struct osc_api_config {
    struct osc_keeper_config keeper;
    uint32_t first;                /* the run that requests mean if they name none */
    const struct osc_logdir *dirs; /* borrowed; the directories that were named; or NULL */
};

/* *API is NULL after a failure. Starts to load the first run. */
OSC_MUST_USE osc_status osc_api_new(struct osc_api **api, const struct osc_api_config *config);

/* Let everything that waits return, and all streams say good-bye. Requests are refused. False:
 * a file is still being read, and API must not be freed. */
OSC_MUST_USE bool osc_api_stop(struct osc_api *api);

/* Once it is stopped and no request is being answered. NULL is allowed. */
void osc_api_free(struct osc_api *api);

struct osc_keeper *osc_api_keeper(struct osc_api *api);

/* Whether TARGET, a path with a query, is answered here. */
bool osc_api_is_asked(const char *target);

/* Answer REQUEST through SINK. False: the response could not be completed. */
bool osc_api_answer(struct osc_api *api, const struct osc_api_request *request,
                    const struct osc_api_sink *sink);
