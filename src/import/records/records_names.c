/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_names.h"

#include <stdio.h>

#include "base/sort.h"
#include "wire/chunk.h"
#include "wire/live.h"

#define ENTRY_HEAD_BYTES 8u

osc_status osc_records_names_add(struct osc_records_names *n, uint64_t offset,
                                 const void *bytes, size_t n_bytes)
{
    osc_status st =
        osc_build_grow(&n->pieces, &n->cap_pieces, n->n_pieces + 1, sizeof *n->pieces);

    if (st != OSC_OK || n_bytes == 0)
        return st;
    if (osc_mem_room() < n_bytes)
        return OSC_ELIMIT;
    char *copy = osc_malloc(n_bytes);
    if (!copy)
        return OSC_ENOMEM;
    memcpy(copy, bytes, n_bytes);
    n->pieces[n->n_pieces++] = (struct osc_records_piece){copy, offset, n_bytes};
    return OSC_OK;
}

static int compare_pieces(const void *pa, const void *pb)
{
    const struct osc_records_piece *const a = pa, *const b = pb;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->n_bytes > b->n_bytes) - (a->n_bytes < b->n_bytes);
}

void osc_records_names_sort(struct osc_records_names *n)
{
    if (n->n_pieces > 1)
        osc_sort(n->pieces, n->n_pieces, sizeof *n->pieces, compare_pieces);
}

void osc_records_names_fini(struct osc_records_names *n)
{
    for (size_t i = 0; i < n->n_pieces; i++)
        osc_free(n->pieces[i].bytes);
    osc_free(n->pieces);
    osc_idmap_fini(&n->known);
    osc_idmap_fini(&n->categories);
    osc_idmap_fini(&n->lists);
    osc_free(n->values);
    n->values = NULL;
    n->pieces = NULL;
    n->n_pieces = n->cap_pieces = 0;
}

/* Get the entry at OFFSET of the log, and the name of its category, 0 if it has none; false: P
 * has no good one there. */
static bool entry_of(const struct osc_records_piece *p, uint64_t offset, struct osc_str *text,
                     uint32_t *category)
{
    const uint64_t at = offset - p->offset;
    uint32_t head[2];

    if (at > p->n_bytes || p->n_bytes - at < ENTRY_HEAD_BYTES)
        return false;
    memcpy(head, p->bytes + at, sizeof head);
    const uint32_t end = osc_string_end(head[0]);

    if (end == 0 || end - 1 > p->n_bytes - at - ENTRY_HEAD_BYTES)
        return false;
    *text = (struct osc_str){p->bytes + at + ENTRY_HEAD_BYTES, end - 1};
    if ((uint32_t)osc_wire_hash(text->s, text->len) != head[1])
        return false;
    *category = 0;
    if ((head[0] & OSC_STRING_IN_CATEGORY) && text->len >= sizeof *category) {
        memcpy(category, text->s, sizeof *category);
        *text = (struct osc_str){text->s + sizeof *category,
                                 text->len - (uint32_t)sizeof *category};
    }
    return true;
}

/* A name is the place of its entry in the log of names, of which the pieces in the parts may
 * overlap or be cut. */
static bool find_entry(const struct osc_records_names *n, uint32_t name, struct osc_str *text,
                       uint32_t *category)
{
    const uint64_t offset = (uint64_t)name * 8;
    size_t low = 0, high = n->n_pieces; /* pieces before HIGH begin at or before OFFSET */

    *text = (struct osc_str){"", 0};
    *category = 0;
    if (name == 0)
        return true;
    OSC_BISECT(low, high, i, n->pieces[i].offset <= offset);
    /* Pieces may overlap; the entry may be unfinished in some of them. */
    for (size_t i = high; i-- > 0;) {
        if (entry_of(&n->pieces[i], offset, text, category))
            return true;
    }
    *text = (struct osc_str){"", 0};
    *category = 0;
    return false;
}

bool osc_records_names_text(const struct osc_records_names *n, uint32_t name,
                            struct osc_str *text)
{
    uint32_t category;

    return find_entry(n, name, text, &category);
}

/* Store the category of NAME, which may be lost. */
static void store_category(struct osc_records_names *n, uint32_t name, uint32_t category)
{
    struct osc_str text;
    uint32_t *const place = osc_idmap_put(&n->categories, name);

    if (!place)
        n->builder->status = OSC_ENOMEM;
    else if (osc_records_names_text(n, category, &text))
        *place = osc_build_string(n->builder, text.s, text.len).v;
}

osc_sid osc_records_name_slowly(struct osc_records_names *n, uint32_t name)
{
    const uint32_t at = name % OSC_RECORDS_NAME_CACHE;
    struct osc_str text;
    uint32_t category;
    char lost[32];

    if (name == 0)
        return (osc_sid){0};
    uint32_t *place = osc_idmap_put(&n->known, name);
    if (!place) {
        n->builder->status = OSC_ENOMEM;
        return (osc_sid){0};
    }
    if (*place == 0) {
        if (!find_entry(n, name, &text, &category)) {
            const int len = snprintf(lost, sizeof lost, "name %u", name);
            text = (struct osc_str){lost, (uint32_t)len};
            n->n_lost++;
        }
        *place = osc_build_string(n->builder, text.s, text.len).v;
        if (category != 0)
            store_category(n, name, category);
    }
    n->cache[at].name = name;
    n->cache[at].id = *place;
    return (osc_sid){*place};
}
