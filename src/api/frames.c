/* SPDX-License-Identifier: Apache-2.0 */
#include "api/frames.h"

#include <string.h>

#include "base/mem.h"

void osc_frames_init(struct osc_frames *f)
{
    *f = (struct osc_frames){0};
    pthread_mutex_init(&f->lock, NULL); /* cannot fail on Linux */
}

/* Drop E. Under the lock. */
static void drop(struct osc_frames *f, struct osc_frames_entry *e)
{
    f->n_bytes -= e->n_bytes;
    osc_free(e->key);
    osc_frame_release(e->frame);
    *e = (struct osc_frames_entry){0};
}

void osc_frames_fini(struct osc_frames *f)
{
    for (uint32_t i = 0; i < OSC_FRAMES_MAX; i++)
        drop(f, &f->all[i]);
    pthread_mutex_destroy(&f->lock);
}

static struct osc_frames_entry *find(struct osc_frames *f, const char *key)
{
    for (uint32_t i = 0; i < OSC_FRAMES_MAX; i++)
        if (f->all[i].frame && strcmp(f->all[i].key, key) == 0)
            return &f->all[i];
    return NULL;
}

struct osc_frame *osc_frames_find(struct osc_frames *f, const char *key, uint64_t *n_all)
{
    struct osc_frame *found = NULL;

    pthread_mutex_lock(&f->lock);
    struct osc_frames_entry *const e = find(f, key);
    if (e) {
        e->used = ++f->n_uses;
        *n_all = e->n_all;
        found = osc_frame_hold(e->frame);
    }
    pthread_mutex_unlock(&f->lock);
    return found;
}

static uint64_t size_of(const struct osc_frame *frame)
{
    const uint64_t n_rows = osc_frame_rows(frame);
    uint64_t n_bytes = 0;

    for (size_t i = 0; i < osc_frame_columns(frame); i++) {
        const struct osc_frame_column col = osc_frame_column_at(frame, i);

        n_bytes += n_rows * (sizeof(int64_t) + (col.missing != NULL));
        if (col.type == OSC_TYPE_STRING)
            n_bytes += (uint64_t)col.word_offsets[col.n_words] +
                       (col.n_words + UINT64_C(1)) * sizeof *col.word_offsets;
    }
    return n_bytes;
}

/* An entry for NEED bytes: free, or of what was used least. Under the lock. */
static struct osc_frames_entry *make_room(struct osc_frames *f, uint64_t need)
{
    for (;;) {
        struct osc_frames_entry *least = NULL, *empty = NULL;

        for (uint32_t i = 0; i < OSC_FRAMES_MAX; i++) {
            struct osc_frames_entry *const e = &f->all[i];

            if (!e->frame)
                empty = e;
            else if (!least || e->used < least->used)
                least = e;
        }
        if (empty && f->n_bytes + need <= OSC_FRAMES_BYTES_MAX)
            return empty;
        if (!least)
            return NULL;
        drop(f, least);
    }
}

void osc_frames_keep(struct osc_frames *f, const char *key, struct osc_frame *frame,
                     uint64_t n_all)
{
    const uint64_t n_bytes = size_of(frame);
    const size_t len = strlen(key);
    char *copy = n_bytes <= OSC_FRAMES_BYTES_MAX / 2 ? osc_malloc(len + 1) : NULL;

    if (!copy)
        return;
    memcpy(copy, key, len + 1);
    pthread_mutex_lock(&f->lock);
    struct osc_frames_entry *const e = find(f, key) ? NULL : make_room(f, n_bytes);
    if (e) {
        *e =
            (struct osc_frames_entry){copy, osc_frame_hold(frame), n_all, n_bytes, ++f->n_uses};
        f->n_bytes += n_bytes;
        copy = NULL;
    }
    pthread_mutex_unlock(&f->lock);
    osc_free(copy);
}
