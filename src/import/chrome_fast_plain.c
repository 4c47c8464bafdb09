/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path in plain C: for processors without a kernel, and the twin of those. */
#include "import/chrome_learn.h"

/* The bits of a mask are set from the lowest on: it is as good as a length. */
static inline bool fast_head(const char *p, const char *text, uint32_t mask)
{
    return memcmp(p, text, (size_t)__builtin_popcount(mask)) == 0;
}

static inline bool fast_equal(const char *p, const char *literal, uint32_t len)
{
    return strncmp(p, literal, len) == 0;
}

static inline char *fast_to_quote(char *p)
{
    while (*p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
        p++;
    return p;
}

static inline char *fast_to_bracket(char *p)
{
    while (*p != '[' && *p != ']' && *p != '{' && *p != '}' && *p != '"' &&
           (unsigned char)*p >= 0x20)
        p++;
    return p;
}

#define FAST_NAME osc_chrome_fast_plain
#include "import/chrome_fast.inc"
