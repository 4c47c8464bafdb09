/* SPDX-License-Identifier: Apache-2.0 */
#include "render/wrap.h"

#include <string.h>

#include "base/utf8.h"

#define MESSAGE_INDENT 2  /* of further lines */
#define MESSAGE_LEAST  20 /* columns, of however narrow a terminal */

void osc_wrap_words(struct osc_strbuf *out, struct osc_str text, size_t indent, size_t room,
                    bool breaks)
{
    while (text.len > 0) {
        const size_t head = osc_utf8_head(text, room);
        size_t len = text.len;

        if (head < text.len) {
            const char *blank = memrchr(text.s, ' ', head + 1);

            len = head;
            if (!blank && !breaks)
                blank = memchr(text.s, ' ', text.len);
            if (blank || !breaks)
                len = blank ? (size_t)(blank - text.s) : text.len;
        }
        osc_strbuf_add(out, text.s, len);
        len += len < text.len && text.s[len] == ' ';
        text = (struct osc_str){text.s + len, text.len - (uint32_t)len};
        if (text.len > 0) {
            osc_strbuf_addc(out, '\n');
            osc_strbuf_pad(out, ' ', indent);
        }
    }
}

/* Length of the first word of S, a part of a command that is not broken. QUOTES has the quotes
 * that are open, and receives those that are open behind it. Between double quotes, but for
 * texts of SQL in them, a line may end in a backslash. */
static uint32_t word_length(struct osc_str s, char quotes[2])
{
    uint32_t i = 0;

    for (; i < s.len; i++) {
        const char c = s.s[i];

        if (c == ' ' && quotes[0] != '\'' && quotes[1] == '\0')
            break;
        if (quotes[0] == '\0' && (c == '"' || c == '\''))
            quotes[0] = c;
        else if (quotes[0] == '"' && c == '\'' && quotes[1] == '\0')
            quotes[1] = c;
        else if (c == quotes[1])
            quotes[1] = '\0';
        else if (c == quotes[0])
            quotes[0] = quotes[1] = '\0';
    }
    return i;
}

void osc_wrap_command(struct osc_strbuf *out, struct osc_str text, size_t indent, size_t room)
{
    char quotes[2] = {0};
    size_t taken = 0;

    while (text.len > 0) {
        const uint32_t len = word_length(text, quotes);
        const struct osc_str word = {text.s, len};
        const size_t columns = osc_utf8_columns(word);

        if (taken > 0 && taken + 1 + columns + 2 > room) {
            osc_strbuf_adds(out, " \\\n");
            osc_strbuf_pad(out, ' ', 2 * indent);
            taken = indent;
        } else if (taken > 0) {
            osc_strbuf_addc(out, ' ');
            taken++;
        }
        osc_strbuf_addstr(out, word);
        taken += columns;
        text = (struct osc_str){text.s + len, text.len - len};
        if (text.len > 0)
            text = (struct osc_str){text.s + 1, text.len - 1};
    }
}

/* A word of a message, or a quotation with what is joined to it. */
struct word {
    uint32_t len;
    uint32_t from, to; /* what is in quotes; equal: nothing */
};

/* Read the first word of S. */
static struct word read_word(struct osc_str s)
{
    const uint32_t from = s.len > 0 && s.s[0] == '(' ? 2 : 1;
    struct word w = {.len = s.len};
    const char *const end =
        s.len > from && s.s[from - 1] == '\'' ? memchr(s.s + from, '\'', s.len - from) : NULL;

    if (end) {
        w.from = from;
        w.to = (uint32_t)(end - s.s);
    }
    const char *const blank = memchr(s.s + w.to, ' ', s.len - w.to);
    if (blank)
        w.len = (uint32_t)(blank - s.s);
    return w;
}

/* Columns of the last line of OUT. */
static size_t columns_of_line(const struct osc_strbuf *out)
{
    const char *const last = out->len > 0 ? memrchr(out->s, '\n', out->len) : NULL;
    const size_t start = last ? (size_t)(last + 1 - out->s) : 0;

    return out->len > start ? osc_utf8_columns((struct osc_str){out->s + start,
                                                                (uint32_t)(out->len - start)})
                            : 0;
}

/* Write TEXT, of which W is the first word, in ROOM columns from MESSAGE_INDENT on. */
static void write_word(struct osc_strbuf *out, struct osc_str text, const struct word *w,
                       size_t room)
{
    const struct osc_str quoted = {text.s + w->from, w->to - w->from};

    if (osc_utf8_columns((struct osc_str){text.s, w->len}) <= room ||
        !osc_str_starts(quoted, OSC_STR("opscope "))) {
        osc_strbuf_add(out, text.s, w->len);
        return;
    }
    osc_strbuf_add(out, text.s, w->from);
    osc_wrap_command(out, quoted, MESSAGE_INDENT, room - w->from);
    osc_strbuf_add(out, text.s + w->to, w->len - w->to);
}

void osc_wrap_message(struct osc_strbuf *out, struct osc_str text, size_t width)
{
    const size_t room = width > MESSAGE_LEAST ? width : MESSAGE_LEAST;

    for (bool is_first = true; text.len > 0; is_first = false) {
        const struct word w = read_word(text);
        const size_t columns = osc_utf8_columns((struct osc_str){text.s, w.len});
        const size_t taken = columns_of_line(out);

        if (taken > 0 && taken + !is_first + columns > room) {
            osc_strbuf_addc(out, '\n');
            osc_strbuf_pad(out, ' ', MESSAGE_INDENT);
        } else if (!is_first) {
            osc_strbuf_addc(out, ' ');
        }
        write_word(out, text, &w, room - MESSAGE_INDENT);
        const uint32_t read = w.len + (w.len < text.len);
        text = (struct osc_str){text.s + read, text.len - read};
    }
}
