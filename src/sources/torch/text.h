/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - JSON text of inputs in a fixed buffer: the recorder allocates nothing.
 *
 * Threading: not locked.
 */
#pragma once

#include <cstdint>
#include <cstring>

#include <c10/util/ArrayRef.h>

namespace osc_torch
{

constexpr size_t kText = 16384;               // buffer of a thread
constexpr size_t kTextMax = size_t{16} << 20; // longest name
constexpr size_t kArgText = 3072;             // longest argument that is not a name

// Text in a buffer of a fixed size; what does not fit is left out, and is_cut is set.
struct Text {
    char *at, *begin, *end;
    bool is_cut;

    Text(char *room, size_t bytes) : at(room), begin(room), end(room + bytes), is_cut(false)
    {
    }
    void add(const char *s, size_t n)
    {
        if (static_cast<size_t>(end - at) < n) {
            is_cut = true;
            return;
        }
        memcpy(at, s, n);
        at += n;
    }
    void add(const char *s)
    {
        add(s, strlen(s));
    }
    void add(int64_t v)
    {
        char digits[24];
        char *d = digits + sizeof digits;
        uint64_t u = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);

        do {
            *--d = static_cast<char>('0' + u % 10);
            u /= 10;
        } while (u > 0);
        if (v < 0)
            *--d = '-';
        add(d, static_cast<size_t>(digits + sizeof digits - d));
    }
    void add(c10::IntArrayRef list)
    {
        add("[", 1);
        for (size_t i = 0; i < list.size(); i++) {
            if (i > 0)
                add(",", 1);
            add(list[i]);
        }
        add("]", 1);
    }
    size_t size() const
    {
        return static_cast<size_t>(at - begin);
    }
};

} // namespace osc_torch
