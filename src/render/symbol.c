/* SPDX-License-Identifier: Apache-2.0 */
#include "render/symbol.h"

#include "base/utf8.h"

/* Bytes of "operator<", "operator->>=" and the like at the start of S, or 0. */
static uint32_t operator_length(struct osc_str s)
{
    uint32_t n = 8;

    if (!osc_str_starts(s, OSC_STR("operator")))
        return 0;
    while (n < s.len && n < 11 && strchr("<>-=", s.s[n]) && s.s[n] != '\0')
        n++;
    /* operator<<float> has arguments of its own behind the two signs of its name. */
    return n > 8 ? n : 0;
}

/* Where the list of arguments that opens at AT ends; 0 if it does not. */
static uint32_t closing(struct osc_str s, uint32_t at)
{
    uint32_t depth = 0;

    for (uint32_t i = at; i < s.len; i++) {
        if (s.s[i] == '<')
            depth++;
        else if (s.s[i] == '>' && s.s[i - 1] != '-' && --depth == 0)
            return i;
    }
    return 0;
}

void osc_symbol_fold(struct osc_strbuf *out, struct osc_str symbol)
{
    uint32_t start = 0;

    for (uint32_t i = 0; i < symbol.len;) {
        const struct osc_str rest = {symbol.s + i, symbol.len - i};
        const uint32_t name = operator_length(rest);
        const uint32_t end = rest.s[0] == '<' && i > 0 ? closing(symbol, i) : 0;

        if (end > i + 1) {
            osc_utf8_append_terminal(out, (struct osc_str){symbol.s + start, i - start});
            osc_strbuf_adds(out, "<...>");
            i = start = end + 1;
        } else {
            i += name > 0 ? name : 1;
        }
    }
    osc_utf8_append_terminal(out, (struct osc_str){symbol.s + start, symbol.len - start});
}
