/* SPDX-License-Identifier: Apache-2.0 */
#include "names/elide.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "names/apart.h"

#define ELLIPSIS   "\xe2\x80\xa6"
#define WORDS_MAX  4096u /* of a text are compared */
#define DIGITS_MAX 5u    /* of a number that is not cut */

void osc_kept_add(struct osc_kept *kept, struct osc_span at)
{
    uint32_t i = kept->n;

    if (kept->n == OSC_ELIDE_KEPT_MAX || at.from >= at.to)
        return;
    for (; i > 0 && kept->at[i - 1].from > at.from; i--)
        kept->at[i] = kept->at[i - 1];
    kept->at[i] = at;
    kept->n++;
}

static struct osc_str part(struct osc_str text, struct osc_span at)
{
    return (struct osc_str){text.s + at.from, at.to - at.from};
}

/* --- cutting ---------------------------------------------------------------------------------
 */

/* What is shown of a text. */
struct layout {
    struct osc_span shown[OSC_ELIDE_KEPT_MAX + 2];
    uint32_t n;
    size_t columns; /* with the ellipses */
};

/* Whether TEXT has an ellipsis at I; it serves as that for what is left out beside it. */
static bool has_ellipsis(struct osc_str text, uint32_t i)
{
    return i <= text.len &&
           osc_str_starts((struct osc_str){text.s + i, text.len - i}, OSC_STR(ELLIPSIS));
}

static bool ends_in_ellipsis(struct osc_str text, struct osc_span at)
{
    return at.to - at.from >= strlen(ELLIPSIS) &&
           has_ellipsis(text, at.to - (uint32_t)strlen(ELLIPSIS));
}

/* Add AT to L. A gap that is no wider than an ellipsis is shown, too. */
static void add_shown(struct layout *l, struct osc_str text, struct osc_span at)
{
    struct osc_span *const last = l->n > 0 ? &l->shown[l->n - 1] : NULL;

    if (last && at.from < last->to)
        at.from = last->to;
    if (at.from >= at.to)
        return;
    const struct osc_span gap = {last ? last->to : 0, at.from};
    const size_t between = gap.to - gap.from > 4 ? 2 : osc_utf8_columns(part(text, gap));
    if (between <= 1) {
        at.from = gap.from;
    } else {
        l->columns += !last || !ends_in_ellipsis(text, *last);
        l->columns -= has_ellipsis(text, at.from);
    }
    l->columns += osc_utf8_columns(part(text, at));
    if (last && between <= 1)
        last->to = at.to;
    else
        l->shown[l->n++] = at;
}

static bool is_digit(struct osc_str text, uint32_t i)
{
    return i < text.len && text.s[i] >= '0' && text.s[i] <= '9';
}

/* The number around I of TEXT; empty if there is none, or if it is so long that its start tells
 * something, too. */
static struct osc_span number_at(struct osc_str text, uint32_t i)
{
    struct osc_span at = {i, i};

    while (at.from > 0 && is_digit(text, at.from - 1) && at.to - at.from <= DIGITS_MAX)
        at.from--;
    while (is_digit(text, at.to) && at.to - at.from <= DIGITS_MAX)
        at.to++;
    return at.to - at.from <= DIGITS_MAX ? at : (struct osc_span){i, i};
}

/* Lay out TEXT with ROOM columns for its start and its end, OF_HEAD of them for the start. */
static struct layout lay_out(struct osc_str text, const struct osc_kept *kept, size_t room,
                             size_t of_head)
{
    uint32_t head = (uint32_t)osc_utf8_head(text, of_head);
    uint32_t tail = text.len - (uint32_t)osc_utf8_tail(text, room - of_head);
    struct layout l = {.n = 0};

    if (is_digit(text, head)) /* no number is cut to another one */
        head = number_at(text, head).from;
    if (tail > 0 && is_digit(text, tail - 1))
        tail = number_at(text, tail).to;
    add_shown(&l, text, (struct osc_span){0, head});
    for (uint32_t i = 0; kept && i < kept->n; i++)
        add_shown(&l, text, kept->at[i]);
    add_shown(&l, text, (struct osc_span){tail, text.len});
    if (l.n == 0 || l.shown[l.n - 1].to < text.len)
        l.columns += l.n == 0 || !ends_in_ellipsis(text, l.shown[l.n - 1]);
    return l;
}

bool osc_elide_fits(struct osc_str text, size_t width, const struct osc_kept *kept)
{
    return lay_out(text, kept, 0, 0).columns <= width;
}

/* Append an ellipsis, unless one is there. */
static void add_ellipsis(struct osc_strbuf *out, size_t start)
{
    const struct osc_str written = {out->s ? out->s + start : "", (uint32_t)(out->len - start)};

    if (!osc_str_ends(written, OSC_STR(ELLIPSIS)))
        osc_strbuf_adds(out, ELLIPSIS);
}

static void write_layout(struct osc_strbuf *out, struct osc_str text, const struct layout *l)
{
    const struct osc_str ellipsis = OSC_STR(ELLIPSIS);
    const size_t start = out->len;
    uint32_t end = 0;

    for (uint32_t i = 0; i < l->n; i++) {
        struct osc_str shown = part(text, l->shown[i]);

        if (l->shown[i].from > end) {
            add_ellipsis(out, start);
            if (osc_str_starts(shown, ellipsis))
                shown = (struct osc_str){shown.s + ellipsis.len, shown.len - ellipsis.len};
        }
        osc_strbuf_addstr(out, shown);
        end = l->shown[i].to;
    }
    if (end < text.len)
        add_ellipsis(out, start);
}

/* Make *BEST the layout of TEXT with ROOM columns for its start and its end, OF_HEAD of them
 * for the start, if that fits WIDTH. What these share with kept parts costs nothing. */
static bool try_layout(struct layout *best, struct osc_str text, const struct osc_kept *kept,
                       size_t width, size_t room, size_t of_head)
{
    const struct layout l = lay_out(text, kept, room, of_head);

    if (l.columns > width || room > 2 * width)
        return false;
    *best = l;
    return true;
}

/* Show as much of the start and the end of TEXT as WIDTH allows, besides the parts KEPT. */
static void extend(struct layout *best, struct osc_str text, const struct osc_kept *kept,
                   size_t width)
{
    size_t room = width - best->columns;

    while (try_layout(best, text, kept, width, room, (room + 1) / 2))
        room++;
    room -= room > 0;
    /* The start may have room where the end would need it for a whole number, or the end. */
    size_t of_head = (room + 1) / 2;
    for (; try_layout(best, text, kept, width, room + 1, of_head + 1); of_head++)
        room++;
    while (try_layout(best, text, kept, width, room + 1, of_head))
        room++;
}

void osc_elide(struct osc_strbuf *out, struct osc_str text, size_t width,
               const struct osc_kept *kept)
{
    if (osc_utf8_head(text, width) == text.len) {
        osc_strbuf_addstr(out, text);
        return;
    }
    const size_t all = width > 0 ? width - 1 : 0;
    struct layout best = lay_out(text, kept, 0, 0);
    if (!kept || kept->n == 0)
        best = lay_out(text, NULL, all, (all + 1) / 2);
    else if (best.columns > width) /* what differs is rather behind than in front */
        best = lay_out(text, NULL, all, all / 4);
    else
        extend(&best, text, kept, width);
    if (best.columns <= width)
        write_layout(out, text, &best);
}

/* --- words -----------------------------------------------------------------------------------
 */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c & 0x80) != 0;
}

/* The words of texts. */
struct words {
    struct osc_apart_value *at; /* owned */
    size_t n, cap;
    uint64_t seed;
};

/* Add the words of TEXT, that with INDEX, from START on. */
static osc_status add_words(struct words *w, struct osc_str text, uint32_t start,
                            uint32_t index)
{
    uint64_t place = 0;

    for (uint32_t i = start; i < text.len && place < WORDS_MAX; place++) {
        uint32_t end = i + 1;

        while (is_word(text.s[i]) && end < text.len && is_word(text.s[end]))
            end++;
        const osc_status st = osc_grow(&w->at, &w->cap, w->n + 1, sizeof *w->at);
        if (st != OSC_OK)
            return st;
        w->at[w->n++] = (struct osc_apart_value){.place = place,
                                                 .hash = osc_hash(text.s + i, end - i, w->seed),
                                                 .text = index,
                                                 .from = i,
                                                 .to = end};
        i = end;
    }
    return OSC_OK;
}

/* Length of the common start of A and B, of at most N bytes. */
static uint32_t common_start(struct osc_str a, struct osc_str b, uint32_t n)
{
    uint32_t i = 0;

    while (i < n && i < a.len && i < b.len && a.s[i] == b.s[i])
        i++;
    return i;
}

static uint32_t common_end(struct osc_str a, struct osc_str b, uint32_t n)
{
    uint32_t i = 0;

    while (i < n && i < a.len && i < b.len && a.s[a.len - 1 - i] == b.s[b.len - 1 - i])
        i++;
    return i;
}

/* Where the common start of all texts ends, at the start of a word. */
static uint32_t skip_common(const struct osc_str *texts, uint32_t n)
{
    uint32_t start = texts[0].len;

    for (uint32_t i = 1; i < n; i++)
        start = common_start(texts[0], texts[i], start);
    while (start > 0 && is_word(texts[0].s[start - 1]))
        start--;
    return start;
}

static bool has_digit(struct osc_str s)
{
    for (uint32_t i = 0; i < s.len; i++) {
        if (is_digit(s, i))
            return true;
    }
    return false;
}

/* Whether a word within a word begins at I of S: OneWord. */
static bool is_hump(struct osc_str s, uint32_t i)
{
    return i == 0 || i == s.len ||
           (s.s[i] >= 'A' && s.s[i] <= 'Z' && s.s[i - 1] >= 'a' && s.s[i - 1] <= 'z');
}

/* Narrow AT, a word of TEXT, to what is behind the first START bytes and before the last END
 * ones, and from there to words within it; at most MOST columns of it. */
static struct osc_span narrow(struct osc_str text, struct osc_span at, uint32_t start,
                              uint32_t end, size_t most)
{
    const struct osc_str word = part(text, at);
    uint32_t from = start < word.len ? start : 0;
    uint32_t to = end < word.len - from ? word.len - end : word.len;
    uint32_t left = from, right = to;

    while (from > 0 && ((unsigned char)word.s[from] & 0xc0) == 0x80)
        from--;
    while (to < word.len && ((unsigned char)word.s[to] & 0xc0) == 0x80)
        to++; /* whole characters */
    while (!is_hump(word, left))
        left--;
    while (!is_hump(word, right))
        right++;
    const struct osc_str humps = {word.s + left, right - left};
    if (osc_utf8_head(humps, most) == humps.len) {
        from = left;
        to = right;
    }
    const struct osc_str shown = {word.s + from, to - from};
    return (struct osc_span){at.from + from,
                             at.from + from + (uint32_t)osc_utf8_head(shown, most)};
}

/* Keep the words of VALUES that are NEEDED in KEPT. Of those that are longer than ROOM only
 * what differs. */
static void keep_words(const struct osc_str *texts, const struct osc_apart_value *values,
                       size_t n, const uint8_t *needed, struct osc_elide_room room,
                       struct osc_kept *kept)
{
    const struct osc_str first = {texts[values[0].text].s + values[0].from,
                                  values[0].to - values[0].from};
    uint32_t start = first.len, end = first.len;

    for (size_t i = 1; i < n; i++) {
        const struct osc_str word = {texts[values[i].text].s + values[i].from,
                                     values[i].to - values[i].from};

        start = common_start(first, word, start);
        end = common_end(first, word, end);
    }
    for (size_t i = 0; i < n; i++) {
        const struct osc_str text = texts[values[i].text];
        struct osc_span at = {values[i].from, values[i].to};
        const bool is_number = has_digit(part(text, at));

        if (osc_utf8_columns(part(text, at)) > (is_number ? room.number : room.word))
            at = narrow(text, at, start, end, room.word);
        if (needed[values[i].text])
            osc_kept_add(&kept[values[i].text], at);
    }
}

osc_status osc_elide_apart(const struct osc_str *texts, uint32_t n, struct osc_elide_room room,
                           struct osc_kept *kept)
{
    struct words w = {.seed = osc_hash_seed()};
    struct osc_apart apart = {.n = 0};
    const uint32_t start = skip_common(texts, n);
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        kept[i].n = 0;
        st = add_words(&w, texts[i], start, i);
    }
    if (st == OSC_OK)
        st = osc_apart_choose(w.at, w.n, n, n, &apart);
    for (uint32_t k = 0; k < apart.n && w.at && st == OSC_OK; k++) {
        size_t from, to;

        osc_apart_find(w.at, w.n, apart.places[k], &from, &to);
        keep_words(texts, &w.at[from], to - from, apart.needed[k], room, kept);
    }
    osc_apart_fini(&apart);
    osc_free(w.at);
    return st;
}
