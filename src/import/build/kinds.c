/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/kinds.h"

#include "base/mem.h"
#include "base/thread.h"
#include "model/known_names.h"

/* What decides the kinds of the rows of a form. */
enum form_rule {
    RULE_PLAIN,  /* the kind of the form */
    RULE_NAMED,  /* the name of each row */
    RULE_MODULE, /* nothing: all are modules */
};

struct setting {
    struct osc_trace *t;
    uint8_t *labels; /* owned; enum osc_kind, by string */
    uint8_t *rules;  /* owned; by form */
    uint32_t n_strings;
};

/* Strings are classified in parts of 2^PART_SHIFT. */
#define PART_SHIFT 16

static void find_labels(void *ctx, uint32_t part)
{
    struct setting *const s = ctx;
    const struct osc_strings *const strings = &s->t->strings;
    const uint32_t from = part << PART_SHIFT, left = s->n_strings - from;
    const uint32_t to = left > 1u << PART_SHIFT ? from + (1u << PART_SHIFT) : s->n_strings;

    for (uint32_t i = from; i < to; i++)
        s->labels[i] = (uint8_t)(osc_strings_has(strings, (osc_sid){i})
                                     ? osc_known_label(osc_strings_get(strings, (osc_sid){i}))
                                     : OSC_KIND_NONE);
}

static void set_chunk(void *ctx, uint32_t at)
{
    const struct setting *const s = ctx;
    struct osc_chunk *const k = s->t->events.chunks[at + 1];

    for (uint32_t i = 0; i < k->n_rows; i++) {
        const uint32_t form = k->form[i];
        enum osc_kind kind = (enum osc_kind)s->t->forms[form].kind;

        if (s->rules[form] == RULE_NAMED)
            kind = osc_known_kind(kind, (enum osc_kind)s->labels[k->name[i]]);
        else if (s->rules[form] == RULE_MODULE)
            kind = OSC_KIND_MODULE;
        k->kind[i] = (uint8_t)kind;
    }
}

static enum form_rule rule_of(const struct osc_form *f)
{
    const int16_t module = f->known[OSC_ARG_KEY_PYTHON_MODULE_ID];

    if (!f->is_device && (f->kind == OSC_KIND_OPERATOR || f->kind == OSC_KIND_ANNOTATION))
        return RULE_NAMED;
    return f->is_frame && f->kind == OSC_KIND_PYTHON && module >= 0 &&
                   f->slots[module].type != OSC_ARG_NULL
               ? RULE_MODULE
               : RULE_PLAIN;
}

osc_status osc_kinds_set(struct osc_trace *t, unsigned n_threads)
{
    struct setting s = {.t = t, .n_strings = osc_strings_bound(&t->strings)};
    osc_status st = OSC_ENOMEM;
    bool any_named = false;

    s.labels = osc_malloc(s.n_strings);
    s.rules = osc_calloc(t->n_forms, 1);
    if (!s.labels || !s.rules)
        goto out;
    for (uint32_t i = 1; i < t->n_forms; i++) {
        s.rules[i] = (uint8_t)rule_of(&t->forms[i]);
        any_named |= s.rules[i] == RULE_NAMED;
    }
    if (any_named)
        osc_parallel(n_threads, (s.n_strings + (1u << PART_SHIFT) - 1) >> PART_SHIFT,
                     find_labels, &s);
    if (t->events.n_chunks > 1)
        osc_parallel(n_threads, t->events.n_chunks - 1, set_chunk, &s);
    st = OSC_OK;
out:
    osc_free(s.labels);
    osc_free(s.rules);
    return st;
}
