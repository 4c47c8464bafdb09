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

/* Whether WORDS, separated by blanks, contain WORD. */
static bool has_word(const char *words, const char *word)
{
    bool has = false;

    while (*words && !has) {
        const size_t len = strcspn(words, " ");

        has = strlen(word) == len && memcmp(words, word, len) == 0;
        words += len + (words[len] == ' ');
    }
    return has;
}

osc_status osc_option_parse(const struct osc_table_option *option, const char *text,
                            struct osc_option_value *v, struct osc_err *err)
{
    const bool is_switch = option->kind == OSC_OPTION_SWITCH;
    bool is_valid = true;

    *v = (struct osc_option_value){option, text ? text : "", 0};
    if (is_switch != (text == NULL))
        return osc_fail(err, OSC_EINVAL,
                        is_switch ? "option '--%s' takes no argument"
                                  : "option '--%s' needs an argument",
                        option->name);
    switch (option->kind) {
    case OSC_OPTION_SWITCH:
        break;
    case OSC_OPTION_TEXT:
        is_valid = !option->is_valid || option->is_valid(text);
        break;
    case OSC_OPTION_WORD:
        is_valid = has_word(option->words, text);
        break;
    case OSC_OPTION_TIME:
        is_valid = osc_parse_time(text, &v->number);
        break;
    case OSC_OPTION_WHOLE:
        is_valid = osc_parse_whole(text, 0, INT64_MAX, &v->number);
        break;
    }
    return is_valid ? OSC_OK
                    : osc_fail(err, OSC_EINVAL, "--%s: '%s' is %s", option->name, text,
                               option->kind == OSC_OPTION_TIME
                                   ? "not a time; use 10us, 1.5ms, 2s or plain ns"
                                   : option->expected);
}

bool osc_options_name_time(const struct osc_options *o)
{
    bool names = false;

    for (uint32_t i = 0; i < o->n_own; i++)
        names = names || o->own[i].option->kind == OSC_OPTION_TIME;
    return names;
}
