/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path in plain C: for processors without a kernel, and the twin of those. */
#include "import/chrome_learn.h"

static inline bool fast_equal(const char *p, const char *literal, uint32_t len)
{
    return memcmp(p, literal, len < 32 ? len : 32) == 0 &&
           (len <= 32 || strncmp(p + 32, literal + 32, len - 32) == 0);
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
