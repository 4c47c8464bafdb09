/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_plan.h - which run becomes a page, how large that may be, and who receives it.
 *
 * Threading: constants.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"
#include "base/str.h"
#include "opscope/trace.h"

/* In a notebook the page is a little longer, and Jupyter drops what a cell shows beyond
 * 3,000,000 bytes in three seconds. */
#define OSC_PAGE_BYTES 2900000u
#define OSC_PAGE_ROWS  5000u

struct osc_page {
    struct osc_set *set;      /* borrowed */
    const char *name;         /* of the run */
    const char *const *paths; /* the operands that the page names */
    size_t n_paths;
    struct osc_str options; /* with which the set was opened, as words of a question */
    /* Receives the file. */
    osc_status (*write)(void *ctx, const char *s, size_t len);
    bool (*progress)(void *ctx, uint64_t done, uint64_t total); /* false: stop */
    void *ctx;
};
