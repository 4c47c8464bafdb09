/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.hpp - the events of a trace as columns, for the peer of load.c.
 *
 * Microseconds become nanoseconds, strings numbers, lists and objects strings.
 *
 * Threading: not locked.
 */
#ifndef OSC_BENCH_COLUMNS_HPP
#define OSC_BENCH_COLUMNS_HPP

#include <cstring>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "interner.hpp"

namespace ondemand = simdjson::ondemand;

struct row {
    uint32_t name = 0, cat = 0, pid = 0, tid = 0;
    char ph = 0;
    int64_t ts = 0, dur = -1;
};

struct columns {
    std::vector<uint32_t> name, cat, pid, tid, first_arg, arg_key;
    std::vector<char> ph;
    std::vector<int64_t> ts, dur;
    std::vector<uint64_t> arg;
    interner strings;

    void append(const row &r)
    {
        name.push_back(r.name);
        cat.push_back(r.cat);
        pid.push_back(r.pid);
        tid.push_back(r.tid);
        ph.push_back(r.ph);
        ts.push_back(r.ts);
        dur.push_back(r.dur);
    }

    uint32_t text(ondemand::value v)
    {
        std::string_view s;
        return v.get_string().get(s) ? 0 : strings.add(s);
    }

    uint32_t who(ondemand::value v)
    {
        int64_t i = 0;
        if (v.type() == ondemand::json_type::string)
            return text(v) | 0x80000000u;
        return v.get_int64().get(i) ? 0 : static_cast<uint32_t>(i);
    }

    static int64_t micros(ondemand::value v)
    {
        ondemand::number n;
        if (v.get_number().get(n))
            return 0;
        return n.is_int64() ? n.get_int64() * 1000
                            : static_cast<int64_t>(n.as_double() * 1000.0 + 0.5);
    }

    uint64_t any(ondemand::value v)
    {
        ondemand::json_type type;
        ondemand::number n;
        std::string_view s;
        uint64_t bits = 0;
        if (v.type().get(type))
            return 0;
        switch (type) {
        case ondemand::json_type::number:
            if (v.get_number().get(n))
                return 0;
            if (n.is_double()) {
                const double d = n.get_double();
                memcpy(&bits, &d, sizeof bits);
                return bits;
            }
            return n.is_int64() ? static_cast<uint64_t>(n.get_int64()) : n.get_uint64();
        case ondemand::json_type::string:
            return text(v);
        case ondemand::json_type::array: {
            ondemand::array a;
            return v.get_array().get(a) || a.raw_json().get(s) ? 0 : strings.add(s);
        }
        case ondemand::json_type::object: {
            ondemand::object o;
            return v.get_object().get(o) || o.raw_json().get(s) ? 0 : strings.add(s);
        }
        default:
            return strings.add(v.raw_json_token());
        }
    }
};

#endif
