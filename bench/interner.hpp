/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interner.hpp - a number for every distinct string, for the peer of load.c.
 *
 * Threading: not locked.
 */
#ifndef OSC_BENCH_INTERNER_HPP
#define OSC_BENCH_INTERNER_HPP

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

/* A hash table with linear probing, hashing 8 bytes at a time. */
class interner
{
  public:
    interner() : slots(1 << 17, 0)
    {
        entries.push_back({0, 0, 0});
    }

    uint32_t add(std::string_view s)
    {
        const uint64_t h = hash(s);
        size_t i = h & (slots.size() - 1);
        for (; slots[i] != 0; i = (i + 1) & (slots.size() - 1)) {
            const entry &e = entries[slots[i]];
            if (e.hash == h && e.len == s.size() &&
                memcmp(pool.data() + e.at, s.data(), s.size()) == 0)
                return slots[i];
        }
        slots[i] = static_cast<uint32_t>(entries.size());
        entries.push_back({h, pool.size(), s.size()});
        pool.append(s);
        if (entries.size() * 2 > slots.size())
            grow();
        return static_cast<uint32_t>(entries.size() - 1);
    }

  private:
    struct entry {
        uint64_t hash;
        size_t at, len;
    };

    static uint64_t hash(std::string_view s)
    {
        const char *p = s.data();
        size_t n = s.size();
        uint64_t h = n * 0x9e3779b97f4a7c15u, x = 0;
        for (; n >= 8; p += 8, n -= 8) {
            memcpy(&x, p, 8);
            h = (h ^ x) * 0xff51afd7ed558ccdu;
            h ^= h >> 32;
        }
        x = 0;
        memcpy(&x, p, n);
        h = (h ^ x) * 0xff51afd7ed558ccdu;
        return h ^ h >> 29;
    }

    void grow()
    {
        std::vector<uint32_t> more(slots.size() * 2, 0);
        for (uint32_t k = 1; k < entries.size(); k++) {
            size_t i = entries[k].hash & (more.size() - 1);
            while (more[i] != 0)
                i = (i + 1) & (more.size() - 1);
            more[i] = k;
        }
        slots.swap(more);
    }

    std::vector<uint32_t> slots;
    std::vector<entry> entries;
    std::string pool;
};

#endif
