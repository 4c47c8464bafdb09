/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renderers.h - the one list of renderers.
 *
 * Threading: constants.
 */
#ifndef OSC_RENDER_RENDERERS_H
#define OSC_RENDER_RENDERERS_H

#include "render/render.h"

extern const struct osc_renderer osc_render_text;
extern const struct osc_renderer osc_render_csv;
extern const struct osc_renderer osc_render_json;
extern const struct osc_renderer osc_render_markdown;

#endif
