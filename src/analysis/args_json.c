/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/args_json.h"

#include <math.h>
#include <string.h>

#include "codec/json.h"

/* A whole number keeps ".0", so that it reads back as a double. */
static void add_double(struct osc_strbuf *out, double v)
{
    const size_t start = out->len;

    if (!isfinite(v)) {
        osc_strbuf_addc(out, '"');
        osc_strbuf_addd(out, v);
        osc_strbuf_addc(out, '"');
        return;
    }
    osc_strbuf_addd(out, v);
    if (out->status == OSC_OK && !memchr(out->s + start, '.', out->len - start) &&
        !memchr(out->s + start, 'e', out->len - start))
        osc_strbuf_adds(out, ".0");
}

static void add_numtext(struct osc_strbuf *out, struct osc_str s)
{
    struct osc_json_number n;

    if (osc_json_number(s.s, s.s + s.len, &n) && n.end == s.s + s.len)
        osc_strbuf_addstr(out, s);
    else
        osc_json_quote(out, s);
}

/* Write a list or an object, checked first: readers accept text that only looks like JSON. */
static void add_text(struct osc_args_json *s, const struct osc_trace *t, osc_sid id)
{
    const struct osc_str text = osc_trace_str(t, id);
    uint32_t *const is_right = osc_idmap_put(&s->right, id.v);
    const size_t before = s->text.len;

    if (!is_right) {
        s->text.status = OSC_ENOMEM;
    } else if (*is_right) {
        osc_strbuf_addstr(&s->text, text);
    } else if (!osc_json_check(text, &s->text)) {
        osc_json_quote(&s->text, text);
    } else if (s->text.len == before) {
        *is_right = 1;
        osc_strbuf_addstr(&s->text, text);
    }
}

static void add_arg(struct osc_args_json *s, const struct osc_trace *t, struct osc_arg arg)
{
    struct osc_strbuf *const out = &s->text;

    switch (arg.type) {
    case OSC_ARG_NULL:
        osc_strbuf_adds(out, "null");
        break;
    case OSC_ARG_TRUE:
        osc_strbuf_adds(out, "true");
        break;
    case OSC_ARG_FALSE:
        osc_strbuf_adds(out, "false");
        break;
    case OSC_ARG_INT32:
    case OSC_ARG_INT64:
        osc_strbuf_addi(out, arg.i);
        break;
    case OSC_ARG_DOUBLE:
        add_double(out, arg.d);
        break;
    case OSC_ARG_STRING:
        osc_json_quote(out, osc_trace_str(t, arg.sid));
        break;
    case OSC_ARG_TEXT:
        add_text(s, t, arg.sid);
        break;
    case OSC_ARG_NUMTEXT:
        add_numtext(out, osc_trace_str(t, arg.sid));
        break;
    }
}

bool osc_args_json_write(struct osc_args_json *s, const struct osc_trace *t,
                         const struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *f = &t->forms[c->form[i]];
    const char *sep = "";

    if (!f->has_args)
        return false;
    osc_strbuf_clear(&s->text);
    osc_strbuf_addc(&s->text, '{');
    for (uint32_t k = 0; k < f->n_slots; k++) {
        if (f->slots[k].is_member)
            continue;
        osc_strbuf_adds(&s->text, sep);
        osc_json_quote(&s->text, osc_trace_str(t, f->slots[k].key));
        osc_strbuf_adds(&s->text, ": ");
        add_arg(s, t, osc_row_slot(t, c, i, k));
        sep = ", ";
    }
    osc_strbuf_addc(&s->text, '}');
    return true;
}

void osc_args_json_fini(struct osc_args_json *s)
{
    osc_strbuf_fini(&s->text);
    osc_idmap_fini(&s->right);
}
