/* SPDX-License-Identifier: Apache-2.0 */
#include "names/labels.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "names/demangle.h"
#include "names/told.h"

#define ROUNDS_MAX 12 /* in which names are told apart */
#define LEAST_MAIN 12 /* columns of the last word of a name, beside what tells it apart */
#define LATE_MAX   6  /* names that are compared with each other if one comes late */

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

/* What a label is cut from: the folded name, that and the demangled one, and the name as it is,
 * too. */
enum form { FORM_FOLDED, FORM_DEMANGLED, FORM_WHOLE };

/* A label to compose: of a set of names that are compared with each other. */
struct draft {
    uint32_t id;
    enum form form;
    bool is_cut;          /* without regard to other names */
    uint64_t hash;        /* of text, or of its start if it is cut */
    struct osc_str all;   /* what text is cut from */
    struct osc_kept kept; /* parts of it that stay, the newest last */
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

    osc_utf8_append_name(&b, name);
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

/* Append what D shows in WIDTH columns. If there is no room for all parts that stay, the oldest
 * are cut, too. */
static void cut(struct osc_strbuf *out, const struct draft *d, size_t width)
{
    struct osc_kept kept = {.n = 0};

    for (uint32_t first = 0; first <= d->kept.n; first++) {
        kept.n = 0;
        for (uint32_t i = first; i < d->kept.n; i++)
            osc_kept_add(&kept, d->kept.at[i]);
        if (osc_elide_fits(d->all, width, &kept))
            break;
    }
    osc_elide(out, d->all, width, &kept);
}

/* Write the form of LABEL, a symbol, of which D is made: the longest that fits WIDTH, else the
 * shortest. */
static osc_status write_form(struct osc_labels *l, const struct osc_label *label, size_t width,
                             struct draft *d)
{
    struct osc_strbuf b = {0};
    struct osc_span main;

    for (uint32_t level = 0, last = 0; level <= last; level++) {
        osc_strbuf_clear(&b);
        last = osc_told_write(&b, &label->symbol, &label->told, level, &d->kept, &main);
        if (b.status != OSC_OK ||
            osc_utf8_head((struct osc_str){b.s ? b.s : "", (uint32_t)b.len}, width) == b.len)
            break;
    }
    const osc_status st = keep(l, &b, &d->all);
    osc_strbuf_fini(&b);
    if (st != OSC_OK)
        return st;
    const bool wraps = main.from == main.to;
    if (wraps && d->kept.n > 0) { /* the start of what it wraps */
        const struct osc_span at = d->kept.at[0];
        const struct osc_str wrapped = {d->all.s + at.from, at.to - at.from};

        main =
            (struct osc_span){at.from, at.from + (uint32_t)osc_utf8_head(wrapped, width / 3)};
    }
    const struct osc_str word = {d->all.s + main.from, main.to - main.from};
    if (osc_utf8_head(word, width / 6 * 5) < word.len)
        main.to = main.from;
    /* What tells it apart must leave some room for its last word. */
    const size_t most = wraps ? 0 : main.to - main.from;
    const size_t least = most < LEAST_MAIN ? most : LEAST_MAIN;
    if (!osc_elide_fits(d->all, width > least ? width - least : 0, &d->kept))
        d->kept.n = 0;
    d->is_cut = d->kept.n == 0;
    if (main.from < main.to) { /* of all parts it is the first that is cut */
        memmove(&d->kept.at[1], d->kept.at, (sizeof d->kept.at) - sizeof *d->kept.at);
        d->kept.at[0] = main;
        d->kept.n += d->kept.n < OSC_ELIDE_KEPT_MAX;
    }
    return OSC_OK;
}

/* TEXT, which is of no symbol, without as many of its scopes (aten::) as it takes for WIDTH. */
static struct osc_str without_scopes(struct osc_str text, size_t width)
{
    while (osc_utf8_head(text, width) < text.len) {
        uint32_t i = 0;

        while (i < text.len && (isalnum((unsigned char)text.s[i]) || text.s[i] == '_'))
            i++;
        if (i == 0 || i + 2 >= text.len || memcmp(text.s + i, "::", 2) != 0)
            break;
        text = (struct osc_str){text.s + i + 2, text.len - i - 2};
    }
    return text;
}

/* Write D for the width of its label, without regard to other names but for those that it is
 * told from. */
static osc_status write_draft(struct osc_labels *l, struct draft *d)
{
    const struct osc_label *const label = &l->at[d->id];
    const size_t width = width_of(l, label);
    struct osc_strbuf b = {0};
    osc_status st = OSC_OK;

    d->all = label->text;
    d->is_cut = true;
    if (label->symbol.match)
        st = write_form(l, label, width, d);
    else
        d->all = without_scopes(d->all, width);
    d->is_cut &= osc_utf8_head(d->all, width) < d->all.len;
    if (st == OSC_OK) {
        cut(&b, d, width);
        st = keep(l, &b, &d->text);
    }
    osc_strbuf_fini(&b);
    return st;
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

/* Show more of the name of D than its parts. False: all is shown. */
static bool show_more(struct osc_labels *l, struct draft *d, osc_status *st)
{
    const struct osc_label *const label = &l->at[d->id];
    struct osc_strbuf b = {0};
    struct osc_str more = OSC_STR("");

    while (more.len == 0 && d->form < FORM_WHOLE) {
        d->form++;
        if (d->form == FORM_DEMANGLED && !osc_str_eq(d->all, label->text))
            more = label->text;
        else if (d->form == FORM_WHOLE && label->text.s != label->whole.s)
            more = label->whole;
    }
    if (more.len == 0)
        return false;
    osc_strbuf_addstr(&b, d->all);
    osc_strbuf_addc(&b, ' ');
    osc_strbuf_addstr(&b, more);
    *st = keep(l, &b, &d->all);
    osc_strbuf_fini(&b);
    return true;
}

/* Find the parts KEPT in which the N drafts, whose texts are at TEXTS, differ: whole words if
 * there is room for them. */
static osc_status find_differences(const struct osc_labels *l, const struct draft *drafts,
                                   const struct osc_str *texts, uint32_t n,
                                   struct osc_kept *kept)
{
    size_t width = SIZE_MAX;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < n; i++) {
        const size_t its = width_of(l, &l->at[drafts[i].id]);

        width = its < width ? its : width;
    }
    const struct osc_elide_room rooms[] = {
        {.word = width / 3 * 2, .number = width / 3 * 2},
        {.word = width / 4, .number = width / 2},
        {.word = width / 8 + 1, .number = width / 8 + 1},
    };
    for (size_t r = 0; r < sizeof rooms / sizeof *rooms && st == OSC_OK; r++) {
        bool fit = true;

        st = osc_elide_apart(texts, n, rooms[r], kept);
        for (uint32_t i = 0; i < n && fit; i++)
            fit = osc_elide_fits(texts[i], width, &kept[i]);
        if (fit)
            break;
    }
    return st;
}

/* Add AT behind all of KEPT; if there is no room, instead of the oldest. */
static void add_newest(struct osc_kept *kept, struct osc_span at)
{
    uint32_t i = 0;

    while (i < kept->n && (kept->at[i].from != at.from || kept->at[i].to != at.to))
        i++;
    if (i == kept->n && kept->n == OSC_ELIDE_KEPT_MAX)
        i = 0;
    if (i < kept->n)
        memmove(&kept->at[i], &kept->at[i + 1], (--kept->n - i) * sizeof *kept->at);
    kept->at[kept->n++] = at;
}

/* Let the N drafts, whose texts are at TEXTS, keep what differs. */
static osc_status keep_differences(struct osc_labels *l, struct draft *drafts,
                                   const struct osc_str *texts, uint32_t n)
{
    struct osc_kept *const kept = osc_calloc(n, sizeof *kept);
    struct osc_strbuf b = {0};
    osc_status st = kept ? find_differences(l, drafts, texts, n, kept) : OSC_ENOMEM;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        struct draft *const d = &drafts[i];

        for (uint32_t k = 0; k < kept[i].n; k++)
            add_newest(&d->kept, kept[i].at[k]);
        cut(&b, d, width_of(l, &l->at[d->id]));
        st = keep(l, &b, &d->text);
    }
    osc_strbuf_fini(&b);
    osc_free(kept);
    return st;
}

/* Write the N drafts, which look the same or begin alike, so that they differ. *CHANGED: there
 * may be other groups then. */
static osc_status part(struct osc_labels *l, struct draft *drafts, uint32_t n, bool *changed)
{
    struct osc_str *const texts = osc_calloc(n, sizeof *texts);
    osc_status st = texts ? OSC_OK : OSC_ENOMEM;
    bool differ = false, is_more = false;

    for (uint32_t i = 1; i < n; i++)
        differ |= !osc_str_eq(drafts[i].all, drafts[0].all);
    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        if (!differ)
            is_more |= show_more(l, &drafts[i], &st);
        texts[i] = drafts[i].all;
        drafts[i].is_cut = false;
    }
    if (st == OSC_OK && (differ || is_more)) {
        *changed = true;
        st = keep_differences(l, drafts, texts, n);
    }
    osc_free(texts);
    return st;
}

/* Write the N drafts, in any order of them. Those that look the same, or that begin alike and
 * are cut, are told apart, again and again as long as there are any. */
static osc_status draft(struct osc_labels *l, struct draft *drafts, uint32_t n)
{
    osc_status st = OSC_OK;
    bool changed = true;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++)
        st = write_draft(l, &drafts[i]);
    for (unsigned round = 0; round < ROUNDS_MAX && changed && st == OSC_OK; round++) {
        changed = false;
        sort_by_text(l, drafts, n);
        for (uint32_t from = 0, to; from < n && st == OSC_OK; from = to) {
            to = end_of_equal(drafts, n, from);
            changed |= drafts[from].is_cut; /* their whole texts are not compared yet */
            drafts[from].is_cut = false;
            if (to - from > 1)
                st = part(l, &drafts[from], to - from, &changed);
        }
    }
    return st;
}

/* --- labels ----------------------------------------------------------------------------------
 */

/* Find a number for the label ID, which D has, too, that makes another label: in B. */
static osc_status number(struct osc_labels *l, struct osc_strbuf *b, const struct draft *d,
                         osc_sid id)
{
    const size_t width = width_of(l, &l->at[d->id]);
    char tail[16];

    for (;;) {
        const int len = snprintf(tail, sizeof tail, " #%u", ++l->uses[id.v].number);

        osc_strbuf_clear(b);
        cut(b, d, width > (size_t)len ? width - (size_t)len : 0);
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
        st = number(l, &b, d, id);
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
    /* Compare it with the names that have the label that it would get. */
    struct draft drafts[LATE_MAX] = {{.id = id->v}};
    uint32_t n = 1, own = 0;
    for (osc_sid same = {1}; st == OSC_OK && same.v > 0 && n <= LATE_MAX; n++) {
        for (uint32_t i = 0; i < n; i++)
            drafts[i] = (struct draft){.id = drafts[i].id};
        st = tell(l, drafts, n);
        if (st == OSC_OK)
            st = draft(l, drafts, n);
        for (own = 0; drafts[own].id != id->v; own++)
            ;
        same = osc_intern_find(&l->used, drafts[own].text);
        if (same.v > 0 && n < LATE_MAX)
            drafts[n].id = l->uses[same.v].owner;
    }
    return st == OSC_OK ? set_label(l, &drafts[own]) : st;
}

struct osc_str osc_labels_get(const struct osc_labels *l, osc_sid id)
{
    return id.v == 0 ? OSC_STR("") : l->at[id.v].shown;
}
