/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome.h"

#include <string.h>

/* How many events between two looks at the clock and the user. */
#define EVENTS_PER_TICK 4096u

static void note_here(struct osc_chrome *c, enum osc_finding_code code)
{
    osc_findings_add(c->findings, code, osc_text_offset(&c->text, c->text.p), OSC_NO_TIME);
}

/* The byte AT bytes behind p, or -1. */
static int byte_at(struct osc_text *t, size_t at)
{
    while (at >= (size_t)(t->end - t->p))
        if (!osc_text_more(t, t->p))
            return -1;
    return (unsigned char)t->p[at];
}

static int past_blank(struct osc_text *t, size_t *at)
{
    int ch = byte_at(t, *at);

    while (ch == ' ' || ch == '\n' || ch == '\t' || ch == '\r')
        ch = byte_at(t, ++*at);
    return ch;
}

/* Whether the list of events ends with the ']' just before AT. */
static bool list_ends_before(struct osc_text *t, size_t at)
{
    static const char *const keys[] = {"traceName", "displayTimeUnit", "baseTimeNanoseconds",
                                       "distributedInfo", "deviceProperties", "schemaVersion"};
    int ch = past_blank(t, &at);

    if (ch < 0)
        return true;
    if (ch == '}') {
        at++;
        return past_blank(t, &at) < 0;
    }
    if (ch != ',')
        return false;
    at++;
    if (past_blank(t, &at) != '"')
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const size_t len = strlen(keys[i]);
        if (byte_at(t, at + len + 1) == '"' && memcmp(t->p + at + 1, keys[i], len) == 0)
            return true;
    }
    return false;
}

/*
 * Something made no sense at p: go on at the opening brace of the next event, or at
 * the end of the list. An event ends with a brace, a comma and another brace.
 */
static void find_back(struct osc_chrome *c)
{
    struct osc_text *t = &c->text;

    for (;;) {
        char *brace = memchr(t->p, '}', (size_t)(t->end - t->p));
        if (!brace) {
            t->p = t->end;
            if (!osc_text_more(t, t->p))
                return;
            continue;
        }
        t->p = brace;
        size_t at = 1;
        int ch = past_blank(t, &at);
        if (ch == ']' && list_ends_before(t, at + 1)) {
            t->p += at;
            return;
        }
        if (ch == ',') {
            at++;
            ch = past_blank(t, &at);
            if (ch == '{') {
                t->p += at;
                return;
            }
        }
        t->p++;
    }
}

static bool add_meta(struct osc_chrome *c, osc_sid key, osc_sid value, bool is_string)
{
    if (osc_grow(&c->metas, &c->cap_metas, c->n_metas + 1, sizeof *c->metas) != OSC_OK) {
        c->builder->status = OSC_ENOMEM;
        return false;
    }
    c->metas[c->n_metas++] = (struct osc_meta){key, value, is_string};
    return true;
}

/* The value of top-level member KEY. */
static enum osc_token_status read_meta(struct osc_chrome *c, osc_sid key)
{
    struct osc_chrome_string s;
    struct osc_str raw;
    enum osc_token_status st;
    const int ch = osc_chrome_peek(c);

    if (ch == '"') {
        st = osc_chrome_string(c, false, &s);
        if (st == OSC_TOKEN_OK)
            add_meta(c, key, osc_chrome_intern(c, &s), true);
        return st;
    }
    st = ch == '{' || ch == '[' ? osc_chrome_nested(c, &raw) : osc_chrome_bare(c, &raw);
    if (st == OSC_TOKEN_OK)
        add_meta(c, key, osc_build_string(c->builder, raw.s, raw.len), false);
    if (st == OSC_TOKEN_DEEP || st == OSC_TOKEN_LONG) {
        note_here(c, st == OSC_TOKEN_DEEP ? OSC_FINDING_too_deep : OSC_FINDING_too_long);
        st = OSC_TOKEN_OK;
    }
    return st;
}

/* One member of the top-level object, its key's quotation mark at p. */
static enum osc_token_status read_top_member(struct osc_chrome *c, enum osc_chrome_state *state)
{
    struct osc_chrome_string key;
    const enum osc_token_status st = osc_chrome_key(c, &key);

    if (st != OSC_TOKEN_OK)
        return st;
    const bool is_events = key.len == 11 && memcmp(key.s, "traceEvents", 11) == 0;
    const osc_sid id = osc_chrome_intern(c, &key);
    int ch = osc_chrome_peek(c);
    if (ch != ':')
        return ch < 0 ? OSC_TOKEN_END : OSC_TOKEN_BAD;
    c->text.p++;
    ch = osc_chrome_peek(c);
    if (ch < 0)
        return OSC_TOKEN_END;
    if (is_events && ch == '[') {
        c->text.p++;
        *state = OSC_CHROME_EVENTS;
        return OSC_TOKEN_OK;
    }
    if (is_events)
        note_here(c, OSC_FINDING_wrong_type);
    return read_meta(c, id);
}

static void run_top(struct osc_chrome *c, enum osc_chrome_state *state)
{
    const int ch = osc_chrome_peek(c);
    enum osc_token_status st = OSC_TOKEN_BAD;

    if (ch == ',') {
        c->text.p++;
        return;
    }
    if (ch == '}') {
        c->text.p++;
        *state = OSC_CHROME_END;
        if (osc_chrome_peek(c) >= 0)
            note_here(c, OSC_FINDING_corrupt);
        return;
    }
    if (ch == '"')
        st = read_top_member(c, state);
    if (ch < 0 || st == OSC_TOKEN_END) {
        note_here(c, OSC_FINDING_truncated);
        *state = OSC_CHROME_END;
    } else if (st == OSC_TOKEN_BAD) {
        /* Go on at the next thing that looks like a key. */
        note_here(c, OSC_FINDING_corrupt);
        int next = osc_chrome_peek(c);
        if (next == '"')
            c->text.p++, next = osc_chrome_peek(c);
        while (next >= 0 && next != '"' && next != '}') {
            c->text.p++;
            next = osc_chrome_peek(c);
        }
    }
}

/* A member of the list of events that is no object. */
static enum osc_token_status skip_stranger(struct osc_chrome *c, int ch)
{
    struct osc_chrome_string s;
    struct osc_str raw;
    enum osc_token_status st;

    note_here(c, OSC_FINDING_wrong_type);
    if (ch == '"')
        st = osc_chrome_string(c, false, &s);
    else if (ch == '[')
        st = osc_chrome_nested(c, &raw);
    else
        st = osc_chrome_bare(c, &raw);
    return st == OSC_TOKEN_DEEP || st == OSC_TOKEN_LONG ? OSC_TOKEN_OK : st;
}

/* Read events until one begins at or behind STOP. False: the builder failed. */
static bool run_events(struct osc_chrome *c, enum osc_chrome_state *state, uint64_t stop)
{
    enum osc_token_status st;
    uint32_t n = 0;

    for (;;) {
        int ch = osc_chrome_peek(c);

        if (ch == ',') {
            c->text.p++;
            ch = osc_chrome_peek(c);
        }
        if (ch == '{') {
            if (osc_text_offset(&c->text, c->text.p) >= stop)
                return true;
            st = osc_chrome_event(c);
        } else if (ch == ']') {
            c->text.p++;
            *state = *state == OSC_CHROME_BARE ? OSC_CHROME_END : OSC_CHROME_TOP;
            return true;
        } else {
            st = ch < 0 ? OSC_TOKEN_END : skip_stranger(c, ch);
        }
        if (c->builder->status != OSC_OK)
            return false;
        if (st == OSC_TOKEN_END) {
            note_here(c, OSC_FINDING_truncated);
            *state = OSC_CHROME_END;
            return true;
        }
        if (st != OSC_TOKEN_OK) {
            note_here(c, OSC_FINDING_corrupt);
            find_back(c);
        }
        if (++n % EVENTS_PER_TICK == 0 && c->tick && !c->tick(c))
            return false;
    }
}

static void run_start(struct osc_chrome *c, enum osc_chrome_state *state)
{
    int ch = osc_chrome_peek(c);

    if (ch == 0xef && byte_at(&c->text, 1) == 0xbb && byte_at(&c->text, 2) == 0xbf) {
        c->text.p += 3; /* a byte order mark */
        ch = osc_chrome_peek(c);
    }
    if (ch == '[' || ch == '{') {
        c->text.p++;
        *state = ch == '[' ? OSC_CHROME_BARE : OSC_CHROME_TOP;
        return;
    }
    c->is_strange = true;
    *state = OSC_CHROME_END;
}

bool osc_chrome_run(struct osc_chrome *c, enum osc_chrome_state *state, uint64_t stop)
{
    for (;;) {
        switch (*state) {
        case OSC_CHROME_START:
            run_start(c, state);
            break;
        case OSC_CHROME_TOP:
            run_top(c, state);
            break;
        case OSC_CHROME_EVENTS:
        case OSC_CHROME_BARE:
            if (!run_events(c, state, stop))
                return false;
            if (*state == OSC_CHROME_EVENTS || *state == OSC_CHROME_BARE)
                return true; /* at STOP */
            break;
        case OSC_CHROME_END:
            return true;
        }
        if (c->builder->status != OSC_OK)
            return false;
    }
}
