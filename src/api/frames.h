/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - the answers that were asked for last, so that a page can show one in windows.
 *
 * A key says which question, about which state of which run. The memory of what is kept is
 * limited; a larger answer is not kept.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "opscope/trace.h"

#define OSC_FRAMES_MAX       16u
#define OSC_FRAMES_BYTES_MAX (UINT64_C(256) << 20)

/* Init it before it is used. */
struct osc_frames {
    pthread_mutex_t lock; /* of the rest; a leaf */
    struct osc_frames_entry {
        char *key;               /* owned */
        struct osc_frame *frame; /* held; NULL: free */
        uint64_t n_all;          /* rows of the answer, of which the frame has the first */
        uint64_t n_bytes, used;  /* the largest was used last */
    } all[OSC_FRAMES_MAX];
    uint64_t n_uses, n_bytes;
};

void osc_frames_init(struct osc_frames *f);
void osc_frames_fini(struct osc_frames *f);

/* The frame of KEY, which the caller releases; NULL: it is not kept. *N_ALL is the rows of the
 * answer, of which it has the first. */
struct osc_frame *osc_frames_find(struct osc_frames *f, const char *key, uint64_t *n_all);

/* Keep FRAME for KEY, if there is room and memory for it. */
void osc_frames_keep(struct osc_frames *f, const char *key, struct osc_frame *frame,
                     uint64_t n_all);
