/* SPDX-License-Identifier: Apache-2.0 */
#include "table/own_options.h"

#include <string.h>

#include "base/parse.h"

const struct osc_option_value *osc_option_get(const struct osc_options *o,
                                              const struct osc_table_option *option)
{
    for (uint32_t i = 0; i < o->n_own; i++) {
        if (o->own[i].option == option)
            return &o->own[i];
    }
    return NULL;
}

/* Whether WORDS, separated by blanks, contain WORD; *N receives how many there are. */
static bool has_word(const char *words, const char *word, size_t *n)
{
    bool has = false;

    for (*n = 0; *words; ++*n) {
        const size_t len = strcspn(words, " ");

        has = has || (strlen(word) == len && memcmp(words, word, len) == 0);
        words += len + (words[len] == ' ');
    }
    return has;
}

/* Say that TEXT is none of the words of OPTION, of which there are N. */
static osc_status wrong_word(const struct osc_table_option *option, const char *text, size_t n,
                             struct osc_err *err)
{
    const char *word = option->words;
    struct osc_strbuf list = {0};

    for (size_t i = 0; i < n; i++) {
        const int len = (int)strcspn(word, " ");

        osc_strbuf_addf(&list, n == 1 ? "'%s%.*s'" : "%s%.*s",
                        i == 0   ? ""
                        : n == 2 ? " nor "
                                 : ", ",
                        len, word);
        word += len + (word[len] == ' ');
    }
    const osc_status st =
        list.status == OSC_OK
            ? osc_fail(err, OSC_EINVAL, "--%s: '%s' is %s %s", option->name, text,
                       n == 1   ? "not"
                       : n == 2 ? "neither"
                                : "none of",
                       list.s)
            : osc_fail(err, list.status, "out of memory");
    osc_strbuf_fini(&list);
    return st;
}

osc_status osc_option_parse(const struct osc_table_option *option, const char *text,
                            struct osc_option_value *v, struct osc_err *err)
{
    const bool is_switch = option->kind == OSC_OPTION_SWITCH;
    size_t n;

    *v = (struct osc_option_value){option, text ? text : "", 0};
    if (is_switch != (text == NULL))
        return osc_fail(err, OSC_EINVAL,
                        is_switch ? "option '--%s' takes no argument"
                                  : "option '--%s' needs an argument",
                        option->name);
    switch (option->kind) {
    case OSC_OPTION_SWITCH:
        return OSC_OK;
    case OSC_OPTION_TEXT:
        return !option->is_valid || option->is_valid(text)
                   ? OSC_OK
                   : osc_fail(err, OSC_EINVAL, "--%s: '%s' is %s", option->name, text,
                              option->expected);
    case OSC_OPTION_WORD:
        return has_word(option->words, text, &n) ? OSC_OK : wrong_word(option, text, n, err);
    case OSC_OPTION_TIME:
        return osc_parse_time(text, &v->number)
                   ? OSC_OK
                   : osc_fail(err, OSC_EINVAL,
                              "--%s: '%s' is not a time; use 10us, 1.5ms, 2s or plain ns",
                              option->name, text);
    case OSC_OPTION_WHOLE:
        return osc_parse_whole(text, 0, INT64_MAX, &v->number)
                   ? OSC_OK
                   : osc_fail(err, OSC_EINVAL, "--%s: '%s' is %s", option->name, text,
                              option->expected);
    }
    return OSC_EINVAL;
}

bool osc_options_name_time(const struct osc_options *o)
{
    bool names = false;

    for (uint32_t i = 0; i < o->n_own; i++)
        names = names || o->own[i].option->kind == OSC_OPTION_TIME;
    return names;
}
