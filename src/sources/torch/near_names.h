/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near_names.h - a small cache of the names of one thread, by their addresses.
 *
 * The name of an operator is always at the same address. The text is compared in any case,
 * because other names may come to lie there. That takes half of the time in which a text can be
 * measured and hashed.
 *
 * Threading: not locked; each thread has its own.
 */
#pragma once

#include <cstdint>
#include <cstring>

#if defined __SSE2__
#include <emmintrin.h>
#endif

#include "opscope/record.h"

namespace osc_torch
{
namespace // so that all of it is inlined into the only file that uses it
{

constexpr size_t kNearText = 48;

// A name: its text and the NUL.
struct Near {
    const char *at; // NULL: none
    osc_name name;
    uint32_t size; // of text, with the NUL
    alignas(16) char text[kNearText];
};

constexpr size_t kNear = 1024;

struct NearNames {
    alignas(64) Near all[kNear];
};

static inline Near *near_of(NearNames *names, const char *s)
{
    return &names->all[(reinterpret_cast<uint64_t>(s) * UINT64_C(0x9e3779b97f4a7c15)) >> 54 &
                       (kNear - 1)];
}

#if defined __SSE2__
// Whether the text at S is that of N. It reads whole pieces of 16 bytes, of which the last one
// may reach behind the NUL, but not into a page that may not exist.
__attribute__((no_sanitize("address", "thread"))) static inline bool is_text(const Near *n,
                                                                             const char *s)
{
    constexpr uintptr_t page = 4096;

    for (uint32_t i = 0; i < n->size; i += 16) {
        if (__builtin_expect((reinterpret_cast<uintptr_t>(s + i) & (page - 1)) > page - 16, 0))
            return strcmp(s + i, n->text + i) == 0;
        const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i *>(s + i));
        const __m128i b = _mm_load_si128(reinterpret_cast<const __m128i *>(n->text + i));
        const unsigned differs =
            ~static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)));

        // The lowest bits are those of the first bytes.
        if (differs & (n->size - i < 16 ? (1u << (n->size - i)) - 1 : 0xffff))
            return false;
    }
    return true;
}
#else
static inline bool is_text(const Near *n, const char *s)
{
    return strcmp(s, n->text) == 0;
}
#endif

// The name of S; 0: it is not known by its address.
static inline osc_name near_name(NearNames *names, const char *s)
{
    const Near *const near = near_of(names, s);

    return __builtin_expect(near->at == s && is_text(near, s), 1) ? near->name : 0;
}

// Keep the NAME of the LEN bytes at S, which a NUL follows, if they are few.
static inline void keep_near(NearNames *names, const char *s, size_t len, osc_name name)
{
    Near *const near = near_of(names, s);

    if (len >= kNearText)
        return;
    near->at = s;
    near->name = name;
    near->size = static_cast<uint32_t>(len) + 1;
    memcpy(near->text, s, len + 1);
}

} // namespace
} // namespace osc_torch
