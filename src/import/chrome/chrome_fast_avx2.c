/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path with AVX2: 32 bytes at a time. Compiled with -mavx2 -mbmi2. */
#include "import/chrome/chrome_learn.h"

#if defined(__AVX2__)
#include <immintrin.h>

static inline __m256i load32(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline uint32_t equal_mask(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b));
}

static inline bool fast_head(const char *p, const char *text, uint32_t mask)
{
    return (~equal_mask(load32(p), load32(text)) & mask) == 0;
}

/* Compare the bytes after the first 32; LEN is more than 32. */
static inline bool fast_tail(const char *p, const char *literal, uint32_t len)
{
    for (uint32_t i = 32; i + 32 < len; i += 32)
        if (equal_mask(load32(p + i), load32(literal + i)) != UINT32_MAX)
            return false;
    return equal_mask(load32(p + len - 32), load32(literal + len - 32)) == UINT32_MAX;
}

/* Compare LEN bytes, at least 32. */
static inline bool fast_same(const char *a, const char *b, uint32_t len)
{
    for (uint32_t i = 0; i + 32 < len; i += 32)
        if (equal_mask(load32(a + i), load32(b + i)) != UINT32_MAX)
            return false;
    return equal_mask(load32(a + len - 32), load32(b + len - 32)) == UINT32_MAX;
}

static inline __m256i quote_hits(const char *p)
{
    const __m256i v = load32(p);
    return _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('"')),
                                           _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\\'))),
                           _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(0x1f)), v));
}

static inline char *fast_to_quote(char *p)
{
    uint32_t mask = (uint32_t)_mm256_movemask_epi8(quote_hits(p));
    while (mask == 0) {
        p += 32;
        mask = (uint32_t)_mm256_movemask_epi8(quote_hits(p));
    }
    return p + __builtin_ctz(mask);
}

static inline uint32_t fast_brackets(const char *p)
{
    const __m256i quote = _mm256_set1_epi8('"'), case_bit = _mm256_set1_epi8(0x20);
    const __m256i open = _mm256_set1_epi8('{'), close = _mm256_set1_epi8('}');
    const __m256i low = _mm256_set1_epi8(0x1f);

    const __m256i v = load32(p);
    const __m256i folded = _mm256_or_si256(v, case_bit); /* [ ] become { } */
    const __m256i hit = _mm256_or_si256(
        _mm256_or_si256(_mm256_cmpeq_epi8(folded, open), _mm256_cmpeq_epi8(folded, close)),
        _mm256_or_si256(_mm256_cmpeq_epi8(v, quote),
                        _mm256_cmpeq_epi8(_mm256_min_epu8(v, low), v)));
    return (uint32_t)_mm256_movemask_epi8(hit);
}

#define FAST_NAME osc_chrome_fast_avx2
#include "import/chrome/chrome_fast.inc"
#endif
