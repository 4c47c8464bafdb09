/* SPDX-License-Identifier: Apache-2.0 */
#include "table/question.h"

#include <string.h>

#include "base/shell.h"
#include "codec/json.h"

void osc_question_begin(struct osc_strbuf *q, const char *command, const char *table)
{
    osc_question_add(q, command, table);
}

void osc_question_add(struct osc_strbuf *q, const char *name, const char *value)
{
    if (value) {
        osc_question_add_str(q, name, osc_str_c(value));
        return;
    }
    osc_strbuf_adds(q, name);
    osc_strbuf_addc(q, '\0');
}

void osc_question_add_str(struct osc_strbuf *q, const char *name, struct osc_str value)
{
    osc_strbuf_addf(q, "%s=", name);
    osc_strbuf_addstr(q, value);
    osc_strbuf_addc(q, '\0');
}

/* Append NUMBER of UNIT. */
static void add_number(struct osc_strbuf *q, const char *name, int64_t number, const char *unit)
{
    osc_strbuf_addf(q, "%s=%lld%s", name, (long long)number, unit);
    osc_strbuf_addc(q, '\0');
}

void osc_question_add_number(struct osc_strbuf *q, const char *name, int64_t value)
{
    add_number(q, name, value, "");
}

void osc_question_add_view(struct osc_strbuf *q, const struct osc_view *view, const char *unit)
{
    static const struct osc_view all;
    const struct osc_view *const v = view ? view : &all;
    const struct {
        const char *name, *value;
    } texts[] = {{"process", v->process}, {"thread", v->thread}, {"device", v->device},
                 {"steps", v->steps},     {"rank", v->ranks},    {"span", v->spans}};
    const size_t n = sizeof texts / sizeof *texts, n_inside = n - 2;

    for (size_t i = 0; i < n_inside; i++) {
        if (texts[i].value)
            osc_question_add(q, texts[i].name, texts[i].value);
    }
    if (v->has_from)
        add_number(q, "from", v->from_ns, unit);
    if (v->has_to)
        add_number(q, "to", v->to_ns, unit);
    for (size_t i = n_inside; i < n; i++) {
        if (texts[i].value)
            osc_question_add(q, texts[i].name, texts[i].value);
    }
}

bool osc_question_next(struct osc_str *q, struct osc_question_word *word)
{
    const char *const end = q->len > 0 ? memchr(q->s, '\0', q->len) : NULL;

    if (!end)
        return false;
    const uint32_t len = (uint32_t)(end - q->s);
    const char *const cut = memchr(q->s, '=', len);

    *word = (struct osc_question_word){.name = {q->s, cut ? (uint32_t)(cut - q->s) : len},
                                       .has_value = cut != NULL};
    if (cut)
        word->value = (struct osc_str){cut + 1, (uint32_t)(end - cut - 1)};
    q->s += len + 1;
    q->len -= len + 1;
    return true;
}

struct osc_str osc_question_get(struct osc_str q, const char *name)
{
    struct osc_question_word word;

    while (osc_question_next(&q, &word)) {
        if (osc_str_eq(word.name, osc_str_c(name)))
            return word.value;
    }
    return (struct osc_str){0};
}

/* Append WORD as an option of a command line. */
static void print_option(struct osc_strbuf *out, const struct osc_question_word *word)
{
    osc_strbuf_adds(out, word->name.len == 1 ? " -" : " --");
    osc_strbuf_addstr(out, word->name);
    if (!word->has_value)
        return;
    /* The value ends in NUL. One like an option must be in the same word. */
    osc_strbuf_addc(out, strncmp(word->value.s, "--", 2) == 0 ? '=' : ' ');
    if (osc_str_eq(word->name, OSC_STR("where")))
        osc_shell_add_expression(out, word->value.s);
    else
        osc_shell_add_word(out, word->value.s);
}

void osc_question_print_options(struct osc_strbuf *out, struct osc_str options)
{
    struct osc_question_word word;

    while (osc_question_next(&options, &word))
        print_option(out, &word);
}

void osc_question_print(struct osc_strbuf *out, struct osc_str q)
{
    struct osc_question_word word;

    if (!osc_question_next(&q, &word))
        return;
    osc_strbuf_adds(out, "opscope ");
    osc_strbuf_addstr(out, word.name);
    if (word.has_value) {
        osc_strbuf_addc(out, ' ');
        osc_strbuf_addstr(out, word.value);
    }
    osc_question_print_options(out, q);
}

void osc_question_json_options(struct osc_strbuf *out, struct osc_str options)
{
    struct osc_question_word word;

    osc_strbuf_addc(out, '{');
    for (const char *before = ""; osc_question_next(&options, &word); before = ", ") {
        osc_strbuf_adds(out, before);
        osc_json_quote(out, word.name);
        osc_strbuf_adds(out, ": ");
        if (word.has_value)
            osc_json_quote(out, word.value);
        else
            osc_strbuf_adds(out, "true");
    }
    osc_strbuf_addc(out, '}');
}

void osc_question_json(struct osc_strbuf *out, struct osc_str q)
{
    struct osc_question_word word;

    if (!osc_question_next(&q, &word) || !osc_str_eq(word.name, OSC_STR("table")) ||
        !word.has_value) {
        osc_strbuf_adds(out, "null");
        return;
    }
    osc_strbuf_adds(out, "{\"table\": ");
    osc_json_quote(out, word.value);
    osc_strbuf_adds(out, ", \"options\": ");
    osc_question_json_options(out, q);
    osc_strbuf_addc(out, '}');
}
