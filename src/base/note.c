/* SPDX-License-Identifier: Apache-2.0 */
#include "base/note.h"

#include <string.h>

#include "base/utf8.h"

void osc_note(struct osc_strbuf *notes, const char *format, ...)
{
    struct osc_strbuf text = {0};
    va_list ap;

    va_start(ap, format);
    osc_strbuf_addv(&text, format, ap);
    va_end(ap);
    if (text.status == OSC_OK)
        osc_utf8_append_terminal(notes, (struct osc_str){text.s, (uint32_t)text.len});
    else
        notes->status = text.status;
    osc_strbuf_addc(notes, '\n');
    osc_strbuf_fini(&text);
}

void osc_notes_each(const struct osc_strbuf *notes, void (*hear)(void *ctx, const char *line),
                    void *ctx)
{
    for (const char *line = notes->len > 0 ? notes->s : ""; *line;) {
        const char *const end = strchrnul(line, '\n');
        struct osc_strbuf text = {0};

        osc_utf8_append_terminal(&text, (struct osc_str){line, (uint32_t)(end - line)});
        if (text.status == OSC_OK && text.s)
            hear(ctx, text.s);
        osc_strbuf_fini(&text);
        line = *end ? end + 1 : end;
    }
}

void osc_note_clean(struct osc_err *err)
{
    struct osc_strbuf text = {0};

    if (!err || !err->message[0])
        return;
    osc_utf8_append_terminal(&text, osc_str_c(err->message));
    if (text.status == OSC_OK) {
        (void)osc_fail(err, err->code, "%s", text.s);
    } else { /* no memory to escape it */
        for (char *p = err->message; *p; p++)
            if (*p < ' ' || *p > '~')
                *p = '?';
    }
    osc_strbuf_fini(&text);
}
