/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/shapes.h"

#include "codec/json.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct osc_str trim(struct osc_str s)
{
    while (s.len > 0 && is_blank(s.s[0]))
        s = (struct osc_str){s.s + 1, s.len - 1};
    while (s.len > 0 && is_blank(s.s[s.len - 1]))
        s.len--;
    return s;
}

/* Set *LIST to TEXT without blanks around it; false if it is not a list with an end. */
static bool open_list(struct osc_str text, struct osc_str *list)
{
    *list = trim(text);
    return list->len >= 2 && list->s[0] == '[' && list->s[list->len - 1] == ']';
}

/* Write a scalar as Python does. */
static void add_scalar(struct osc_str s, struct osc_strbuf *out)
{
    if (osc_str_eq(s, OSC_STR("null")))
        osc_strbuf_adds(out, "None");
    else if (osc_str_eq(s, OSC_STR("true")))
        osc_strbuf_adds(out, "True");
    else if (osc_str_eq(s, OSC_STR("false")))
        osc_strbuf_adds(out, "False");
    else
        osc_strbuf_addstr(out, s);
}

/* Write the sizes of one input; nothing for a list of tensors. */
static void add_sizes(struct osc_str list, struct osc_strbuf *out)
{
    struct osc_str element;

    osc_strbuf_addc(out, '[');
    if (memchr(list.s + 1, '[', list.len - 1) == NULL) {
        for (const char *comma = ""; osc_json_next(&list, &element); comma = ", ") {
            osc_strbuf_adds(out, comma);
            add_scalar(element, out);
        }
    }
    osc_strbuf_addc(out, ']');
}

void osc_shapes_text(struct osc_str dims, struct osc_strbuf *out)
{
    struct osc_str rest, element, sizes;

    osc_strbuf_addc(out, '[');
    if (open_list(dims, &rest)) {
        for (const char *comma = ""; osc_json_next(&rest, &element); comma = ", ") {
            osc_strbuf_adds(out, comma);
            if (open_list(element, &sizes))
                add_sizes(sizes, out);
            else
                add_scalar(element, out);
        }
    }
    osc_strbuf_addc(out, ']');
}

static bool add_dim(struct osc_str s, struct osc_shape *shape)
{
    if (shape->n_dims == OSC_SHAPE_DIMS_MAX || !osc_json_int(s, &shape->dims[shape->n_dims]))
        return false;
    shape->n_dims++;
    return true;
}

bool osc_shapes_element(struct osc_str list, uint32_t index, struct osc_shape *shape)
{
    struct osc_str rest, element, dim;

    shape->n_dims = 0;
    if (!open_list(list, &rest))
        return false;
    for (uint32_t i = 0; i <= index; i++) {
        if (!osc_json_next(&rest, &element))
            return false;
    }
    if (element.len >= 2 && element.s[0] == '"' && element.s[element.len - 1] == '"')
        element = trim((struct osc_str){element.s + 1, element.len - 2});
    if (!open_list(element, &rest))
        return add_dim(element, shape);
    while (osc_json_next(&rest, &dim)) {
        if (!add_dim(dim, shape))
            return false;
    }
    return true;
}
