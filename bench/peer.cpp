/* SPDX-License-Identifier: Apache-2.0 */
/* simdjson On-Demand as a loader of traces. Written for 3.0 and later. */
#include "peer.h"

#include <new>
#include <string>

#include "columns.hpp"

namespace
{

/* Append the members of V to C. */
void add_args(columns &c, ondemand::value v)
{
    ondemand::object o;
    if (v.get_object().get(o))
        return;
    for (auto field : o) {
        std::string_view key;
        if (field.unescaped_key().get(key))
            return;
        c.arg_key.push_back(c.strings.add(key));
        c.arg.push_back(c.any(field.value()));
    }
}

void add_event(columns &c, ondemand::object object)
{
    row r;
    c.first_arg.push_back(static_cast<uint32_t>(c.arg.size()));
    for (auto field : object) {
        std::string_view key, s;
        if (field.unescaped_key().get(key))
            break;
        ondemand::value v = field.value();
        if (key == "ph") {
            r.ph = v.get_string().get(s) || s.empty() ? 0 : s[0];
        } else if (key == "ts") {
            r.ts = c.micros(v);
        } else if (key == "cat") {
            r.cat = c.text(v);
        } else if (key == "pid") {
            r.pid = c.who(v);
        } else if (key == "tid") {
            r.tid = c.who(v);
        } else if (key == "dur") {
            r.dur = c.micros(v);
        } else if (key == "name") {
            r.name = c.text(v);
        } else if (key == "args") {
            add_args(c, v);
        }
    }
    c.append(r);
}

} // namespace

struct bench_peer {
    simdjson::padded_string text;
    ondemand::parser parser;
};

struct bench_peer *bench_peer_open(const char *path, size_t *n_bytes)
{
    auto *const peer = new (std::nothrow) bench_peer;

    if (!peer || simdjson::padded_string::load(path).get(peer->text)) {
        delete peer;
        return nullptr;
    }
    *n_bytes = peer->text.size();
    return peer;
}

void bench_peer_close(struct bench_peer *peer)
{
    delete peer;
}

int bench_peer_load(struct bench_peer *peer, struct bench_peer_sums *sums)
{
    ondemand::document document;
    ondemand::array events;
    columns c;

    if (peer->parser.iterate(peer->text).get(document) ||
        document["traceEvents"].get_array().get(events))
        return 0;
    for (auto element : events) {
        ondemand::object object;
        if (element.get_object().get(object))
            return 0;
        add_event(c, object);
    }
    *sums = {c.ts.size(), c.arg.size(), 0};
    for (const int64_t ts : c.ts)
        sums->ts_ns = static_cast<int64_t>(static_cast<uint64_t>(sums->ts_ns) +
                                           static_cast<uint64_t>(ts));
    return 1;
}

/* The parser's first stage is chosen at run time, the rest when it is compiled. */
const char *bench_peer_kernel(void)
{
#define NAME_OF(x) #x
#define NAME(x)    NAME_OF(x)
    static const std::string name = simdjson::get_active_implementation()->name() + "/" +
                                    NAME(SIMDJSON_BUILTIN_IMPLEMENTATION);
    return name.c_str();
}
