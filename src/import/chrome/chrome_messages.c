/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that is no JSON: messages before, between and behind events, which programs print into
 * the file that they write.
 */
#include "import/chrome/chrome_parser.h"

#include <string.h>

/* How much of an object is searched for its phase, and of a text for a document. */
#define EVENT_BYTES   ((size_t)64 << 10)
#define STRANGE_BYTES ((uint64_t)1 << 20)

/* Move *AT behind the string that begins there. False: it does not end soon. */
static bool skip_string(struct osc_text *t, size_t *at)
{
    for (++*at; *at < EVENT_BYTES; ++*at) {
        const int ch = osc_text_look(t, *at);

        if (ch < 0)
            return false;
        if (ch == '"') {
            ++*at;
            return true;
        }
        *at += ch == '\\';
    }
    return false;
}

/* Whether the LEN bytes AT bytes behind p are WORD. */
static bool is_word(const struct osc_text *t, size_t at, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(t->p + at, word, len) == 0;
}

bool osc_chrome_is_event(struct osc_text *t)
{
    size_t depth = 0;

    for (size_t at = 0; at < EVENT_BYTES;) {
        const int ch = osc_text_look(t, at);
        const size_t from = at + 1;

        if (ch < 0)
            return false;
        if (ch != '"') {
            depth += ch == '{' || ch == '[';
            depth -= depth > 0 && (ch == '}' || ch == ']');
            if (depth == 0)
                return false;
            at++;
            continue;
        }
        if (!skip_string(t, &at))
            return false;
        size_t next = at;
        const size_t len = at - 1 - from;

        if (depth != 1 || osc_text_look_past_blank(t, &next) != ':')
            continue;
        if (is_word(t, from, len, "traceEvents"))
            return false;
        next++;
        if (is_word(t, from, len, "ph"))
            return osc_text_look_past_blank(t, &next) == '"' &&
                   osc_text_look(t, next + 2) == '"';
    }
    return false;
}

/* Skip the line at p. False: the text ends. */
static bool skip_line(struct osc_text *t)
{
    for (;;) {
        char *const end = memchr(t->p, '\n', (size_t)(t->end - t->p));

        t->p = end ? end + 1 : t->end;
        if (end)
            return true;
        if (!osc_text_more(t, t->p))
            return false;
    }
}

/* Whether a document begins at p: a list of objects, or an object. */
static bool begins_document(struct osc_text *t)
{
    const int ch = osc_text_look(t, 0);
    size_t at = 1;

    if (ch == '[')
        return osc_text_look_past_blank(t, &at) == '{';
    return ch == '{' && osc_text_look_past_blank(t, &at) == '"';
}

bool osc_chrome_find_document(struct osc_chrome *c)
{
    struct osc_text *const t = &c->text;
    const uint64_t from = osc_text_offset(t, t->p);

    while (osc_text_offset(t, t->p) - from < STRANGE_BYTES) {
        if (!skip_line(t) || osc_chrome_peek(c) < 0)
            return false;
        if (begins_document(t))
            return true;
    }
    return false;
}

void osc_chrome_skip_text(struct osc_text *t)
{
    for (;;) {
        for (; t->p < t->end; t->p++) {
            if (*t->p == '\n' || (*t->p == '{' && osc_text_look(t, 1) == '"'))
                return;
        }
        if (!osc_text_more(t, t->p))
            return;
    }
}

/* The first byte at or after *AT that is no blank of this line; moves *AT to it. */
static int look_in_line(struct osc_text *t, size_t *at)
{
    int ch = osc_text_look(t, *at);

    while (*at < EVENT_BYTES && (ch == ' ' || ch == '\t' || ch == '\r'))
        ch = osc_text_look(t, ++*at);
    return ch;
}

bool osc_chrome_is_message(struct osc_text *t)
{
    size_t at = 1;
    int ch = look_in_line(t, &at);

    if (ch < 0 || strchr("\n{[]\"", ch))
        return false;
    while (ch >= 0 && ch != '\n' && ch != ']' && at < EVENT_BYTES)
        ch = osc_text_look(t, ++at);
    if (ch != ']')
        return ch == '\n';
    at++;
    ch = look_in_line(t, &at);
    return ch >= 0 && strchr("\n,]}", ch) == NULL;
}
