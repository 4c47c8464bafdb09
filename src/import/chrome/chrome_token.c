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
    bool behind_string; /* a string has just ended */
    bool is_doubtful;   /* some string was followed by what cannot follow it: quotation marks
                         * are too few or too many */
};

/* The effect of a byte on it. */
enum nesting_step {
    NESTING_GOES_ON,
    NESTING_ENDS,
    NESTING_NEEDS_MORE, /* the escaped byte is not there yet */
    NESTING_IS_BROKEN,
    NESTING_DOUBTS, /* a string ends here, if it is one */
    NESTING_OPENS,  /* an object within it begins */
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
        n->behind_string = !n->in_string;
        return n->is_doubtful && !n->in_string ? NESTING_DOUBTS : NESTING_GOES_ON;
    }
    if (n->behind_string && !osc_text_is_blank(ch)) {
        n->behind_string = false;
        n->is_doubtful |= ch != ',' && ch != ':' && ch != ']' && ch != '}';
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

/* A list or object that is read. */
struct nested {
    struct nesting n;
    uint64_t offset;
    char *keep, *q; /* what is kept of it, up to q */
    bool is_long;   /* too long: only its end is looked for */
};

static enum osc_token_status end_nested(struct osc_text *t, struct nested *v,
                                        struct osc_str *out)
{
    const size_t len = (size_t)(v->q + 1 - v->keep);

    *out = (struct osc_str){v->keep, (uint32_t)len};
    t->p = v->q + 1;
    if (v->is_long || len > OSC_TOKEN_MAX)
        return OSC_TOKEN_LONG;
    return v->n.most > OSC_NESTING_MAX ? OSC_TOKEN_DEEP : OSC_TOKEN_OK;
}

/* Whether the object that begins at q is the next event; p is there then. */
static bool is_next_event(struct osc_text *t, struct nested *v)
{
    const size_t at = (size_t)(v->q - t->p);

    if (osc_text_offset(t, v->q) - v->offset <= OSC_TOKEN_MAX && is_event_at(t, at)) {
        t->p += at;
        return true;
    }
    v->keep = t->p; /* is_event_at() may have moved the window */
    v->q = t->p + at;
    return false;
}

/*
 * Whether the quotation mark at q is the first one of the next event. With one too few or too
 * many before, what lies between two events looks like the end of a string, and no bracket
 * outside of strings ends V.
 */
static bool is_behind_event(const struct nested *v)
{
    static const char gap[] = "},{";
    const char *q = v->q;

    for (size_t i = sizeof gap - 1; i-- > 0;) {
        do {
            if (q == v->keep)
                return false;
            q--;
        } while (osc_text_is_blank(*q));
        if (*q != gap[i])
            return false;
    }
    return true;
}

/* Read more text behind V. False: there is none. */
static bool read_more(struct osc_text *t, struct nested *v)
{
    if ((size_t)(v->q - v->keep) > OSC_TOKEN_MAX || v->is_long) {
        v->is_long = true; /* discard what was read */
        v->keep = t->p = v->q;
    }
    char *const moved = osc_text_more(t, v->keep);
    if (!moved)
        return false;
    v->q = moved + (v->q - v->keep);
    v->keep = moved;
    return true;
}

enum osc_token_status osc_chrome_nested(struct osc_chrome *c, bool of_event,
                                        struct osc_str *out)
{
    struct osc_text *t = &c->text;
    struct nested v = {.n = {.is_brace = c->is_brace},
                       .offset = osc_text_offset(t, t->p),
                       .keep = t->p,
                       .q = t->p};

    for (;;) {
        enum nesting_step step = NESTING_GOES_ON;
        while (v.q < t->end && (step = nesting_step(&v.n, &v.q, t->end)) == NESTING_GOES_ON)
            v.q++;
        switch (step) {
        case NESTING_OPENS:
            if (of_event && is_next_event(t, &v))
                return OSC_TOKEN_NEXT;
            v.q++;
            break;
        case NESTING_DOUBTS:
            if (of_event && is_behind_event(&v)) {
                for (t->p = v.q; *t->p != '{';)
                    t->p--;
                return OSC_TOKEN_NEXT;
            }
            v.q++;
            break;
        case NESTING_IS_BROKEN:
            return bad_at(t, (size_t)(v.q - t->p));
        case NESTING_ENDS:
            return end_nested(t, &v, out);
        case NESTING_GOES_ON:
        case NESTING_NEEDS_MORE:
            if (!read_more(t, &v))
                return OSC_TOKEN_END;
            break;
        }
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
