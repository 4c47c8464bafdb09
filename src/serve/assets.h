/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assets.h - the files of the page, which are part of the program.
 *
 * tools/embed.py writes the table from web/dist when the program is built. Without a built page
 * it is empty, and a plain page takes its place (plain_page.h).
 *
 * Threading: constants.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct osc_asset {
    const char *path; /* "/app-0123.js"; of the page "/"; NULL ends the table */
    const char *type;
    const unsigned char *bytes;
    size_t n_bytes;
    bool is_kept; /* its name changes with its content */
};

extern const struct osc_asset osc_assets[];
