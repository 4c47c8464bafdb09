/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path in plain C: for processors without a kernel, and to test the kernels against.
 */
#include "import/chrome/chrome_learn.h"

/* The bits of MASK are set from the lowest on, so MASK stands for a length. */
static inline bool fast_head(const char *p, const char *text, uint32_t mask)
{
    return memcmp(p, text, (size_t)__builtin_popcount(mask)) == 0;
}

/* Not memcmp(): the text may end, and zeros begin, before the literal does. */
static inline bool fast_tail(const char *p, const char *literal, uint32_t len)
{
    return strncmp(p + 32, literal + 32, len - 32) == 0;
}

static inline bool fast_same(const char *a, const char *b, uint32_t len)
{
    return memcmp(a, b, len) == 0;
}

static inline char *fast_to_quote(char *p)
{
    while (*p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
        p++;
    return p;
}

static inline uint32_t fast_brackets(const char *p)
{
    uint32_t m = 0;
    for (uint32_t i = 0; i < 32; i++)
        if (p[i] == '[' || p[i] == ']' || p[i] == '{' || p[i] == '}' || p[i] == '"' ||
            (unsigned char)p[i] < 0x20)
            m |= UINT32_C(1) << i;
    return m;
}

#define FAST_NAME osc_chrome_fast_plain
#include "import/chrome/chrome_fast.inc"
