/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renderers.h - the one list of renderers.
 *
 * Threading: constants.
 */
#pragma once

#include "render/render.h"

extern const struct osc_renderer osc_render_text;
extern const struct osc_renderer osc_render_csv;
extern const struct osc_renderer osc_render_json;
extern const struct osc_renderer osc_render_jsonl;
extern const struct osc_renderer osc_render_markdown;
extern const struct osc_renderer osc_render_arrow;
