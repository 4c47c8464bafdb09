/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawn.h - what the endpoints of the timeline share.
 *
 * Threading: one thread for a call.
 */
#pragma once

#include "api/endpoints.h"
#include "ask/drawing.h"

/* The timeline of the run that a call is about. */
struct osc_api_drawn {
    struct osc_set *set;
    struct osc_drawing drawing;
};

/* Wait until the run of C is loaded, and get its timeline. False: C has been answered, with an
 * error or because the client has the answer already. */
bool osc_api_draw(struct osc_api_call *c, struct osc_api_drawn *d);
void osc_api_drawn_fini(struct osc_api_drawn *d);

/* Read the pair NAME of the query of C, a whole number from LEAST to MOST. False: C has been
 * answered. */
bool osc_api_whole(struct osc_api_call *c, const char *name, int64_t least, int64_t most,
                   int64_t *value);

/* Answer C that its query is wrong, because of MESSAGE. */
void osc_api_refuse(struct osc_api_call *c, const char *message);
