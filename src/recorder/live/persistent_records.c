/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/live/persistent_records.h"

#include <string.h>
#include <sys/mman.h>

#include "recording/growing_map.h"
#include "wire/live.h"

/* Room for thousands of names; more are only in the part that recorded them. */
enum { PAGE = 4096, FILE_BYTES = 1 << 18 };

static struct osc_live_standing *get_header(const struct osc_persistent *s)
{
    return (struct osc_live_standing *)(void *)s->base;
}

osc_status osc_persistent_open(struct osc_persistent *s, int live_fd,
                               const uint64_t recording[2])
{
    struct osc_fd file;
    osc_status st;

    s->base = osc_growing_map_addresses(FILE_BYTES, PAGE);
    if (!s->base)
        return OSC_ENOMEM;
    st = osc_growing_map_create(&file, live_fd, "standing");
    if (st == OSC_OK) {
        st = osc_growing_map_reserve(&file, 0, FILE_BYTES, s->base);
        osc_fd_close(&file);
    }
    if (st != OSC_OK) {
        osc_persistent_close(s);
        return st;
    }
    *get_header(s) = (struct osc_live_standing){.magic = OSC_LIVE_MAGIC,
                                                .used_bytes = OSC_STANDING_AT,
                                                .recording = {recording[0], recording[1]}};
    return OSC_OK;
}

void osc_persistent_close(struct osc_persistent *s)
{
    if (s->base)
        (void)munmap(s->base, FILE_BYTES);
    s->base = NULL;
}

bool osc_persistent_add(struct osc_persistent *s, const struct osc_block *b,
                        struct osc_pack_range range)
{
    struct osc_live_standing *const h = get_header(s);
    struct osc_pack_segment segment;

    if (range.first_slot >= range.end_slot ||
        osc_pack_bound(range.end_slot - range.first_slot) + sizeof segment >
            FILE_BYTES - h->used_bytes)
        return false;
    unsigned char *const at = s->base + h->used_bytes;
    const size_t len = osc_pack_standing(b, range, &segment, at + sizeof segment);
    const bool is_whole = segment.n_unfinished == 0;

    if (segment.n_records == 0)
        return is_whole;
    segment.n_unfinished = 0; /* counted in the segment that contains the slots */
    memcpy(at, &segment, sizeof segment);
    h->n_records += segment.n_records;
    /* release: a reader of the live directory finds all counted bytes. */
    __atomic_store_n(&h->used_bytes, h->used_bytes + sizeof segment + len, __ATOMIC_RELEASE);
    return is_whole;
}

uint64_t osc_persistent_get(const struct osc_persistent *s, const unsigned char **segments,
                            size_t *len)
{
    const struct osc_live_standing *const h = get_header(s);

    *segments = s->base + OSC_STANDING_AT;
    *len = (size_t)h->used_bytes - OSC_STANDING_AT;
    return h->n_records;
}
