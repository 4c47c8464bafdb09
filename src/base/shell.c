/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shell.h"

#include <string.h>

#include "base/utf8.h"

/* Length of the character at S if it may stand unescaped in single quotes, else 0. */
static size_t quotable(const char *s)
{
    struct osc_strbuf shown = {0};
    size_t len = 1;

    while (len < 4 && ((unsigned char)s[len] & 0xc0) == 0x80)
        len++;
    osc_utf8_append_terminal(&shown, (struct osc_str){s, (uint32_t)len});
    const bool is_same = shown.len == len && shown.s && memcmp(shown.s, s, len) == 0;
    osc_strbuf_fini(&shown);
    return is_same ? len : 0;
}

void osc_shell_add_word(struct osc_strbuf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:@%+=,";
    bool has_escapes = false;

    if (*word && strspn(word, plain) == strlen(word)) {
        osc_strbuf_adds(out, word);
        return;
    }
    for (const char *p = word; *p && !has_escapes;) {
        const size_t len = quotable(p);

        has_escapes = len == 0;
        p += len;
    }
    osc_strbuf_adds(out, has_escapes ? "$'" : "'");
    for (const char *p = word; *p;) {
        const size_t len = quotable(p);

        if (has_escapes && (*p == '\'' || *p == '\\'))
            osc_strbuf_addf(out, "\\%c", *p);
        else if (*p == '\'')
            osc_strbuf_adds(out, "'\\''");
        else if (len == 0)
            osc_strbuf_addf(out, "\\x%02x", (unsigned char)*p);
        else
            osc_strbuf_add(out, p, len);
        p += len > 0 ? len : 1;
    }
    osc_strbuf_adds(out, "'");
}

void osc_shell_add_expression(struct osc_strbuf *out, const char *expression)
{
    for (const char *p = expression; *p;) {
        const size_t len = quotable(p);

        if (len == 0 || *p == '!') {
            osc_shell_add_word(out, expression);
            return;
        }
        p += len;
    }
    osc_strbuf_addc(out, '"');
    for (const char *p = expression; *p; p++) {
        if (strchr("\"\\$`", *p))
            osc_strbuf_addc(out, '\\');
        osc_strbuf_addc(out, *p);
    }
    osc_strbuf_addc(out, '"');
}
