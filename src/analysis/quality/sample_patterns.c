/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/quality/sample_patterns.h"

#include "wire/record.h"

void osc_sample_patterns_add(struct osc_sample_patterns *p, struct osc_str pattern)
{
    if (p->n < OSC_SAMPLE_PATTERNS)
        p->v[p->n++] = (struct osc_sample_pattern){.text = pattern};
}

/* Whether osc_sample() applies to rows of F that are of KIND. */
static bool is_sampled_kind(const struct osc_form *f, enum osc_kind kind)
{
    return kind == OSC_KIND_SCOPE &&
           (f->shape == OSC_SHAPE_RANGE || f->shape == OSC_SHAPE_BEGIN);
}

/* A name counts for every pattern that is for it: it is no mistake in one that another hides.
 */
static void add_row(struct osc_sample_patterns *p, const struct osc_trace *t,
                    const struct osc_chunk *c, uint32_t i)
{
    const struct osc_str name = osc_row_name(t, c, i);
    const enum osc_kind kind = (enum osc_kind)c->kind[i];
    const bool is_sampled = is_sampled_kind(osc_row_form(t, c, i), kind);

    for (uint32_t k = 0; k < p->n; k++) {
        struct osc_sample_pattern *const pattern = &p->v[k];

        if (!osc_str_fits(name, pattern->text))
            continue;
        if (is_sampled)
            pattern->has_sampled = true;
        else if (!pattern->other)
            pattern->other = kind == OSC_KIND_SCOPE ? "asynchronous" : osc_kind_text(kind);
    }
}

void osc_sample_patterns_look(struct osc_sample_patterns *p, const struct osc_trace *t)
{
    for (uint32_t k = 1; k < t->events.n_chunks && p->n > 0; k++)
        for (uint32_t i = 0; i < t->events.chunks[k]->n_rows; i++)
            add_row(p, t, t->events.chunks[k], i);
}

#define FACT_LIST(X)                                                                \
    X(name, TEXT, 0)                                                                \
    X(kind, TEXT, 0)    /* of what is called so */                                  \
    X(is_file, FLAG, 0) /* of one process */                                        \
    X(why, PHRASE,                                                                  \
      "{kind?{name} ({kind}) is of a kind that is not sampled: all its calls were " \
      "recorded|no scope is called {name}{is_file? in this process}}")
OSC_PROSE(osc_sample_patterns_prose, FACT_LIST);

bool osc_sample_pattern_why(const struct osc_sample_pattern *pattern, bool is_file,
                            struct osc_strbuf *text)
{
    struct osc_prose_facts facts = {.prose = &osc_sample_patterns_prose};

    if (pattern->has_sampled)
        return false;
    osc_prose_text(&facts, FACT_name, pattern->text);
    if (pattern->other)
        osc_prose_text(&facts, FACT_kind, osc_str_c(pattern->other));
    osc_prose_flag(&facts, FACT_is_file, is_file);
    osc_prose_say(text, &facts, FACT_why);
    return true;
}

/* The patterns that T says its recorder followed; "1" is the rule to record all. */
static void read_patterns(const struct osc_trace *t, struct osc_sample_patterns *p)
{
    const struct osc_str prefix = OSC_STR(OSC_RECORD_FACT_SAMPLE);

    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct osc_str key = osc_trace_str(t, t->metas[i].key);

        if (osc_str_starts(key, prefix) &&
            !osc_str_eq(osc_trace_str(t, t->metas[i].value), OSC_STR("1")))
            osc_sample_patterns_add(p,
                                    (struct osc_str){key.s + prefix.len, key.len - prefix.len});
    }
}

void osc_sample_patterns_each(const struct osc_trace *t, osc_quality_found *add, void *data)
{
    const struct osc_finding once = {1, OSC_NO_OFFSET, OSC_NO_TIME, OSC_NO_TIME};
    struct osc_sample_patterns patterns = {.n = 0};
    struct osc_strbuf text = {0};

    if (t->is_selected || t->is_partial || t->is_windowed || t->goes_on)
        return;
    read_patterns(t, &patterns);
    osc_sample_patterns_look(&patterns, t);
    for (uint32_t i = 0; i < patterns.n; i++) {
        osc_strbuf_clear(&text);
        if (osc_sample_pattern_why(&patterns.v[i], true, &text) && text.status == OSC_OK)
            add(data, osc_strbuf_str(&text), &once);
    }
    osc_strbuf_fini(&text);
}
