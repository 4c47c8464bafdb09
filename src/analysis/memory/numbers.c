/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/numbers.h"

#include "derive/args.h"

#define NUMBERS_MAX 16384u /* of a list: a hostile file has endless ones */

struct osc_numbers osc_numbers_of(const struct osc_trace *t, const struct osc_chunk *c,
                                  uint32_t i, enum osc_arg_key key)
{
    struct osc_arg arg;

    if (!osc_row_arg(t, c, i, key, &arg) || arg.type != OSC_ARG_TEXT)
        return (struct osc_numbers){NULL, NULL, 0};
    const struct osc_str text = osc_trace_str(t, arg.sid);
    if (text.len == 0 || text.s[0] != '[')
        return (struct osc_numbers){NULL, NULL, 0};
    return (struct osc_numbers){text.s + 1, text.s + text.len, 0};
}

bool osc_numbers_next(struct osc_numbers *n, bool *is_negative, uint64_t *value)
{
    uint64_t v = 0;

    if (!n->at || n->n++ == NUMBERS_MAX)
        return false;
    while (n->at < n->end && (*n->at == ' ' || *n->at == ','))
        n->at++;
    *is_negative = n->at < n->end && *n->at == '-';
    n->at += *is_negative;
    if (n->at >= n->end || *n->at < '0' || *n->at > '9')
        return false;
    for (; n->at < n->end && *n->at >= '0' && *n->at <= '9'; n->at++) {
        const uint64_t digit = (uint64_t)(*n->at - '0');

        if (v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *value = v;
    return true;
}
