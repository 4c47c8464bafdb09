/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_args.h"

#include <math.h>
#include <string.h>

#include "base/strbuf.h"
#include "codec/json.h"
#include "import/records/records_names.h"
#include "import/records/records_stacks.h"

/* Append a list of integers as JSON. */
static void read_list(struct osc_builder *b, struct osc_arguments *a, osc_sid key,
                      const struct osc_packed *p)
{
    const unsigned char *at = p->bytes, *const end = p->bytes + p->n_bytes;
    struct osc_strbuf text = {0};
    int64_t v;

    osc_strbuf_addc(&text, '[');
    while (at != end && (at = osc_unpack_i64(at, end, &v)) != NULL) {
        if (text.len > 1)
            osc_strbuf_addc(&text, ',');
        osc_strbuf_addi(&text, v);
    }
    osc_strbuf_addc(&text, ']');
    if (text.status == OSC_OK)
        osc_arguments_add(b, a, key, OSC_ARG_TEXT,
                          osc_build_string(b, text.s, (uint32_t)text.len).v);
    else
        b->status = text.status;
    osc_strbuf_fini(&text);
}

bool osc_records_is_nested(struct osc_str text)
{
    struct osc_strbuf mended = {0};
    const bool is =
        text.len > 0 && (text.s[0] == '[' || text.s[0] == '{') && osc_json_check(text, &mended);

    osc_strbuf_fini(&mended);
    return is;
}

/* Whether TEXT is a number of JSON that a double can have: X. Integers that fit nowhere stay
 * text, with all their digits. */
static bool read_fraction(struct osc_str text, double *x)
{
    const char *const end = text.s + text.len;
    struct osc_json_number number;

    if (!osc_json_number(text.s, end, &number) || number.end != end || number.is_integer)
        return false;
    *x = osc_json_double(text.s, end);
    return isfinite(*x);
}

/* The value for an argument in JSON: a number becomes one, a list or an object is kept as it
 * is; anything else, malformed JSON too, becomes text. */
static struct osc_records_value json_value(struct osc_builder *b, osc_sid key,
                                           struct osc_str text)
{
    int64_t v;
    double x;

    if (osc_json_int(text, &v))
        return (struct osc_records_value){
            key, v >= INT32_MIN && v <= INT32_MAX ? OSC_ARG_INT32 : OSC_ARG_INT64, (uint64_t)v};
    if (read_fraction(text, &x)) {
        struct osc_records_value value = {key, OSC_ARG_DOUBLE, 0};

        memcpy(&value.bits, &x, sizeof x);
        return value;
    }
    return (struct osc_records_value){
        key, osc_records_is_nested(text) ? OSC_ARG_TEXT : OSC_ARG_STRING,
        osc_build_string(b, text.s, text.len).v};
}

static void add_value(struct osc_builder *b, struct osc_arguments *a,
                      struct osc_records_value v)
{
    osc_arguments_add(b, a, v.key, v.type, v.bits);
}

/* Whether arguments with KEY are kept. */
static bool is_wanted(const struct osc_loading *l, osc_sid key)
{
    return (!l->keep.is_scout || osc_loading_scouts(l, key)) &&
           (!l->no_args || osc_loading_needs(l, key));
}

/* Read the list of pairs NAME. Returns the index of its first value + 1. */
static uint32_t read_pairs(struct osc_builder *b, struct osc_records_names *names,
                           uint32_t name)
{
    const uint32_t first = (uint32_t)names->n_values;
    struct osc_str list, text;
    uint32_t pair[2];

    if (!osc_records_names_text(names, name, &list))
        (void)osc_records_name(names, name); /* counts it as lost */
    b->status =
        osc_build_grow(&names->values, &names->cap_values,
                       names->n_values + 1 + list.len / sizeof pair, sizeof *names->values);
    if (b->status != OSC_OK)
        return 0;
    names->n_values++;
    for (size_t at = 0; at + sizeof pair <= list.len; at += sizeof pair) {
        memcpy(pair, list.s + at, sizeof pair);
        const osc_sid key = osc_records_name(names, pair[0]);

        if (!is_wanted(b->loading, key))
            continue;
        names->values[names->n_values++] =
            osc_records_names_text(names, pair[1], &text)
                ? json_value(b, key, text)
                : (struct osc_records_value){key, OSC_ARG_STRING,
                                             osc_records_name(names, pair[1]).v};
    }
    names->values[first] = (struct osc_records_value){.bits = names->n_values - first - 1};
    return first + 1;
}

/* Append the pairs of NAME, which are parsed only once. */
static void add_pairs(struct osc_builder *b, struct osc_records_names *names,
                      struct osc_arguments *a, uint32_t name)
{
    uint32_t *const place = osc_idmap_put(&names->lists, name);

    if (!place) {
        b->status = OSC_ENOMEM;
        return;
    }
    if (*place == 0)
        *place = read_pairs(b, names, name);
    if (*place == 0)
        return;
    const struct osc_records_value *const first = &names->values[*place - 1];
    for (uint64_t i = 1; i <= first->bits; i++)
        add_value(b, a, first[i]);
}

void osc_records_args_read(struct osc_builder *b, struct osc_records_names *names,
                           struct osc_arguments *a, const struct osc_packed *p)
{
    if (p->kind == OSC_RECORD_ARGS) {
        add_pairs(b, names, a, (uint32_t)p->value);
        return;
    }
    const osc_sid key = osc_records_name(names, p->id);
    const struct osc_str bytes = {(const char *)p->bytes, p->n_bytes};

    if (!is_wanted(b->loading, key))
        return;
    switch (p->kind) {
    case OSC_RECORD_ARG_I64:
        osc_arguments_int(b, a, key, (int64_t)p->value);
        break;
    case OSC_RECORD_ARG_F64:
        osc_arguments_double(b, a, key, p->value);
        break;
    case OSC_RECORD_ARG_BOOL:
        osc_arguments_add(b, a, key, p->value ? OSC_ARG_TRUE : OSC_ARG_FALSE, 0);
        break;
    case OSC_RECORD_ARG_NAME:
        osc_arguments_add(b, a, key, OSC_ARG_STRING,
                          osc_records_name(names, (uint32_t)p->value).v);
        break;
    case OSC_RECORD_ARG_I64S:
        read_list(b, a, key, p);
        break;
    case OSC_RECORD_ARG_JSON:
        add_value(b, a, json_value(b, key, bytes));
        break;
    default: /* ARG_TEXT */
        osc_arguments_add(b, a, key, OSC_ARG_STRING, osc_build_string(b, bytes.s, bytes.len).v);
        break;
    }
}

void osc_records_args_stack(struct osc_builder *b, struct osc_records_stacks *stacks,
                            struct osc_arguments *a, const struct osc_packed *p)
{
    const osc_sid key = b->loading->keys[OSC_ARG_KEY_CALL_STACK];

    if (p->value > 0 && is_wanted(b->loading, key))
        osc_arguments_string(b, a, key, osc_records_stacks_text(stacks, b, p));
}
