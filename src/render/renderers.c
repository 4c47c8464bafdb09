/* SPDX-License-Identifier: Apache-2.0 */
#include "render/renderers.h"

#include <string.h>

const struct osc_renderer *const osc_renderers[] = {
    &osc_render_text,
    &osc_render_csv,
    &osc_render_json,
    &osc_render_jsonl,
    &osc_render_markdown,
    &osc_render_arrow,
    NULL,
};

const struct osc_renderer *osc_renderer_find(const char *name)
{
    for (size_t i = 0; osc_renderers[i]; i++) {
        if (strcmp(osc_renderers[i]->name, name) == 0)
            return osc_renderers[i];
    }
    return NULL;
}
