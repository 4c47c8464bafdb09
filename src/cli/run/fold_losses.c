/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/fold_losses.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "import/osc/open_input.h"
#include "import/osc/osc_file.h"
#include "wire/write_error.h"

static int compare_ordinals(const void *pa, const void *pb)
{
    const struct osc_wire_thread *const a = pa, *const b = pb;

    return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

/* Sort the N entries at T and join those of a thread: with SUMS to the sum of the counts, else
 * to the greatest. Returns how many are left. */
static size_t unite(struct osc_wire_thread *t, size_t n, bool sums)
{
    size_t end = 0;

    if (n > 1)
        osc_sort(t, n, sizeof *t, compare_ordinals);
    for (size_t i = 0; i < n; i++) {
        struct osc_wire_thread *const last = end > 0 ? &t[end - 1] : NULL;

        if (!last || last->ordinal != t[i].ordinal) {
            t[end++] = t[i];
            continue;
        }
        for (unsigned k = 0; k < OSC_LOSS_COUNT; k++) {
            if (sums)
                last->lost[k] += t[i].lost[k];
            else if (last->lost[k] < t[i].lost[k])
                last->lost[k] = t[i].lost[k];
        }
    }
    return end;
}

/* Add the losses in chunk I of FILE; *GOES_ON: the next part reports them again. */
static osc_status add_chunk(struct osc_fold_losses *l, const struct osc_file *file, size_t i,
                            bool *goes_on)
{
    const struct osc_wire_header *const h = &file->chunks[i].header;
    unsigned char *payload = NULL;
    struct osc_wire_end end;
    size_t cap = 0;

    if (h->type != OSC_CHUNK_THREADS && h->type != OSC_CHUNK_END)
        return OSC_OK;
    osc_status st = osc_file_payload(file, i, &payload, &cap);

    if (st == OSC_OK && h->type == OSC_CHUNK_END && h->payload_bytes >= sizeof end) {
        memcpy(&end, payload, sizeof end);
        *goes_on = end.reason == OSC_END_CONTINUED;
        const bool is_harm = osc_write_error_is_harm(end.write_error);

        l->is_harmed = l->is_harmed || is_harm;
        if (end.write_error != 0 && !is_harm)
            l->write_error = end.write_error;
        for (unsigned k = 0; k < OSC_LOSS_COUNT && !*goes_on; k++)
            l->lost[k] += end.lost[k];
    } else if (st == OSC_OK && h->type == OSC_CHUNK_THREADS) {
        const size_t n = (size_t)h->payload_bytes / sizeof *l->threads;

        st = osc_grow(&l->threads, &l->cap, l->n + n, sizeof *l->threads);
        if (st == OSC_OK && n > 0)
            memcpy(l->threads + l->n, payload, n * sizeof *l->threads);
        l->n += st == OSC_OK ? n : 0;
    }
    osc_free(payload);
    return st == OSC_ENOMEM ? st : OSC_OK;
}

/* Add the losses in the part at PATH, if it has an end or IS_LAST. */
static osc_status add_part(struct osc_fold_losses *l, const char *path, bool is_last)
{
    const size_t n_before = l->n;
    struct osc_file file = {0};
    struct osc_input in;
    bool goes_on = !is_last;
    osc_status st = osc_input_open(&in, path, NULL);

    if (st == OSC_OK)
        st = osc_file_open(&file, &in, OSC_INFLATE_NONE, NULL);
    for (size_t i = 0; i < file.n_chunks && st == OSC_OK; i++)
        st = add_chunk(l, &file, i, &goes_on);
    osc_file_close(&file);
    osc_input_close(&in);
    if (goes_on) {
        l->n = n_before;
    } else if (l->n > n_before) {
        /* Within a part the counts of a thread only rise; those of windows and dumps add up. */
        l->n = n_before + unite(l->threads + n_before, l->n - n_before, false);
        l->n = unite(l->threads, l->n, true);
    }
    return st == OSC_ENOMEM ? st : OSC_OK;
}

osc_status osc_fold_losses_add(struct osc_fold_losses *l, const char *path)
{
    return add_part(l, path, false);
}

osc_status osc_fold_losses_add_last(struct osc_fold_losses *l, const char *path)
{
    return add_part(l, path, true);
}

static const uint64_t *find(const struct osc_fold_losses *l, uint64_t ordinal)
{
    size_t from = 0, end = l->n;

    while (from < end) {
        const size_t middle = from + (end - from) / 2;

        if (l->threads[middle].ordinal < ordinal)
            from = middle + 1;
        else
            end = middle;
    }
    return from < l->n && l->threads[from].ordinal == ordinal ? l->threads[from].lost : NULL;
}

void osc_fold_losses_subtract(const struct osc_fold_losses *l, uint64_t ordinal,
                              uint64_t lost[OSC_LOSS_COUNT])
{
    const uint64_t *const told = ordinal > 0 ? find(l, ordinal) : l->lost;

    for (unsigned k = 0; k < OSC_LOSS_COUNT && told; k++)
        lost[k] -= told[k] < lost[k] ? told[k] : lost[k];
}

void osc_fold_losses_fini(struct osc_fold_losses *l)
{
    osc_free(l->threads);
    *l = (struct osc_fold_losses){0};
}
