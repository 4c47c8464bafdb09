/* SPDX-License-Identifier: Apache-2.0 */
#include "render/labels.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "render/demangle.h"
#include "render/told.h"

struct osc_label {
    struct osc_str text;      /* the name, safe for a terminal, demangled */
    struct osc_str whole;     /* the same, not demangled */
    struct osc_symbol symbol; /* its parts, if it is a symbol */
    struct osc_told told;
    struct osc_str shown;
    bool is_symbol;
};

struct osc_label_use {
    uint32_t owner;  /* id of the name that has it */
    uint32_t number; /* the last one that was appended to it for others */
};

/* A label to compose: of a set of names that are compared with each other. */
struct draft {
    uint32_t id;
    bool is_cut;   /* without regard to other names */
    uint64_t hash; /* of text, or of its start if it is cut */
    struct osc_str text;
};

void osc_labels_fini(struct osc_labels *l)
{
    for (uint32_t i = 0; l->at && i <= l->names.n_entries; i++)
        osc_symbol_fini(&l->at[i].symbol);
    osc_intern_fini(&l->names);
    osc_intern_fini(&l->used);
    osc_free(l->at);
    osc_free(l->uses);
    osc_arena_fini(&l->arena);
    *l = (struct osc_labels){0};
}

/* Move what B holds to the arena. */
static osc_status keep(struct osc_labels *l, struct osc_strbuf *b, struct osc_str *kept)
{
    osc_status st = b->status;
    const char *const copy =
        st == OSC_OK ? osc_arena_dup(&l->arena, b->s ? b->s : "", b->len) : NULL;

    *kept = copy ? (struct osc_str){copy, (uint32_t)b->len} : OSC_STR("");
    if (st == OSC_OK && !copy)
        st = OSC_ENOMEM;
    osc_strbuf_clear(b);
    return st;
}

/* Fill in the texts of LABEL, which is new. */
static osc_status prepare(struct osc_labels *l, struct osc_str name, struct osc_label *label)
{
    struct osc_strbuf b = {0};

    osc_utf8_append_terminal(&b, name);
    osc_status st = keep(l, &b, &label->whole);
    label->text = label->whole;
    if (st == OSC_OK && label->is_symbol && osc_demangle(&b, name))
        st = keep(l, &b, &label->text);
    if (st == OSC_OK && label->is_symbol)
        st = osc_symbol_scan(&label->symbol, label->text);
    osc_strbuf_fini(&b);
    return st;
}

osc_status osc_labels_add(struct osc_labels *l, struct osc_str name, bool is_symbol,
                          osc_sid *id)
{
    const uint32_t n_before = l->names.n_entries;

    if (!l->names.arena) {
        l->names = (struct osc_intern){.arena = &l->arena, .seed = osc_hash_seed()};
        l->used = (struct osc_intern){.arena = &l->arena, .seed = osc_hash_seed()};
    }
    osc_status st = osc_grow(&l->at, &l->cap, (size_t)n_before + 2, sizeof *l->at);
    if (st == OSC_OK && n_before == 0)
        l->at[0] = (struct osc_label){.text = OSC_STR("")};
    if (st == OSC_OK)
        st = osc_intern_add(&l->names, name, id);
    if (st != OSC_OK || l->names.n_entries == n_before)
        return st;
    l->at[id->v] = (struct osc_label){.is_symbol = is_symbol};
    return prepare(l, osc_intern_str(&l->names, *id), &l->at[id->v]);
}

static size_t width_of(const struct osc_labels *l, const struct osc_label *label)
{
    return label->is_symbol ? l->width_symbols : l->width;
}

/* --- drafts ----------------------------------------------------------------------------------
 */

/* Find what tells the symbols among the N drafts apart. */
static osc_status tell(struct osc_labels *l, struct draft *drafts, uint32_t n)
{
    struct osc_symbol *const symbols = osc_calloc(n, sizeof *symbols);
    struct osc_told *const told = osc_calloc(n, sizeof *told);
    osc_status st = symbols && told ? OSC_OK : OSC_ENOMEM;
    uint32_t n_symbols = 0;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        if (l->at[drafts[i].id].symbol.match)
            symbols[n_symbols++] = l->at[drafts[i].id].symbol;
    }
    if (n_symbols > 0)
        st = osc_told_find(symbols, n_symbols, &l->arena, told);
    for (uint32_t i = 0, k = 0; i < n && st == OSC_OK; i++) {
        struct osc_label *const label = &l->at[drafts[i].id];

        if (label->symbol.match)
            label->told = told[k++];
    }
    osc_free(symbols);
    osc_free(told);
    return st;
}

/* Write LABEL for the width: the longest form that fits, or a cut of the shortest one. Returns
 * whether it is a cut that keeps nothing in particular. */
static bool write_draft(struct osc_strbuf *out, const struct osc_labels *l,
                        const struct osc_label *label)
{
    const size_t width = width_of(l, label);
    struct osc_strbuf form = {0};
    struct osc_kept kept = {.n = 0};
    uint32_t last = 0, level = 0;

    if (!label->symbol.match) {
        osc_elide(out, label->text, width, NULL);
        return osc_utf8_head(label->text, width) < label->text.len;
    }
    for (;; level++) {
        osc_strbuf_clear(&form);
        last = osc_told_write(&form, &label->symbol, &label->told, level, &kept);
        const struct osc_str all = {form.s ? form.s : "", (uint32_t)form.len};
        if (form.status != OSC_OK || level >= last || osc_utf8_head(all, width) == all.len) {
            osc_elide(out, all, width, &kept);
            break;
        }
    }
    if (form.status != OSC_OK)
        out->status = form.status;
    const struct osc_str all = {form.s ? form.s : "", (uint32_t)form.len};
    const bool is_cut = kept.n == 0 && osc_utf8_head(all, width) < all.len;
    osc_strbuf_fini(&form);
    return is_cut;
}

static int compare_drafts(const void *a, const void *b)
{
    const struct draft *const x = a, *const y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int compare_ids(const void *a, const void *b)
{
    const struct draft *const x = a, *const y = b;

    return (x->id > y->id) - (x->id < y->id);
}

/* Sort DRAFTS by text, those that are cut by their start. */
static void sort_by_text(const struct osc_labels *l, struct draft *drafts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct osc_str text = drafts[i].text;
        const size_t start = width_of(l, &l->at[drafts[i].id]) / 4;
        const size_t len = drafts[i].is_cut ? osc_utf8_head(text, start) : text.len;

        drafts[i].hash = osc_hash(text.s, len, l->used.seed + drafts[i].is_cut);
    }
    osc_sort(drafts, n, sizeof *drafts, compare_drafts);
}

/* The end of the drafts with the text of that at FROM, which are sorted. */
static uint32_t end_of_equal(const struct draft *drafts, uint32_t n, uint32_t from)
{
    uint32_t to = from + 1;

    while (to < n && drafts[to].hash == drafts[from].hash)
        to++;
    return to;
}

/* What can be shown of LABEL: folded but for what tells it apart, or if FROM_WHOLE the whole
 * name, behind its demangled form if there is one. */
static void write_all(struct osc_strbuf *out, const struct osc_label *label, bool from_whole)
{
    if (!from_whole && label->symbol.match) {
        osc_told_write(out, &label->symbol, &label->told, UINT32_MAX, NULL);
        return;
    }
    if (label->text.s != label->whole.s) {
        osc_strbuf_addstr(out, label->text);
        osc_strbuf_addc(out, ' ');
    }
    osc_strbuf_addstr(out, label->whole);
}

/* Write the N drafts, which look the same, so that they differ, from all that can be shown. */
static osc_status part(struct osc_labels *l, struct draft *drafts, uint32_t n, bool from_whole)
{
    struct osc_kept *const kept = osc_calloc(n, sizeof *kept);
    struct osc_str *const texts = osc_calloc(n, sizeof *texts);
    osc_status st = kept && texts ? OSC_OK : OSC_ENOMEM;
    struct osc_strbuf b = {0};
    size_t width = SIZE_MAX;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        const struct osc_label *const label = &l->at[drafts[i].id];

        width = width_of(l, label) < width ? width_of(l, label) : width;
        write_all(&b, label, from_whole);
        st = keep(l, &b, &texts[i]);
    }
    if (st == OSC_OK)
        st = osc_elide_apart(texts, n, width, kept);
    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        osc_elide(&b, texts[i], width_of(l, &l->at[drafts[i].id]), &kept[i]);
        drafts[i].is_cut = false;
        st = keep(l, &b, &drafts[i].text);
    }
    osc_strbuf_fini(&b);
    osc_free(kept);
    osc_free(texts);
    return st;
}

/* Tell drafts apart that look the same, or that begin alike and are cut. */
static osc_status part_equal(struct osc_labels *l, struct draft *drafts, uint32_t n,
                             bool from_whole)
{
    osc_status st = OSC_OK;

    sort_by_text(l, drafts, n);
    for (uint32_t from = 0, to; from < n && st == OSC_OK; from = to) {
        to = end_of_equal(drafts, n, from);
        if (to - from > 1)
            st = part(l, &drafts[from], to - from, from_whole);
    }
    return st;
}

/* Write the N drafts, in any order of them. */
static osc_status draft(struct osc_labels *l, struct draft *drafts, uint32_t n)
{
    struct osc_strbuf b = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        drafts[i].is_cut = write_draft(&b, l, &l->at[drafts[i].id]);
        st = keep(l, &b, &drafts[i].text);
    }
    osc_strbuf_fini(&b);
    if (st == OSC_OK)
        st = part_equal(l, drafts, n, false);
    for (uint32_t i = 0; i < n; i++)
        drafts[i].is_cut = false;
    return st == OSC_OK ? part_equal(l, drafts, n, true) : st;
}

/* --- labels ----------------------------------------------------------------------------------
 */

/* Find a number for the label ID of TEXT that makes another label: in B. */
static osc_status number(struct osc_labels *l, struct osc_strbuf *b, struct osc_str text,
                         size_t width, osc_sid id)
{
    char tail[16];

    for (;;) {
        const int len = snprintf(tail, sizeof tail, " #%u", ++l->uses[id.v].number);

        osc_strbuf_clear(b);
        osc_elide(b, text, width > (size_t)len ? width - (size_t)len : 0, NULL);
        osc_strbuf_adds(b, tail);
        if (b->status != OSC_OK)
            return b->status;
        if (osc_intern_find(&l->used, (struct osc_str){b->s, (uint32_t)b->len}).v == 0)
            return OSC_OK;
    }
}

/* Make the text of D the label of its name; a number is appended to one that is used. */
static osc_status set_label(struct osc_labels *l, const struct draft *d)
{
    struct osc_label *const label = &l->at[d->id];
    struct osc_strbuf b = {0};
    struct osc_str text = d->text;
    osc_sid id = osc_intern_find(&l->used, text);
    osc_status st =
        osc_grow(&l->uses, &l->cap_uses, (size_t)l->used.n_entries + 2, sizeof *l->uses);

    if (st == OSC_OK && id.v > 0) {
        st = number(l, &b, text, width_of(l, label), id);
        text = (struct osc_str){b.s, (uint32_t)b.len};
    }
    if (st == OSC_OK)
        st = osc_intern_add(&l->used, text, &id);
    if (st == OSC_OK) {
        l->uses[id.v] = (struct osc_label_use){.owner = d->id, .number = 1};
        label->shown = osc_intern_str(&l->used, id);
    }
    osc_strbuf_fini(&b);
    return st;
}

osc_status osc_labels_compose(struct osc_labels *l, size_t width, size_t width_symbols)
{
    const uint32_t n = l->names.n_entries;
    struct draft *const drafts = osc_calloc((size_t)n + 1, sizeof *drafts);
    osc_status st = drafts ? OSC_OK : OSC_ENOMEM;

    l->width = width > 0 ? width : 1;
    l->width_symbols = width_symbols > 0 ? width_symbols : 1;
    osc_intern_fini(&l->used);
    l->used = (struct osc_intern){.arena = &l->arena, .seed = osc_hash_seed()};
    for (uint32_t i = 0; i < n && st == OSC_OK; i++)
        drafts[i] = (struct draft){.id = i + 1};
    if (st == OSC_OK && n > 0 && !l->are_told)
        st = tell(l, drafts, n);
    l->are_told = true;
    if (st == OSC_OK && n > 0)
        st = draft(l, drafts, n);
    if (st == OSC_OK && n > 0)
        osc_sort(drafts, n, sizeof *drafts, compare_ids);
    for (uint32_t i = 0; i < n && st == OSC_OK; i++)
        st = set_label(l, &drafts[i]);
    osc_free(drafts);
    return st;
}

osc_status osc_labels_add_late(struct osc_labels *l, struct osc_str name, bool is_symbol,
                               osc_sid *id)
{
    const uint32_t n_before = l->names.n_entries;
    osc_status st = osc_labels_add(l, name, is_symbol, id);

    if (st != OSC_OK || l->names.n_entries == n_before)
        return st;
    struct draft drafts[2] = {{.id = id->v}};
    st = tell(l, drafts, 1);
    if (st == OSC_OK)
        st = draft(l, drafts, 1);
    const osc_sid same = osc_intern_find(&l->used, drafts[0].text);
    if (st == OSC_OK && same.v > 0) { /* compare it with the name that has this label */
        drafts[1].id = l->uses[same.v].owner;
        st = tell(l, drafts, 2);
        if (st == OSC_OK)
            st = draft(l, drafts, 2);
    }
    return st == OSC_OK ? set_label(l, &drafts[drafts[0].id == id->v ? 0 : 1]) : st;
}

struct osc_str osc_labels_get(const struct osc_labels *l, osc_sid id)
{
    return id.v == 0 ? OSC_STR("") : l->at[id.v].shown;
}
