/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_out.h - what was found in directories and is not read, and why.
 *
 * All are counted; of each reason only the first few are kept by name, so that a directory of
 * a million other files costs no memory.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fields.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "model/finding.h"

enum osc_left_why {
    OSC_LEFT_FAILED,  /* it cannot be read; the detail says why */
    OSC_LEFT_LIMIT,   /* more directories than are searched */
    OSC_LEFT_EMPTY,   /* a file without a byte */
    OSC_LEFT_BEGUN,   /* a file that ends before its first event */
    OSC_LEFT_BLANK,   /* a live directory into which nothing was recorded */
    OSC_LEFT_COPY,    /* the same trace as the detail */
    OSC_LEFT_BESIDE,  /* beside files of a log directory, and not called like them */
    OSC_LEFT_CONTENT, /* it is called like a trace, and its text is none */
    OSC_LEFT_NAME,    /* it is not called like a trace */
    OSC_LEFT_AGAIN,   /* a directory that was searched under another name */
    OSC_LEFT_KIND,    /* neither a file nor a directory */
    OSC_LEFT_WHYS
};

/* Names that are kept for each reason. */
#define OSC_LEFT_NAMES 20u

struct osc_left {
    char *path;   /* owned */
    char *detail; /* owned; or NULL */
    enum osc_left_why why;
};

/* Zeroed, nothing was left out. */
struct osc_left_out {
    struct osc_left *all; /* owned; the first OSC_LEFT_NAMES of each reason */
    size_t cap;
    uint32_t n;
    uint64_t by_why[OSC_LEFT_WHYS];
    osc_status status; /* sticky */
};

/* Add the file or directory PATH; DETAIL may be NULL. */
void osc_left_out_add(struct osc_left_out *l, enum osc_left_why why, const char *path,
                      const char *detail);

/* Add a copy of FROM; ONLY_FAILED: of what failed when it was read, which is not known from a
 * list of the directory. */
void osc_left_out_add_all(struct osc_left_out *l, const struct osc_left_out *from,
                          bool only_failed);

/* Append L to OUT, and read it back: fields.h. What is damaged makes FROM bad. */
void osc_left_out_put(const struct osc_left_out *l, struct osc_strbuf *out);
void osc_left_out_get(struct osc_left_out *l, struct osc_fields *from);

/* Add all of FROM, which is empty afterwards. */
void osc_left_out_take(struct osc_left_out *l, struct osc_left_out *from);
void osc_left_out_fini(struct osc_left_out *l);

/* Why WHY is not read: "it is empty". */
const char *osc_left_why_text(enum osc_left_why why);

/* Append to NOTES how many of those that are noted by name, namely copies, blank recordings and
 * what cannot be read, are more than the first OSC_LEFT_NAMES. */
void osc_left_out_note(const struct osc_left_out *l, struct osc_strbuf *notes);

/* Append the sentence for `quality` about all that count as CODE: how many there are, and the
 * first names. Returns their number; 0: nothing is appended. */
uint64_t osc_left_out_describe(const struct osc_left_out *l, enum osc_finding_code code,
                               struct osc_strbuf *out);
