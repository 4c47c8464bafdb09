/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/chrome_parser.h"

#include <string.h>

#include "import/chrome/chrome_learn.h"

/* Bytes of text between two calls of tick. */
#define BYTES_PER_TICK ((uint64_t)1 << 20)

/* If the window has fewer bytes, more are read before the fast path gives up. */
#define LOW_WATER 16384

static void count_here(struct osc_chrome *c, enum osc_finding_code code)
{
    osc_findings_add(c->findings, code, osc_text_offset(&c->text, c->text.p), OSC_NO_TIME);
}

/* Whether the key at AT is KEY. */
static bool is_key(struct osc_text *t, size_t at, const char *key)
{
    const size_t len = strlen(key);

    return osc_text_look(t, at) == '"' && osc_text_look(t, at + len + 1) == '"' &&
           memcmp(t->p + at + 1, key, len) == 0;
}

/* Whether the key at AT is one that follows the list of events. */
static bool is_top_key(struct osc_text *t, size_t at)
{
    static const char *const keys[] = {"traceName",           "displayTimeUnit",
                                       "baseTimeNanoseconds", "distributedInfo",
                                       "deviceProperties",    "schemaVersion"};

    bool is_one = false;

    for (size_t i = 0; i < sizeof keys / sizeof *keys && !is_one; i++)
        is_one = is_key(t, at, keys[i]);
    return is_one;
}

/* Whether CH can follow a document: it is the end of the file or begins another document. */
static bool ends_document(int ch)
{
    return ch < 0 || ch == '{' || ch == '[';
}

/* Whether the list of events ends with the ']' just before AT. */
static bool list_ends_before(struct osc_text *t, size_t at)
{
    const int ch = osc_text_look_past_blank(t, &at);

    if (ends_document(ch))
        return true;
    at++;
    const int behind = osc_text_look_past_blank(t, &at);
    return ch == '}' ? ends_document(behind) : ch == ',' && is_top_key(t, at);
}

/* Go to the next closing brace. False: there is none. */
static bool find_brace(struct osc_text *t)
{
    char *brace;

    while (!(brace = memchr(t->p, '}', (size_t)(t->end - t->p)))) {
        t->p = t->end;
        if (!osc_text_more(t, t->p))
            return false;
    }
    t->p = brace;
    return true;
}

/*
 * Recover from an error at p: move to the opening brace of the next event, or to the end of the
 * list. Between events are a closing brace, a comma and an opening brace; the first may be a
 * wrong bracket.
 */
static void find_back(struct osc_chrome *c)
{
    struct osc_text *t = &c->text;

    while (*t->p == ']' || find_brace(t)) {
        if (*t->p == ']' && list_ends_before(t, 1))
            return;
        t->p++;
        bool is_next_line = false;
        const int ch = osc_chrome_peek_line(c, &is_next_line);
        if (ch == '{' && is_next_line)
            return; /* behind a message with braces, which has no comma */
        if (ch != ',')
            continue;
        t->p++;
        if (osc_chrome_peek(c) == '{')
            return;
    }
}

static void add_meta(struct osc_chrome *c, osc_sid key, osc_sid value, bool is_string)
{
    struct osc_builder *const b = c->builder;

    if (b->status == OSC_OK)
        b->status = osc_build_grow(&c->metas, &c->cap_metas, c->n_metas + 1, sizeof *c->metas);
    if (b->status != OSC_OK)
        return;
    /* The trace will keep a copy, and tables a row. */
    osc_build_reserve(b, sizeof *c->metas + b->loading->reserve.string_bytes);
    c->metas[c->n_metas++] = (struct osc_meta){key, value, is_string};
}

/* Read the value of the top-level member KEY. */
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
    st = ch == '{' || ch == '[' ? osc_chrome_nested(c, false, &raw) : osc_chrome_bare(c, &raw);
    if (st == OSC_TOKEN_OK)
        add_meta(c, key, osc_build_string(c->builder, raw.s, raw.len), false);
    if (st == OSC_TOKEN_DEEP || st == OSC_TOKEN_LONG) {
        count_here(c, st == OSC_TOKEN_DEEP ? OSC_FINDING_too_deep : OSC_FINDING_too_long);
        st = OSC_TOKEN_OK;
    } else if (st == OSC_TOKEN_OK) {
        c->has_deep_list |= osc_str_has(raw, OSC_STR("\"traceEvents\""));
    }
    return st;
}

/* Whether the first member of the object at p is a list of events. */
static bool is_trace(struct osc_text *t)
{
    size_t at = 1;

    return osc_text_look_past_blank(t, &at) == '"' && is_key(t, at, "traceEvents");
}

/* Read one member of the top-level object; the quotation mark of its key is at p. */
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
        if (c->has_list || c->saw_list) /* this is a second one */
            count_here(c, OSC_FINDING_repaired_list);
        c->text.p++;
        *state = *state == OSC_CHROME_TOP_IN ? OSC_CHROME_EVENTS_IN : OSC_CHROME_EVENTS;
        c->saw_list = c->has_list = true;
        return OSC_TOKEN_OK;
    }
    if (is_events && ch == '{' && *state == OSC_CHROME_TOP && is_trace(&c->text)) {
        count_here(c, OSC_FINDING_repaired_list);
        c->text.p++;
        c->is_comma_due = false;
        *state = OSC_CHROME_TOP_IN;
        return OSC_TOKEN_OK;
    }
    if (is_events)
        count_here(c, OSC_FINDING_wrong_type);
    return read_meta(c, id);
}

/*
 * End a document and find out whether another follows, perhaps behind other text. If one of
 * several has no list of events, it is counted, and its members are dropped.
 */
static enum osc_chrome_state end_document(struct osc_chrome *c)
{
    const int next = osc_chrome_peek(c);
    const bool is_last = next != '{' && next != '[';

    if (!c->has_list && !(is_last && c->document_at == 0)) {
        osc_findings_add(c->findings, OSC_FINDING_wrong_type, c->document_at, OSC_NO_TIME);
        c->n_metas = c->n_older_metas;
    }
    return next < 0 ? OSC_CHROME_END : OSC_CHROME_START;
}

/* Read what comes next among the members of a document. Whatever is wrong here, the list of
 * events may still follow, so that damage is counted and the next key looked for. */
static void run_top(struct osc_chrome *c, enum osc_chrome_state *state)
{
    const int ch = osc_chrome_peek(c);
    enum osc_token_status st = OSC_TOKEN_BAD;

    if (ch == ',') {
        c->text.p++;
        c->is_comma_due = false;
        if (osc_chrome_peek(c) == '{') { /* of an event: the list has not really ended */
            count_here(c, OSC_FINDING_corrupt);
            *state = *state == OSC_CHROME_TOP_IN ? OSC_CHROME_EVENTS_IN : OSC_CHROME_EVENTS;
            /* As a unit assumes that begins further on. */
            c->has_list = c->is_comma_due = true;
        }
        return;
    }
    if (ch == '}' && *state == OSC_CHROME_TOP_IN) {
        c->text.p++;
        *state = OSC_CHROME_TOP;
        return;
    }
    if (ch == '}') {
        c->text.p++;
        const int next = osc_chrome_peek(c);
        if (next == ',' || next == '}') /* it was an extra brace */
            count_here(c, OSC_FINDING_corrupt);
        else
            *state = end_document(c);
        return;
    }
    if (ch == '"') {
        if (c->is_comma_due)
            count_here(c, OSC_FINDING_repaired_list);
        c->is_comma_due = true;
        st = read_top_member(c, state);
    }
    if (ch < 0 || st == OSC_TOKEN_END) {
        count_here(c, OSC_FINDING_truncated);
        *state = OSC_CHROME_END;
    } else if (st == OSC_TOKEN_BAD) {
        /* Continue at the next thing that looks like a key. */
        count_here(c, OSC_FINDING_corrupt);
        int next = osc_chrome_peek(c);
        if (next == '"')
            c->text.p++, next = osc_chrome_peek(c);
        while (next >= 0 && next != '"' && next != '}') {
            c->text.p++;
            next = osc_chrome_peek(c);
        }
    }
}

/* Skip an item of the list of events that is not an object, a piece of a broken one, or text
 * that was printed into the file. */
static enum osc_token_status skip_stranger(struct osc_chrome *c, int ch)
{
    struct osc_chrome_string s;
    struct osc_str raw;
    enum osc_token_status st = OSC_TOKEN_OK;
    const bool is_message = ch == '[' && osc_chrome_is_message(&c->text);
    const bool is_text = ch == '"';

    if (is_text)
        st = osc_chrome_key(c, &s);
    else if (ch == '[' && !is_message)
        st = osc_chrome_nested(c, false, &raw);
    else if (ch != '[')
        st = osc_chrome_bare(c, &raw);
    bool is_next_line = false;
    ch = st == OSC_TOKEN_OK && !is_message ? osc_chrome_peek_line(c, &is_next_line) : 0;
    if (st == OSC_TOKEN_OK && is_text && ch == ':')
        st = OSC_TOKEN_BAD; /* a member of a broken event */
    if (st != OSC_TOKEN_OK || ch == ',' || ch == ']' || ch < 0) {
        osc_findings_add(c->findings, OSC_FINDING_wrong_type, c->item_at, OSC_NO_TIME);
        return st;
    }
    osc_findings_add(c->findings, OSC_FINDING_corrupt, c->item_at, OSC_NO_TIME);
    if (!is_next_line)
        osc_chrome_skip_text(&c->text);
    return OSC_TOKEN_OK;
}

/*
 * Read events of known layout up to STOP. More text is read when little is left, so that an
 * event across two blocks can be read the fast way, too. The window must have at most
 * OSC_TOKEN_MAX bytes, because the fast path does not check the length of tokens.
 */
static void run_fast(struct osc_chrome *c, uint64_t stop)
{
    struct osc_text *t = &c->text;

    while (t->end - t->p <= (ptrdiff_t)OSC_TOKEN_MAX) {
        const uint64_t left = stop - osc_text_offset(t, t->p);
        const uint64_t here = (uint64_t)(t->end - t->p);
        t->p = c->layouts->fast(c, t->p, t->p + (left < here ? left : here));
        if (osc_text_offset(t, t->p) >= stop || c->builder->status != OSC_OK)
            return;
        if (t->end - t->p >= LOW_WATER || !osc_text_more(t, t->p))
            return;
    }
}

enum osc_chrome_state osc_chrome_behind_list(struct osc_chrome *c, enum osc_chrome_state list)
{
    if (list == OSC_CHROME_GUESS)
        return OSC_CHROME_LISTED;
    if (osc_chrome_is_bare(list))
        return end_document(c);
    c->is_comma_due = true;
    return list == OSC_CHROME_EVENTS_IN ? OSC_CHROME_TOP_IN : OSC_CHROME_TOP;
}

enum osc_chrome_state osc_chrome_behind_cut(struct osc_chrome *c, enum osc_chrome_state list)
{
    if (list == OSC_CHROME_GUESS)
        return OSC_CHROME_CUT;
    if (list != OSC_CHROME_LINES) /* that has no end */
        count_here(c,
                   list == OSC_CHROME_BARE ? OSC_FINDING_unclosed_list : OSC_FINDING_truncated);
    return OSC_CHROME_END;
}

bool osc_chrome_goes_on(struct osc_chrome *c)
{
    size_t at = 1;

    return osc_chrome_peek(c) == ',' && osc_text_look_past_blank(&c->text, &at) == '"';
}

/* Whether an event begins at *AT, perhaps after extra brackets; moves *AT to it. */
static bool event_begins(struct osc_text *t, size_t *at)
{
    int ch = osc_text_look_past_blank(t, at);

    while (ch == '[') {
        ++*at;
        ch = osc_text_look_past_blank(t, at);
    }
    return ch == '{';
}

/*
 * The number of bytes at p, between events, that are extra brackets or the rest of a broken
 * event after a nested list; events follow. 0: none, or the list ends here.
 */
static size_t stray_brackets(struct osc_text *t)
{
    size_t at = 0;
    bool has_brace = false;
    int ch = osc_text_look(t, 0);

    if (ch == '[')
        return event_begins(t, &at) ? at : 0;
    if (ch != ']')
        return 0;
    while (ch == ']' || ch == '}') {
        has_brace |= ch == '}';
        at++;
        ch = osc_text_look_past_blank(t, &at);
    }
    if (ch != ',')
        return 0;
    size_t next = at + 1;
    if (event_begins(t, &next))
        return next;
    /* The brace either ends the file or belongs to a broken event that continues. */
    return has_brace && osc_text_look(t, next) == '"' && !is_top_key(t, next) ? at : 0;
}

/* Read the event at p of LIST the slow way, as are all that no comma follows. */
static enum osc_token_status read_event(struct osc_chrome *c, enum osc_chrome_state list)
{
    const enum osc_token_status st = osc_chrome_event(c);

    if (st != OSC_TOKEN_OK || osc_chrome_peek(c) != '{')
        return st;
    if (list == OSC_CHROME_GUESS && c->n_commas_missing++ == 0)
        c->comma_missing_at = osc_text_offset(&c->text, c->text.p);
    if (list != OSC_CHROME_GUESS && list != OSC_CHROME_LINES)
        count_here(c, OSC_FINDING_repaired_list);
    return st;
}

/* Read the item at p of the list of events the slow way. *IS_DONE: there was none, the list has
 * ended. */
static enum osc_token_status run_slow(struct osc_chrome *c, enum osc_chrome_state *state,
                                      uint64_t stop, bool *is_done)
{
    int ch = osc_chrome_peek(c);

    c->item_at = osc_text_offset(&c->text, c->text.p);
    if (ch == ',') {
        c->text.p++;
        ch = osc_chrome_peek(c);
        c->item_at = osc_text_offset(&c->text, c->text.p);
        if (ch == ',') { /* an extra comma; the next call begins after it */
            count_here(c, OSC_FINDING_corrupt);
            return OSC_TOKEN_OK;
        }
    }
    if (ch == '{') {
        *is_done = osc_text_offset(&c->text, c->text.p) >= stop;
        return *is_done ? OSC_TOKEN_OK : read_event(c, *state);
    }
    const size_t n_stray = stray_brackets(&c->text);
    if (n_stray > 0) {
        count_here(c, OSC_FINDING_corrupt);
        c->text.p += n_stray;
        return OSC_TOKEN_OK;
    }
    if (ch == ']') {
        c->text.p++;
        if (osc_chrome_is_bare(*state) && osc_chrome_goes_on(c))
            return OSC_TOKEN_BAD;
        *state = osc_chrome_behind_list(c, *state);
        *is_done = true;
        return OSC_TOKEN_OK;
    }
    return ch < 0 ? OSC_TOKEN_END : skip_stranger(c, ch);
}

/* The text ends within its list of events. */
static void end_text(struct osc_chrome *c, enum osc_chrome_state *state)
{
    const bool is_between_events =
        osc_chrome_peek(c) < 0 && c->item_at == osc_text_offset(&c->text, c->text.p);

    if (is_between_events) {
        *state = osc_chrome_behind_cut(c, *state);
        return;
    }
    count_here(c, OSC_FINDING_truncated);
    *state = OSC_CHROME_END;
}

/* Read events until one begins at or after STOP. False: the builder failed. */
static bool run_events(struct osc_chrome *c, enum osc_chrome_state *state, uint64_t stop)
{
    uint64_t tick_at = osc_text_offset(&c->text, c->text.p) + BYTES_PER_TICK;
    bool is_done = false;

    for (;;) {
        if (c->layouts && osc_text_offset(&c->text, c->text.p) < stop)
            run_fast(c, stop);
        if (c->builder->status != OSC_OK)
            return false;
        const enum osc_token_status st = run_slow(c, state, stop, &is_done);
        if (c->builder->status != OSC_OK)
            return false;
        if (is_done)
            return true;
        if (st == OSC_TOKEN_END) {
            end_text(c, state);
            return true;
        }
        if (st != OSC_TOKEN_OK) {
            osc_findings_add(c->findings, OSC_FINDING_corrupt, c->item_at, OSC_NO_TIME);
            if (st != OSC_TOKEN_NEXT)
                find_back(c);
        }
        if (osc_text_offset(&c->text, c->text.p) >= tick_at) {
            if (c->tick && !c->tick(c))
                return false;
            tick_at = osc_text_offset(&c->text, c->text.p) + BYTES_PER_TICK;
        }
    }
}

/* Whether CH, the byte at p, begins no document. */
static bool is_strange(struct osc_chrome *c, int ch)
{
    size_t at = 1;

    if (ch == ',')
        return osc_text_look_past_blank(&c->text, &at) != '{';
    return ch >= 0 && ch != '{' && (ch != '[' || osc_chrome_is_message(&c->text));
}

/* Find where a document begins, which may be behind text of another program, and what it is:
 * an object, a list, or events line by line. A list after another one, or events without one,
 * are repaired, and counted once. */
static void run_start(struct osc_chrome *c, enum osc_chrome_state *state)
{
    const bool is_first = osc_text_offset(&c->text, c->text.p) == 0;
    int ch = osc_chrome_peek(c);

    if (ch == 0xef && osc_text_look(&c->text, 1) == 0xbb &&
        osc_text_look(&c->text, 2) == 0xbf) {
        c->text.p += 3; /* a byte order mark */
        ch = osc_chrome_peek(c);
    }
    const bool is_behind_text = is_strange(c, ch);
    if (is_behind_text) {
        if (!is_first)
            count_here(c, OSC_FINDING_corrupt);
        if (!osc_chrome_find_document(c)) {
            *state = OSC_CHROME_END;
            return;
        }
        ch = osc_chrome_peek(c);
    }
    if (ch < 0) {
        *state = OSC_CHROME_END;
        return;
    }
    const bool is_event = ch == ',' || (ch == '{' && osc_chrome_is_event(&c->text));
    c->document_at = osc_text_offset(&c->text, c->text.p);
    c->n_older_metas = c->n_metas;
    c->saw_list |= c->has_list && !is_first; /* that of the document before */
    c->has_list = is_event || ch == '[';
    if (is_event || (is_behind_text && is_first) || (c->has_list && c->saw_list))
        count_here(c, OSC_FINDING_repaired_list);
    c->saw_list |= c->has_list;
    c->is_comma_due = false;
    if (is_event) {
        *state = OSC_CHROME_LINES;
        return;
    }
    c->text.p++;
    *state = ch == '[' ? OSC_CHROME_BARE : OSC_CHROME_TOP;
}

bool osc_chrome_run(struct osc_chrome *c, enum osc_chrome_state *state, uint64_t stop)
{
    for (;;) {
        switch (*state) {
        case OSC_CHROME_START:
            run_start(c, state);
            break;
        case OSC_CHROME_TOP:
        case OSC_CHROME_TOP_IN:
            run_top(c, state);
            break;
        case OSC_CHROME_EVENTS:
        case OSC_CHROME_EVENTS_IN:
        case OSC_CHROME_BARE:
        case OSC_CHROME_LINES:
        case OSC_CHROME_GUESS: {
            const enum osc_chrome_state list = *state;
            if (!run_events(c, state, stop))
                return false;
            if (*state == list)
                return true; /* at STOP */
            break;
        }
        case OSC_CHROME_LISTED:
        case OSC_CHROME_CUT:
        case OSC_CHROME_END:
            return true;
        }
        if (c->builder->status != OSC_OK)
            return false;
    }
}
