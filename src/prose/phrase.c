/* SPDX-License-Identifier: Apache-2.0 */
#include "prose/phrase.h"

#include "base/percent.h"
#include "base/utf8.h"
#include "prose/units.h"
#include "prose/words.h"

/* A phrase: most are a part of one. */
struct span {
    const char *s, *end;
};

/* A slot, without its braces: its name, and the phrases to choose from. */
struct slot {
    struct span name, first, second;
    char how; /* '?', '|', or '}': the value itself */
};

/* Cut the phrase off TEXT that ends at a bar or brace of its own. */
static struct span cut(struct span *text)
{
    struct span part = *text;
    int depth = 0;

    for (part.end = part.s; part.end < text->end; part.end++) {
        if (depth == 0 && (*part.end == '|' || *part.end == '}'))
            break;
        depth += (*part.end == '{') - (*part.end == '}');
    }
    text->s = part.end;
    return part;
}

/* Cut a slot off TEXT, which begins behind its brace. False: it has no end. */
static bool cut_slot(struct span *text, struct slot *slot)
{
    *slot = (struct slot){.name = *text};
    while (text->s < text->end && *text->s != '?' && *text->s != '|' && *text->s != '}')
        text->s++;
    slot->name.end = text->s;
    slot->how = '\0';
    if (text->s < text->end)
        slot->how = *text->s;
    if (slot->how == '?' || slot->how == '|') {
        text->s++;
        slot->first = cut(text);
        if (text->s < text->end && *text->s == '|') {
            text->s++;
            slot->second = cut(text);
        }
    }
    if (text->s == text->end || *text->s != '}')
        return false;
    text->s++;
    return true;
}

/* Cut what stands before the next slot off TEXT, and its brace. */
static struct span cut_plain(struct span *text)
{
    const size_t len = (size_t)(text->end - text->s);
    const char *const brace = len > 0 ? memchr(text->s, '{', len) : NULL;
    const struct span plain = {text->s, brace ? brace : text->end};

    text->s = brace ? brace + 1 : text->end;
    return plain;
}

/* The number of the fact NAME; N: there is none. */
static unsigned find(struct span name, const struct osc_prose_def *defs, unsigned n)
{
    const struct osc_str text = {name.s, (uint32_t)(name.end - name.s)};
    unsigned k = 0;

    while (k < n && !osc_str_eq(text, osc_str_c(defs[k].name)))
        k++;
    return k;
}

static struct span whole(const char *phrase)
{
    return (struct span){phrase, phrase + strlen(phrase)};
}

static void add_value(struct osc_strbuf *out, enum osc_prose_kind kind,
                      const struct osc_prose_fact *fact)
{
    switch (kind) {
    case OSC_PROSE_FLAG:
    case OSC_PROSE_PHRASE:
        break;
    case OSC_PROSE_NS:
        osc_words_time(out, fact->n);
        break;
    case OSC_PROSE_TIME:
        osc_units_time(out, fact->real);
        break;
    case OSC_PROSE_DELTA:
        osc_strbuf_addc(out, fact->real < 0 ? '-' : '+');
        osc_units_time(out, fact->real < 0 ? -fact->real : fact->real);
        break;
    case OSC_PROSE_GROWTH:
        osc_words_growth(out, fact->base, fact->real);
        break;
    case OSC_PROSE_DECIMAL:
        osc_strbuf_addf(out, "%.4g", fact->real);
        break;
    case OSC_PROSE_BYTES:
        osc_words_bytes(out, fact->n);
        break;
    case OSC_PROSE_COUNT:
        osc_strbuf_add_count(out, (uint64_t)fact->n);
        break;
    case OSC_PROSE_INTEGER:
        osc_strbuf_addi(out, fact->n);
        break;
    case OSC_PROSE_SHARE:
        osc_percent_add(out, fact->real, 1);
        break;
    case OSC_PROSE_PERCENT:
        osc_percent_add(out, fact->real, 0);
        break;
    case OSC_PROSE_TEXT:
        osc_strbuf_addstr(out, fact->text);
        break;
    case OSC_PROSE_CLEAN:
        osc_utf8_append_terminal(out, fact->text);
        break;
    case OSC_PROSE_HEAD:
        osc_words_head(out, fact->text);
        break;
    case OSC_PROSE_NAME:
        osc_words_name(out, fact->text);
        break;
    case OSC_PROSE_QUOTED:
        osc_words_quoted(out, fact->text);
    }
}

/* Append the value of SLOT, or return the phrase that is to be said for it. */
static struct span add_slot(struct osc_strbuf *out, const struct slot *slot,
                            const struct osc_prose_facts *facts)
{
    const unsigned k = find(slot->name, facts->prose->defs, facts->prose->n);
    const bool is_phrase =
        k < facts->prose->n && facts->prose->defs[k].kind == OSC_PROSE_PHRASE;
    const bool is_there = k < facts->prose->n && (facts->v[k].is_there || is_phrase);

    if (k == facts->prose->n || (!is_there && slot->how != '?'))
        out->status = OSC_EINVAL;
    else if (is_phrase)
        return whole(facts->prose->defs[k].phrase);
    else if (slot->how == '}')
        add_value(out, facts->prose->defs[k].kind, &facts->v[k]);
    else
        return (slot->how == '?' ? is_there : facts->v[k].n == 1) ? slot->first : slot->second;
    return (struct span){0};
}

static void add(struct osc_strbuf *out, struct span text, const struct osc_prose_facts *facts)
{
    while (text.s < text.end && out->status == OSC_OK) {
        const struct span plain = cut_plain(&text);
        const bool has_slot = text.s > plain.end;
        struct slot slot;

        osc_strbuf_add(out, plain.s, (size_t)(plain.end - plain.s));
        if (!has_slot)
            return;
        if (!cut_slot(&text, &slot))
            out->status = OSC_EINVAL;
        else
            add(out, add_slot(out, &slot, facts), facts);
    }
}

void osc_phrase_add(struct osc_strbuf *out, const char *phrase,
                    const struct osc_prose_facts *facts)
{
    add(out, whole(phrase), facts);
}

void osc_prose_say(struct osc_strbuf *out, const struct osc_prose_facts *facts, unsigned fact)
{
    add(out, whole(facts->prose->defs[fact].phrase), facts);
}

/* --- checks ------------------------------------------------------------------------------- */

/* What is wrong in TEXT, of which each place is looked at, said or not; NULL: nothing. */
static const char *check(struct span text, const struct osc_prose_def *defs, unsigned n)
{
    const char *fault = NULL;

    while (text.s < text.end && !fault) {
        const struct span plain = cut_plain(&text);
        const bool has_slot = text.s > plain.end;
        struct slot slot;

        for (const char *s = plain.s; s < plain.end && !fault; s++)
            fault = *s == '}' || *s == '|' ? s : NULL; /* of no slot */
        if (fault || !has_slot)
            return fault;
        if (!cut_slot(&text, &slot))
            return plain.end;
        const unsigned k = find(slot.name, defs, n);
        if (k == n ||
            (slot.how == '|' && defs[k].kind != OSC_PROSE_COUNT &&
             defs[k].kind != OSC_PROSE_INTEGER) ||
            (slot.how == '}' && defs[k].kind == OSC_PROSE_FLAG) ||
            (slot.how == '?' && defs[k].kind == OSC_PROSE_PHRASE))
            return plain.end;
        fault = check(slot.first, defs, n);
        fault = fault ? fault : check(slot.second, defs, n);
    }
    return fault;
}

const char *osc_phrase_check(const char *phrase, const struct osc_prose *prose)
{
    return check(whole(phrase), prose->defs, prose->n);
}

const char *osc_prose_check(const struct osc_prose *prose)
{
    const char *fault = NULL;

    for (unsigned k = 0; k < prose->n && !fault; k++) {
        if (prose->defs[k].kind == OSC_PROSE_PHRASE)
            fault = check(whole(prose->defs[k].phrase), prose->defs, k);
    }
    return fault;
}
