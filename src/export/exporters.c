/* SPDX-License-Identifier: Apache-2.0 */
#include "export/exporters.h"

#include <string.h>

/* Rows of a table; render/ writes them. */
const struct osc_exporter osc_export_csv = {
    .name = "csv",
    .suffixes = ".csv",
    .help = "a table (default: events)",
    .is_table = true,
    .takes_many = true,
};

/* The viewer as one file; page/ writes it. */
const struct osc_exporter osc_export_html = {
    .name = "html",
    .suffixes = ".html .htm",
    .help = "a page to send: the viewer with its data in one file",
    .is_page = true,
    .takes_many = true,
};

const struct osc_exporter *const osc_exporters[] = {
    &osc_export_json,
    &osc_export_json_gz,
    &osc_export_osc,
    &osc_export_folded,
    &osc_export_csv,
    &osc_export_html,
    NULL,
};

const struct osc_exporter *osc_exporter_find(const char *name)
{
    for (size_t i = 0; osc_exporters[i]; i++) {
        if (strcmp(osc_exporters[i]->name, name) == 0)
            return osc_exporters[i];
    }
    return NULL;
}

/* Whether PATH, N bytes long, is longer than SUFFIX, LEN bytes long, and ends in it. */
static bool ends_with(const char *path, size_t n, const char *suffix, size_t len)
{
    return n > len && memcmp(path + n - len, suffix, len) == 0;
}

static const struct osc_exporter *find_suffix(const char *path, size_t n)
{
    for (size_t i = 0; osc_exporters[i]; i++) {
        const char *p = osc_exporters[i]->suffixes;

        while (*p) {
            const size_t len = strcspn(p, " ");

            if (ends_with(path, n, p, len))
                return osc_exporters[i];
            p += len + (p[len] == ' ');
        }
    }
    return NULL;
}

const struct osc_exporter *osc_exporter_of_path(const char *path)
{
    const size_t n = strlen(path), len = strlen(".gz");

    /* Only JSON is written compressed; .osc.gz must not match. */
    if (ends_with(path, n, ".gz", len)) {
        const struct osc_exporter *const plain = find_suffix(path, n - len);

        if (plain && plain != &osc_export_json)
            return NULL;
    }
    return find_suffix(path, n);
}
