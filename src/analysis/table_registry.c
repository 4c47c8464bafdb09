/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include <string.h>

const struct osc_table_def *const osc_tables[] = {
#define OSC_TABLE_LINE(name) &osc_table_##name,
    OSC_TABLE_LIST(OSC_TABLE_LINE)
#undef OSC_TABLE_LINE
        NULL};

const struct osc_table_def *osc_table_find(const char *name)
{
    for (size_t i = 0; osc_tables[i]; i++) {
        if (strcmp(osc_tables[i]->name, name) == 0)
            return osc_tables[i];
    }
    return NULL;
}
