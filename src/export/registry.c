/* SPDX-License-Identifier: Apache-2.0 */
#include "export/registry.h"

#include <string.h>

/* Rows of a table; render/ writes them. */
const struct osc_exporter osc_export_csv = {
    .name = "csv",
    .suffixes = ".csv",
    .help = "a table, events unless --table names another",
    .is_table = true,
    .takes_many = true,
};

const struct osc_exporter *const osc_exporters[] = {
    &osc_export_json,   &osc_export_json_gz, &osc_export_osc,
    &osc_export_folded, &osc_export_csv,     NULL,
};

const struct osc_exporter *osc_exporter_find(const char *name)
{
    for (size_t i = 0; osc_exporters[i]; i++) {
        if (strcmp(osc_exporters[i]->name, name) == 0)
            return osc_exporters[i];
    }
    return NULL;
}

/* Whether PATH is longer than the LEN bytes at SUFFIX and ends with them. */
static bool ends_with(const char *path, const char *suffix, size_t len)
{
    const size_t n = strlen(path);

    return n > len && memcmp(path + n - len, suffix, len) == 0;
}

const struct osc_exporter *osc_exporter_of_path(const char *path)
{
    for (size_t i = 0; osc_exporters[i]; i++) {
        const char *p = osc_exporters[i]->suffixes;

        while (*p) {
            const size_t len = strcspn(p, " ");

            if (ends_with(path, p, len))
                return osc_exporters[i];
            p += len + (p[len] == ' ');
        }
    }
    return NULL;
}
