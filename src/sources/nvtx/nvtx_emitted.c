/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/nvtx/nvtx_emitted.h"

#include <string.h>

#include "sources/source_text.h"

/* The value of KEY in the text from S to END, which must begin with a digit or a bracket; NULL:
 * it has none. */
static const char *find_value(const char *s, const char *end, const char *key)
{
    const size_t n = strlen(key);
    const char *const at = memmem(s, (size_t)(end - s), key, n);

    return at && at + n < end && (at[n] == '[' || (at[n] >= '0' && at[n] <= '9')) ? at + n
                                                                                  : NULL;
}

struct osc_nvtx_emitted osc_nvtx_parse_emitted(const char *s, size_t len)
{
    struct osc_nvtx_emitted e = {.sequence = -1};
    const char *const end = s + len;
    const char *const comma = memmem(s, len, ", ", 2);
    const char *const seq = comma ? find_value(comma, end, ", seq = ") : NULL;
    const char *const op = comma ? find_value(comma, end, ", op_id = ") : NULL;

    if (!comma || comma == s)
        return e;
    e.is_operator = osc_text_reads_as_operator(s, (size_t)(comma - s));
    if (!op && !(seq && e.is_operator))
        return e;
    e.name_len = (size_t)(comma - s);
    for (const char *p = seq; p && p < end && *p >= '0' && *p <= '9' && p - seq < 18; p++)
        e.sequence = (e.sequence < 0 ? 0 : e.sequence) * 10 + (*p - '0');
    const char *const sizes = find_value(comma, end, ", sizes = ");
    const char *stop = sizes;
    int depth = 0;
    for (; stop && *stop && stop < end; stop++) {
        depth += (*stop == '[') - (*stop == ']');
        if (depth == 0)
            break;
    }
    if (sizes && *sizes == '[' && stop < end) {
        e.sizes = sizes;
        e.sizes_len = (size_t)(stop - sizes) + 1;
    }
    return e;
}
