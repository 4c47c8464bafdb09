/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome_learn.h"

osc_status osc_chrome_layouts_new(struct osc_chrome_layouts **l, const char *kernel)
{
    (void)kernel;
    *l = NULL;
    return OSC_OK;
}

void osc_chrome_layouts_free(struct osc_chrome_layouts *l)
{
    (void)l;
}

void osc_chrome_learn(struct osc_chrome *c, uint64_t offset)
{
    (void)c;
    (void)offset;
}
