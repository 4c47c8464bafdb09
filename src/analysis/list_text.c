/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/list_text.h"

#include "base/hash.h"
#include "codec/json.h"

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

/* Write one element of a list: a text without its quotes, anything else as Python prints it. */
static void add_element(struct osc_str element, struct osc_strbuf *out)
{
    const char *const end = element.s + element.len;

    if (element.len >= 2 && element.s[0] == '"' && end[-1] == '"') {
        (void)osc_json_unescape(element.s + 1, end - 1, out);
    } else if (element.len > 0 && element.s[0] == '[') {
        osc_list_text(element, out);
    } else {
        for (uint32_t i = 0; i < element.len; i++)
            i = add_word(element, i, out);
    }
}

bool osc_list_elements(struct osc_str list, struct osc_strbuf *out)
{
    struct osc_str element;
    bool has_any = false;

    for (; osc_json_next(&list, &element); has_any = true) {
        const bool is_empty = osc_str_eq(element, OSC_STR("\"\""));

        osc_strbuf_adds(out, !has_any ? "" : is_empty ? "," : ", ");
        add_element(element, out);
    }
    return has_any;
}

void osc_lists_fini(struct osc_lists *l)
{
    osc_idmap_fini(&l->ids);
    osc_intern_fini(&l->texts);
    osc_arena_fini(&l->arena);
    osc_strbuf_fini(&l->scratch);
    *l = (struct osc_lists){0};
}

/* The list in argument KEY of row I of C, a string of the trace; 0 if it is none. */
static osc_sid list_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                       enum osc_arg_key key)
{
    struct osc_arg arg;

    return osc_row_arg(t, c, i, key, &arg) && arg.type == OSC_ARG_TEXT ? arg.sid : (osc_sid){0};
}

/* Writes a list of the file as text. False: it counts as none. */
typedef bool write_list(struct osc_str list, struct osc_strbuf *out);

/* Intern what WRITE makes of LIST. The number is that of the text, plus 1; 0: none. */
static osc_status number_text(struct osc_lists *l, struct osc_str list, write_list *write,
                              uint32_t *number)
{
    osc_sid id;

    osc_strbuf_clear(&l->scratch);
    const bool is_one = write(list, &l->scratch);
    const struct osc_str text = {l->scratch.s ? l->scratch.s : "", (uint32_t)l->scratch.len};
    if (l->scratch.status != OSC_OK)
        return l->scratch.status;
    if (l->texts.seed == 0)
        l->texts.seed = osc_hash_seed();
    l->texts.arena = &l->arena;
    const osc_status st = osc_intern_add(&l->texts, text, &id);
    *number = st == OSC_OK && is_one ? id.v + 1 : 0;
    return st;
}

/* The number of the text of LIST, a string of T; 0 if that is none. */
static osc_status find_number(struct osc_lists *l, const struct osc_trace *t, osc_sid list,
                              write_list *write, uint32_t *number)
{
    *number = 0;
    if (list.v == 0)
        return OSC_OK;
    uint32_t *const place = osc_idmap_put(&l->ids, list.v);
    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) { /* not seen yet */
        const osc_status st = number_text(l, osc_trace_str(t, list), write, number);
        if (st != OSC_OK)
            return st;
        *place = *number + 1;
    }
    *number = *place - 1;
    return OSC_OK;
}

static bool write_whole(struct osc_str list, struct osc_strbuf *out)
{
    osc_list_text(list, out);
    return true;
}

osc_status osc_lists_id(struct osc_lists *l, const struct osc_trace *t,
                        const struct osc_chunk *c, uint32_t i, enum osc_arg_key key,
                        osc_sid *id)
{
    uint32_t number;
    const osc_status st = find_number(l, t, list_of(t, c, i, key), write_whole, &number);

    id->v = number > 0 ? number - 1 : 0;
    return st;
}

osc_status osc_lists_elements_id(struct osc_lists *l, const struct osc_trace *t,
                                 const struct osc_chunk *c, uint32_t i, enum osc_arg_key key,
                                 uint32_t *number)
{
    return find_number(l, t, list_of(t, c, i, key), osc_list_elements, number);
}

struct osc_str osc_lists_elements(const struct osc_lists *l, uint32_t number)
{
    return osc_intern_str(&l->texts, (osc_sid){number - 1});
}
