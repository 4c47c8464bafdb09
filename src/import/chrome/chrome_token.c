/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/chrome_parser.h"

#include <string.h>

#define REREAD_MAX ((size_t)4 << 10)

int osc_chrome_peek_line(struct osc_chrome *c, bool *newline)
{
    struct osc_text *t = &c->text;

    for (;;) {
        for (; t->p < t->end; t->p++) {
            if (!osc_text_is_blank(*t->p))
                return (unsigned char)*t->p;
            *newline |= *t->p == '\n';
        }
        if (!osc_text_more(t, t->p))
            return -1;
    }
}

int osc_chrome_peek(struct osc_chrome *c)
{
    bool newline = false;

    if (c->text.p < c->text.end && !osc_text_is_blank(*c->text.p))
        return (unsigned char)*c->text.p;
    return osc_chrome_peek_line(c, &newline);
}

/*
 * Whether a string may end with the quotation mark just before AT: the text after it is such as
 * follows a value. A bare quotation mark inside a name is followed by letters, or by a comma or
 * brace after which there is no JSON.
 */
static bool may_end_before(struct osc_text *t, size_t at)
{
    int ch = osc_text_look_past_blank(t, &at);

    if (ch == ',') {
        at++;
        ch = osc_text_look_past_blank(t, &at);
        return ch == '"' || ch == '{' || ch == '[' || ch == -1;
    }
    if (ch == '}' || ch == ']') {
        /* Perhaps the end of a document that another one follows, or a message. */
        const bool is_object = ch == '}';
        const size_t from = ++at;

        ch = osc_text_look_past_blank(t, &at);
        return ch == ',' || ch == '}' || ch == ']' || ch == -1 ||
               (is_object && (ch == '{' || ch == '[' || memchr(t->p + from, '\n', at - from)));
    }
    return ch == -1;
}

/* The position of the closing quotation mark of the longest string. */
#define QUOTE_MAX (OSC_TOKEN_MAX + 1)

/*
 * Move *AT to the next quotation mark that is not escaped. -1: the text ends first, or *AT is
 * beyond QUOTE_MAX; that depends only on the text, not on how it is cut into blocks.
 */
static int to_quote(struct osc_text *t, size_t *at, bool *escape, bool *control)
{
    int ch = -1;

    while (*at <= QUOTE_MAX && (ch = osc_text_look(t, *at)) >= 0 && ch != '"') {
        if (ch == '\\') {
            *escape = true;
            ++*at;
        } else if (ch < 0x20) {
            *control = true;
        }
        ++*at;
    }
    return *at <= QUOTE_MAX ? ch : -1;
}

/*
 * The end of the string that began at t->p, judged by the end of its line: `",` or `"` before
 * the line break. 0: the line does not end in this way.
 */
static size_t end_of_line(struct osc_text *t)
{
    size_t at = 1;
    int ch;

    while (at <= QUOTE_MAX && (ch = osc_text_look(t, at)) >= 0 && ch != '\n')
        at++;
    if (at > QUOTE_MAX)
        return 0;
    while (at > 1 && (t->p[at - 1] == ' ' || t->p[at - 1] == '\r' || t->p[at - 1] == ','))
        at--;
    return at > 2 && t->p[at - 1] == '"' ? at - 1 : 0;
}

/* Whether a comma is at AT and more text follows on the same line. */
static bool goes_on_in_line(struct osc_text *t, size_t at)
{
    int ch = osc_text_look(t, at);

    if (ch != ',')
        return false;
    do {
        ch = osc_text_look(t, ++at);
    } while ((ch == ' ' || ch == '\t' || ch == '\r') && at < OSC_TEXT_LOOK_MAX);
    return ch != '\n' && ch >= 0;
}

/* Skip the rest of a string that is too long to keep. */
static enum osc_token_status skip_long(struct osc_chrome *c)
{
    struct osc_text *t = &c->text;

    for (;;) {
        for (; t->p < t->end; t->p++) {
            if (*t->p == '"') {
                t->p++;
                return OSC_TOKEN_OK;
            }
            if (*t->p != '\\')
                continue;
            if (t->p + 1 == t->end)
                break; /* the escaped byte is not there yet */
            t->p++;
        }
        if (!osc_text_more(t, t->p))
            return OSC_TOKEN_END;
    }
}

/* Handle a string without an end in reach: AT bytes after t->p the text ended or the string
 * grew too long. */
static enum osc_token_status string_without_end(struct osc_chrome *c, size_t at,
                                                struct osc_chrome_string *out)
{
    struct osc_text *t = &c->text;

    if (at <= QUOTE_MAX)
        return OSC_TOKEN_END;
    osc_findings_add(c->findings, OSC_FINDING_too_long, osc_text_offset(t, t->p), OSC_NO_TIME);
    osc_strbuf_clear(&c->long_text);
    osc_strbuf_add(&c->long_text, t->p + 1, OSC_TOKEN_MAX);
    if (c->long_text.status != OSC_OK) {
        c->builder->status = c->long_text.status;
        return OSC_TOKEN_BAD;
    }
    out->s = c->long_text.s;
    out->len = c->long_text.len;
    out->is_cut = true;
    /* Search its end from the last escape on, which may be cut in two. */
    t->p += at <= (size_t)(t->end - t->p) ? at : at - 2;
    return skip_long(c);
}

/*
 * The token at t->p is malformed AT bytes further on. The bytes between may contain good events
 * and are read again, but only if they are few: in a text of nothing but such tokens the time
 * would grow with the square of its length.
 */
static enum osc_token_status bad_at(struct osc_text *t, size_t at)
{
    if (at > REREAD_MAX)
        t->p += at;
    return OSC_TOKEN_BAD;
}

enum osc_token_status osc_chrome_key(struct osc_chrome *c, struct osc_chrome_string *out)
{
    struct osc_text *t = &c->text;
    bool control = false;
    size_t at = 1;

    *out = (struct osc_chrome_string){0};
    if (to_quote(t, &at, &out->has_escape, &control) < 0)
        return at > QUOTE_MAX ? OSC_TOKEN_BAD : OSC_TOKEN_END;
    out->s = t->p + 1;
    out->len = at - 1;
    t->p += at + 1;
    return OSC_TOKEN_OK;
}

enum osc_token_status osc_chrome_string(struct osc_chrome *c, bool in_line,
                                        struct osc_chrome_string *out)
{
    struct osc_text *t = &c->text;
    bool control = false;
    size_t at = 1;

    *out = (struct osc_chrome_string){0};
    if (to_quote(t, &at, &out->has_escape, &control) < 0)
        return string_without_end(c, at, out);
    /* Does another member follow on a line that should have only one? */
    const bool is_doubtful = in_line && goes_on_in_line(t, at + 1);
    if (is_doubtful || !may_end_before(t, at + 1)) {
        const size_t line_end = in_line ? end_of_line(t) : 0;

        out->is_repaired = line_end > at;
        if (line_end >= at && line_end > 0) {
            at = line_end;
        } else {
            const size_t first = at;
            bool broken = control; /* a bare quotation mark does not span lines */
            while (!may_end_before(t, at + 1)) {
                if (broken)
                    return bad_at(t, at);
                at++;
                if (to_quote(t, &at, &out->has_escape, &broken) < 0)
                    return string_without_end(c, at, out);
            }
            if (broken && at > first)
                return bad_at(t, at);
            out->is_repaired |= at > first;
        }
    }
    out->s = t->p + 1;
    out->len = at - 1;
    out->is_repaired |= control;
    out->is_doubtful = is_doubtful;
    t->p += at + 1;
    return OSC_TOKEN_OK;
}

/* A list or object that is being skipped. */
struct nesting {
    uint64_t *is_brace; /* borrowed; a bit for each open level: an object, not a list */
    uint64_t depth, most;
    bool in_string;
};

/* The effect of a byte on it. */
enum nesting_step {
    NESTING_GOES_ON,
    NESTING_ENDS,
    NESTING_NEEDS_MORE, /* the escaped byte is not there yet */
    NESTING_IS_BROKEN,
    NESTING_OPENS, /* an object within it begins */
};

static enum nesting_step open_level(struct nesting *n, char ch)
{
    if (n->depth < OSC_NESTING_MAX) {
        uint64_t *word = &n->is_brace[n->depth / 64];
        const uint64_t bit = UINT64_C(1) << n->depth % 64;

        *word = ch == '{' ? *word | bit : *word & ~bit;
    }
    n->depth++;
    n->most = n->depth > n->most ? n->depth : n->most;
    return ch == '{' && n->depth > 1 ? NESTING_OPENS : NESTING_GOES_ON;
}

static enum nesting_step close_level(struct nesting *n, char ch)
{
    n->depth--;
    /* Deeper levels are only counted, because such a value is left out. */
    if (n->depth < OSC_NESTING_MAX &&
        (n->is_brace[n->depth / 64] >> n->depth % 64 & 1) != (ch == '}'))
        return NESTING_IS_BROKEN;
    return n->depth == 0 ? NESTING_ENDS : NESTING_GOES_ON;
}

/* Handle the byte at *Q, which is before END. *Q moves over an escape. */
static enum nesting_step nesting_step(struct nesting *n, char **q, const char *end)
{
    const char ch = **q;

    if (n->in_string) {
        if (ch == '\n')
            return NESTING_IS_BROKEN; /* there was a bare quotation mark */
        if (ch == '\\' && *q + 1 == end)
            return NESTING_NEEDS_MORE;
        *q += ch == '\\';
        n->in_string = ch != '"';
        return NESTING_GOES_ON;
    }
    n->in_string = ch == '"';
    if (ch == '[' || ch == '{')
        return open_level(n, ch);
    return ch == ']' || ch == '}' ? close_level(n, ch) : NESTING_GOES_ON;
}

/*
 * Whether the object AT bytes behind p is an event: its first member is a phase, as Kineto
 * writes them. No argument is such an object.
 */
static bool is_event_at(struct osc_text *t, size_t at)
{
    static const char member[] = "\"ph\"";

    at++;
    if (osc_text_look_past_blank(t, &at) != '"' ||
        osc_text_look(t, at + sizeof member - 2) != '"' ||
        memcmp(t->p + at, member, sizeof member - 1) != 0)
        return false;
    at += sizeof member - 1;
    if (osc_text_look_past_blank(t, &at) != ':')
        return false;
    at++;
    return osc_text_look_past_blank(t, &at) == '"' && osc_text_look(t, at + 2) == '"';
}

enum osc_token_status osc_chrome_nested(struct osc_chrome *c, bool of_event,
                                        struct osc_str *out)
{
    struct osc_text *t = &c->text;
    struct nesting n = {.is_brace = c->is_brace};
    const uint64_t offset = osc_text_offset(t, t->p);
    bool is_long = false;
    char *keep = t->p, *q = t->p;

    for (;;) {
        enum nesting_step step = NESTING_GOES_ON;
        while (q < t->end && (step = nesting_step(&n, &q, t->end)) == NESTING_GOES_ON)
            q++;
        if (step == NESTING_OPENS) {
            const size_t at = (size_t)(q - t->p);

            if (of_event && osc_text_offset(t, q) - offset <= OSC_TOKEN_MAX &&
                is_event_at(t, at)) {
                t->p += at;
                return OSC_TOKEN_NEXT;
            }
            q = t->p + at + 1; /* is_event_at() may have moved the window */
            keep = t->p;
            continue;
        }
        if (step == NESTING_IS_BROKEN)
            return bad_at(t, (size_t)(q - t->p));
        if (step == NESTING_ENDS) {
            is_long |= (size_t)(q + 1 - keep) > OSC_TOKEN_MAX;
            *out = (struct osc_str){keep, (uint32_t)(q + 1 - keep)};
            t->p = q + 1;
            if (is_long)
                return OSC_TOKEN_LONG;
            return n.most > OSC_NESTING_MAX ? OSC_TOKEN_DEEP : OSC_TOKEN_OK;
        }
        if ((size_t)(q - keep) > OSC_TOKEN_MAX || is_long) {
            is_long = true; /* discard what was read and only find the end */
            keep = t->p = q;
        }
        char *moved = osc_text_more(t, keep);
        if (!moved)
            return OSC_TOKEN_END;
        q = moved + (q - keep);
        keep = moved;
    }
}

enum osc_token_status osc_chrome_bare(struct osc_chrome *c, struct osc_str *out)
{
    struct osc_text *t = &c->text;
    size_t at = 0;
    int ch;

    while ((ch = osc_text_look(t, at)) >= 0 && !osc_text_is_blank(ch) && ch != ',' &&
           ch != '}' && ch != ']' && ch != ':' && ch != '"' && ch != '{' && ch != '[') {
        if (++at > OSC_TOKEN_MAX)
            return OSC_TOKEN_BAD;
    }
    if (ch < 0)
        return OSC_TOKEN_END;
    if (at == 0)
        return OSC_TOKEN_BAD;
    *out = (struct osc_str){t->p, (uint32_t)at};
    t->p += at;
    return OSC_TOKEN_OK;
}

struct osc_str osc_chrome_text(struct osc_chrome *c, const struct osc_chrome_string *s)
{
    if (!s->has_escape)
        return (struct osc_str){s->s, (uint32_t)s->len};
    osc_strbuf_clear(&c->scratch);
    const unsigned flaws = osc_json_unescape(s->s, s->s + s->len, &c->scratch);
    if (c->scratch.status != OSC_OK)
        c->builder->status = c->scratch.status;
    if (flaws & OSC_JSON_SURROGATE)
        osc_findings_add(c->findings, OSC_FINDING_not_utf8, osc_text_offset(&c->text, s->s),
                         OSC_NO_TIME);
    if (flaws & OSC_JSON_ESCAPE)
        osc_findings_add(c->findings, OSC_FINDING_repaired_name,
                         osc_text_offset(&c->text, s->s), OSC_NO_TIME);
    return (struct osc_str){c->scratch.s ? c->scratch.s : "", (uint32_t)c->scratch.len};
}

osc_sid osc_chrome_intern(struct osc_chrome *c, const struct osc_chrome_string *s)
{
    const struct osc_str text = osc_chrome_text(c, s);

    if (s->is_repaired)
        osc_findings_add(c->findings, OSC_FINDING_repaired_name,
                         osc_text_offset(&c->text, s->s), OSC_NO_TIME);
    return osc_build_string(c->builder, text.s, text.len);
}
