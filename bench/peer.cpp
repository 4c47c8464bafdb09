/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strongest reader of JSON that we know of, doing our work: simdjson On-Demand
 * (3.0 and later) walks the events and puts them into columns, every argument typed,
 * microseconds as nanoseconds, every string, list and object interned. It interns with our own
 * table, so that only the reading is compared.
 */
#include <cstring>
#include <string_view>
#include <vector>

#include <simdjson.h>

extern "C" {
#include "base/intern.h"
#include "bench.h"

uint64_t bench_peer_load(const char *path, uint64_t *n_args);
}

namespace ondemand = simdjson::ondemand;

namespace
{

struct columns {
    std::vector<uint32_t> name, cat, pid, tid, first_arg, arg_key;
    std::vector<char> ph;
    std::vector<int64_t> ts, dur;
    std::vector<uint64_t> arg;
    osc_arena arena = {};
    osc_intern strings = {};

    uint32_t intern(std::string_view s)
    {
        osc_sid id;
        return osc_intern_add(&strings, {s.data(), static_cast<uint32_t>(s.size())}, &id)
                   ? 0
                   : id.v;
    }

    uint32_t who(ondemand::value v)
    {
        return v.type() == ondemand::json_type::string
                   ? intern(v.get_string()) | 0x80000000u
                   : static_cast<uint32_t>(int64_t(v.get_int64()));
    }

    static int64_t nanos(ondemand::value v)
    {
        ondemand::number n = v.get_number();
        return n.is_int64() ? n.get_int64() * 1000
                            : static_cast<int64_t>(n.as_double() * 1000.0 + 0.5);
    }

    uint64_t any(ondemand::value v)
    {
        const ondemand::json_type type = v.type();
        uint64_t bits = 0;
        if (type == ondemand::json_type::number) {
            ondemand::number n = v.get_number();
            if (!n.is_double())
                return n.is_int64() ? static_cast<uint64_t>(n.get_int64()) : n.get_uint64();
            const double d = n.get_double();
            memcpy(&bits, &d, sizeof bits);
            return bits;
        }
        if (type == ondemand::json_type::string)
            return intern(v.get_string());
        if (type == ondemand::json_type::array)
            return intern(ondemand::array(v.get_array()).raw_json());
        if (type == ondemand::json_type::object)
            return intern(ondemand::object(v.get_object()).raw_json());
        return intern(v.raw_json_token());
    }

    void add_event(ondemand::object event)
    {
        uint32_t own_name = 0, own_cat = 0, own_pid = 0, own_tid = 0;
        int64_t own_ts = 0, own_dur = -1;
        char own_ph = 0;

        first_arg.push_back(static_cast<uint32_t>(arg.size()));
        for (auto field : event) {
            const std::string_view key = field.unescaped_key();
            ondemand::value v = field.value();
            if (key == "ph")
                own_ph = std::string_view(v.get_string())[0];
            else if (key == "ts")
                own_ts = nanos(v);
            else if (key == "cat")
                own_cat = intern(v.get_string());
            else if (key == "pid")
                own_pid = who(v);
            else if (key == "tid")
                own_tid = who(v);
            else if (key == "dur")
                own_dur = nanos(v);
            else if (key == "name")
                own_name = intern(v.get_string());
            else if (key == "args")
                for (auto member : v.get_object()) {
                    arg_key.push_back(intern(member.unescaped_key()));
                    arg.push_back(any(member.value()));
                }
        }
        name.push_back(own_name);
        cat.push_back(own_cat);
        pid.push_back(own_pid);
        tid.push_back(own_tid);
        ph.push_back(own_ph);
        ts.push_back(own_ts);
        dur.push_back(own_dur);
    }
};

} // namespace

/* Read the file PATH into columns and free them. Returns the number of events; 0 if it is not a
 * trace. */
uint64_t bench_peer_load(const char *path, uint64_t *n_args)
try {
    static const simdjson::padded_string text = simdjson::padded_string::load(path);
    static ondemand::parser parser;
    const double start = bench_cpu_s();
    uint64_t n_events = 0;
    {
        columns c;
        c.strings.arena = &c.arena;
        ondemand::document document = parser.iterate(text);
        for (ondemand::object event : document["traceEvents"].get_array())
            c.add_event(event);
        n_events = c.ts.size();
        *n_args = c.arg.size();
        osc_intern_fini(&c.strings);
        osc_arena_fini(&c.arena);
    }
    bench_sample("peer", bench_cpu_s() - start);
    return n_events;
} catch (const simdjson::simdjson_error &) {
    return 0;
}
