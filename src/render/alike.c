/* SPDX-License-Identifier: Apache-2.0 */
#include "render/alike.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"
#include "names/elide.h"

void osc_alike_fini(struct osc_alike *a)
{
    osc_free(a->numbers);
    osc_free(a->owners);
    osc_intern_fini(&a->rows);
    osc_intern_fini(&a->numbered);
    osc_arena_fini(&a->arena);
    osc_strbuf_fini(&a->scratch);
    *a = (struct osc_alike){0};
}

/* Find the row that shows NAME and OTHERS, and add it; *ROW: its id. *IS_NEW: no row before it
 * shows the same. */
static osc_status find_row(struct osc_alike *a, struct osc_str name, struct osc_str others,
                           osc_sid *row, bool *is_new)
{
    const uint32_t n_before = a->rows.n_entries;

    osc_strbuf_clear(&a->scratch);
    osc_strbuf_addstr(&a->scratch, others);
    osc_strbuf_addc(&a->scratch, '\n'); /* which is in no cell */
    osc_strbuf_addstr(&a->scratch, name);
    osc_status st =
        osc_grow(&a->numbers, &a->cap_numbers, (size_t)n_before + 2, sizeof *a->numbers);
    if (st == OSC_OK)
        st = a->scratch.status;
    if (st == OSC_OK)
        st = osc_intern_add(&a->rows, (struct osc_str){a->scratch.s, (uint32_t)a->scratch.len},
                            row);
    *is_new = st == OSC_OK && a->rows.n_entries > n_before;
    if (*is_new)
        a->numbers[row->v] = 1;
    return st;
}

/* Whether TEXT, a name with a number, may stand for the name ID: no other one looks so. */
static osc_status find_owner(struct osc_alike *a, const struct osc_labels *names,
                             struct osc_str text, osc_sid id, bool *is_owner)
{
    const uint32_t n_before = a->numbered.n_entries;
    osc_sid numbered;

    *is_owner = osc_intern_find(&names->used, text).v == 0;
    if (!*is_owner)
        return OSC_OK;
    osc_status st =
        osc_grow(&a->owners, &a->cap_owners, (size_t)n_before + 2, sizeof *a->owners);
    if (st == OSC_OK)
        st = osc_intern_add(&a->numbered, text, &numbered);
    if (st != OSC_OK)
        return st;
    if (a->numbered.n_entries > n_before)
        a->owners[numbered.v] = id.v;
    *is_owner = a->owners[numbered.v] == id.v;
    return OSC_OK;
}

osc_status osc_alike_name(struct osc_alike *a, const struct osc_labels *names, osc_sid id,
                          struct osc_str others, size_t width, struct osc_strbuf *out)
{
    const struct osc_str name = osc_labels_get(names, id);
    osc_sid row, numbered;
    bool is_new;

    if (!a->rows.arena) {
        a->rows = (struct osc_intern){.arena = &a->arena, .seed = osc_hash_seed()};
        a->numbered = (struct osc_intern){.arena = &a->arena, .seed = osc_hash_seed()};
    }
    osc_status st = find_row(a, name, others, &row, &is_new);
    if (st == OSC_OK && is_new) {
        osc_strbuf_addstr(out, name);
        return out->status;
    }
    while (st == OSC_OK && !is_new) {
        char number[16];
        const int len = snprintf(number, sizeof number, " #%u", ++a->numbers[row.v]);

        osc_strbuf_clear(out);
        osc_elide(out, name, width > (size_t)len ? width - (size_t)len : 0, NULL);
        osc_strbuf_adds(out, number);
        const struct osc_str text = {out->s ? out->s : "", (uint32_t)out->len};
        bool is_owner = false;
        st = out->status;
        if (st == OSC_OK)
            st = find_owner(a, names, text, id, &is_owner);
        if (st == OSC_OK && is_owner)
            st = find_row(a, text, others, &numbered, &is_new);
    }
    return st;
}
