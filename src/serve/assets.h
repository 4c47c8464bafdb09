/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assets.h - the files of the page, which are part of the program.
 *
 * tools/embed.py writes the table from web/dist when the program is built. Without a built page
 * it is empty, and a plain page takes its place (plain_page.h). What becomes smaller is there
 * compressed, too, and is sent so as it is: nothing is compressed when it is asked for.
 *
 * Threading: constants.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* How a file is compressed, the smallest first. */
enum osc_coding { OSC_CODING_BR, OSC_CODING_GZIP, OSC_CODING_COUNT };

struct osc_packed_asset {
    const unsigned char *bytes; /* NULL: it is no smaller so */
    size_t n_bytes;
};

struct osc_asset {
    const char *path; /* "/app-0123.js"; of the page "/"; NULL ends the table */
    const char *type;
    const unsigned char *bytes;
    size_t n_bytes;
    bool is_kept; /* its name changes with its content */
    struct osc_packed_asset packed[OSC_CODING_COUNT];
};

extern const struct osc_asset osc_assets[];
