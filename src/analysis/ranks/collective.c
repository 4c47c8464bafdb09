/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/collective.h"

#include <string.h>

#include "analysis/dtypes.h"
#include "base/wide.h"
#include "codec/json.h"

#define NAME_MAX_BYTES 256 /* of a name that is examined */

/* What a name contains, in lower case without '_' and '-': the first that it has counts. */
static const struct {
    const char *word;
    enum osc_collective op;
} words[] = {
    {"allreduce", OSC_COLLECTIVE_ALL_REDUCE},
    {"crossdevicereduce", OSC_COLLECTIVE_ALL_REDUCE},
    {"quickreduce", OSC_COLLECTIVE_ALL_REDUCE},
    {"allgather", OSC_COLLECTIVE_ALL_GATHER},
    {"reducescatter", OSC_COLLECTIVE_REDUCE_SCATTER},
    {"alltoallv", OSC_COLLECTIVE_ALL_TO_ALLV},
    {"alltoall", OSC_COLLECTIVE_ALL_TO_ALL},
    {"sendrecv", OSC_COLLECTIVE_SEND_RECV},
    {"broadcast", OSC_COLLECTIVE_BROADCAST},
    {"bcast", OSC_COLLECTIVE_BROADCAST},
    {"barrier", OSC_COLLECTIVE_BARRIER},
    {"scatter", OSC_COLLECTIVE_SCATTER},
    {"gather", OSC_COLLECTIVE_GATHER},
    {"reduce", OSC_COLLECTIVE_REDUCE},
    {"send", OSC_COLLECTIVE_SEND},
    {"recv", OSC_COLLECTIVE_RECV},
};

enum osc_collective osc_collective_of(struct osc_str name)
{
    char plain[NAME_MAX_BYTES + 1];
    size_t n = 0;

    for (uint32_t i = 0; i < name.len && n < NAME_MAX_BYTES; i++) {
        const char c = name.s[i];

        if (c == '_' || c == '-')
            continue;
        plain[n] = c;
        if (c >= 'A' && c <= 'Z')
            plain[n] = (char)(c - 'A' + 'a');
        n++;
    }
    plain[n] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (memmem(plain, n, words[i].word, strlen(words[i].word)))
            return words[i].op;
    }
    return OSC_COLLECTIVE_OTHER;
}

static const struct {
    const char *name;
    bool joins, is_even;
    enum { NONE, WHOLE, SHARE, TWICE } factor;
} operations[] = {
#define OPERATION(name, text, joins, even, factor) {text, joins, even, factor},
    OSC_COLLECTIVE_LIST(OPERATION)
#undef OPERATION
};

struct osc_str osc_collective_name(enum osc_collective op)
{
    return osc_str_c(operations[op].name);
}

bool osc_collective_joins(enum osc_collective op)
{
    return operations[op].joins;
}

bool osc_collective_is_even(enum osc_collective op)
{
    return operations[op].is_even;
}

/* --- sizes ------------------------------------------------------------------------------ */

static bool is_list(struct osc_str value)
{
    return value.len >= 2 && value.s[0] == '[';
}

/* The number of elements of a tensor of the sizes DIMS, a flat JSON list; -1: not known. */
static int64_t elements_of(struct osc_str dims)
{
    struct osc_str value;
    int64_t n = 1, dim;

    while (osc_json_next(&dims, &value)) {
        if (!osc_json_int(value, &dim) || dim < 0 || __builtin_mul_overflow(n, dim, &n))
            return -1;
    }
    return n;
}

/* Add to *BYTES the size of an input of the sizes DIMS and of TYPE. False: not known. */
static bool add_input(struct osc_str dims, struct osc_str type, int64_t *bytes)
{
    const int64_t each = osc_dtype_bytes(type);
    struct osc_str rest = dims, first;
    const bool is_empty = !osc_json_next(&rest, &first);
    int64_t own;

    if (each == 0) /* no tensor, unless it has sizes */
        return is_empty;
    if (!is_empty && is_list(first))
        return false;
    own = elements_of(dims);
    return own >= 0 && !__builtin_mul_overflow(own, each, &own) &&
           !__builtin_add_overflow(*bytes, own, bytes);
}

int64_t osc_collective_input_bytes(struct osc_str dims, struct osc_str types)
{
    struct osc_str sizes, type;
    int64_t bytes = 0;
    bool is_any = false;

    while (osc_json_next(&dims, &sizes)) {
        if (!osc_json_next(&types, &type) || !add_input(sizes, osc_json_bare(type), &bytes))
            return -1;
        is_any = is_any || osc_dtype_bytes(osc_json_bare(type)) > 0;
    }
    return is_any ? bytes : -1;
}

struct osc_str osc_collective_input_type(struct osc_str types)
{
    struct osc_str type;

    while (osc_json_next(&types, &type)) {
        if (osc_dtype_bytes(osc_json_bare(type)) > 0)
            return osc_json_bare(type);
    }
    return OSC_STR("");
}

double osc_collective_bus_factor(enum osc_collective op, uint32_t n)
{
    const double share = n > 0 ? (double)(n - 1) / n : 0;

    switch (operations[op].factor) {
    case TWICE:
        return 2 * share;
    case SHARE:
        return share;
    case WHOLE:
        return 1;
    case NONE:
        break;
    }
    return 0;
}
