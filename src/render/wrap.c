/* SPDX-License-Identifier: Apache-2.0 */
#include "render/wrap.h"

#include <string.h>

#include "base/utf8.h"

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
