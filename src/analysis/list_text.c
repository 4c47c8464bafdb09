/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/list_text.h"

#include "base/hash.h"

/* Write the quoted string at I as Python prints it; returns the index of its end. */
static uint32_t add_string(struct osc_str list, uint32_t i, struct osc_strbuf *out)
{
    osc_strbuf_addc(out, '\'');
    for (i++; i < list.len && list.s[i] != '"'; i++) {
        if (list.s[i] == '\\' && i + 1 < list.len)
            osc_strbuf_addc(out, list.s[i++]);
        osc_strbuf_addc(out, list.s[i]);
    }
    osc_strbuf_addc(out, '\'');
    return i;
}

/* Write the JSON word at I as Python spells it; returns the index of its last byte. */
static uint32_t add_word(struct osc_str list, uint32_t i, struct osc_strbuf *out)
{
    static const struct {
        struct osc_str json;
        const char *python;
    } words[] = {
        {{"null", 4}, "None"},
        {{"true", 4}, "True"},
        {{"false", 5}, "False"},
    };
    const struct osc_str rest = {list.s + i, list.len - i};

    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (osc_str_starts(rest, words[k].json)) {
            osc_strbuf_adds(out, words[k].python);
            return i + words[k].json.len - 1;
        }
    }
    osc_strbuf_addc(out, list.s[i]);
    return i;
}

void osc_list_text(struct osc_str list, struct osc_strbuf *out)
{
    uint32_t first = 0;

    while (first < list.len && (list.s[first] == ' ' || list.s[first] == '\n' ||
                                list.s[first] == '\t' || list.s[first] == '\r'))
        first++;
    if (first == list.len || list.s[first] != '[')
        return;
    for (uint32_t i = first; i < list.len; i++) {
        switch (list.s[i]) {
        case ' ':
        case '\t':
        case '\n':
        case '\r':
            break;
        case ',':
            osc_strbuf_adds(out, ", ");
            break;
        case '"':
            i = add_string(list, i, out);
            break;
        case 'n':
        case 't':
        case 'f':
            i = add_word(list, i, out);
            break;
        default:
            osc_strbuf_addc(out, list.s[i]);
            break;
        }
    }
}

void osc_lists_fini(struct osc_lists *l)
{
    osc_idmap_fini(&l->ids);
    osc_intern_fini(&l->texts);
    osc_arena_fini(&l->arena);
    osc_strbuf_fini(&l->scratch);
    *l = (struct osc_lists){0};
}

osc_status osc_lists_id(struct osc_lists *l, const struct osc_trace *t,
                        const struct osc_chunk *c, uint32_t i, enum osc_arg_key key,
                        osc_sid *id)
{
    struct osc_arg arg;

    id->v = 0;
    if (!osc_row_arg(t, c, i, key, &arg) || arg.type != OSC_ARG_TEXT)
        return OSC_OK;
    uint32_t *const place = osc_idmap_put(&l->ids, arg.sid.v);
    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        if (l->texts.seed == 0)
            l->texts.seed = osc_hash_seed();
        l->texts.arena = &l->arena;
        osc_strbuf_clear(&l->scratch);
        osc_list_text(osc_trace_str(t, arg.sid), &l->scratch);
        if (l->scratch.status != OSC_OK)
            return l->scratch.status;
        const struct osc_str text = {l->scratch.s, (uint32_t)l->scratch.len};
        const osc_status st = osc_intern_add(&l->texts, text, id);
        if (st != OSC_OK)
            return st;
        *place = id->v + 1; /* 0 means "not seen" in the map; below, a list id of 0 means "not
                             * a list" */
    }
    id->v = *place - 1;
    return OSC_OK;
}
