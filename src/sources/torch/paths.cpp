// SPDX-License-Identifier: Apache-2.0
#include "paths.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "interpreter.h"

namespace osc_torch
{
namespace
{

constexpr size_t kPlaces = size_t{1} << 16;

using Pair = std::pair<const Object *, const Object *>; // root and module

struct Hash {
    size_t operator()(const Pair &p) const
    {
        return std::hash<const void *>()(p.first) * 31 + std::hash<const void *>()(p.second);
    }
};

std::unordered_map<Pair, Place, Hash> places;

// A module that is still to be walked.
struct Waiting {
    Object *module; // owned
    std::string path;
};

// The place of MODULE below ROOT, made if necessary; NULL: the table is full.
Place *known_place(Object *root, Object *module)
{
    const auto known = places.find({root, module});

    if (known != places.end())
        return &known->second;
    return places.size() < kPlaces ? &places[{root, module}] : nullptr;
}

void put_place(Object *root, const Waiting &w)
{
    Place *const place = known_place(root, w.module);

    if (!place)
        return;
    if (!place->is_of(w.module)) {
        if (place->reference)
            py.release(place->reference);
        place->reference = py.new_reference(w.module, nullptr);
        if (!place->reference)
            py.clear();
    }
    place->path = osc_name_of(w.path.data(), w.path.size());
}

// The modules that are attributes of W, each of them owned by the caller.
std::vector<Waiting> modules_in(const Waiting &w)
{
    const Held modules(py.attribute(w.module, "_modules"));
    std::vector<Waiting> found;
    std::vector<Object *> keys;
    Object *key, *module;

    // All are taken before anything else, because the rest may run code of the program.
    for (intptr_t at = 0; modules.o && py.next_of(modules.o, &at, &key, &module);) {
        py.take(key);
        py.take(module);
        keys.push_back(key);
        found.push_back({module, w.path.empty() ? "" : w.path + "."});
    }
    for (size_t i = 0; i < keys.size(); i++) {
        const Held held(keys[i]);

        found[i].path += held.text();
    }
    return found;
}

// Store the places of all modules below ROOT, in the order of named_modules(): a module that is
// there twice has its first path.
void walk(Object *root)
{
    std::unordered_set<const Object *> seen;
    std::vector<Waiting> waiting;

    py.take(root);
    waiting.push_back({root, ""});
    while (!waiting.empty()) {
        const Waiting w = waiting.back();

        waiting.pop_back();
        if (seen.size() < kPlaces && seen.insert(w.module).second) {
            put_place(root, w);
            std::vector<Waiting> inside = modules_in(w);
            waiting.insert(waiting.end(), inside.rbegin(), inside.rend());
        }
        py.release(w.module);
    }
}

} // namespace

bool Place::is_of(Object *module) const
{
    return reference && py.referent(reference) == module;
}

const Place *place_of(Object *root, Object *module)
{
    const Kept error;
    Place *const top = known_place(root, root);

    if (!top)
        return nullptr;
    if (top->reference && !top->is_of(root))
        top->n_misses = 0; // another root at the address of a dead one
    const auto found = places.find({root, module});
    if (found != places.end() && found->second.is_of(module))
        return &found->second;
    const uint64_t n = ++top->n_misses;
    if (n & (n - 1))
        return nullptr;
    walk(root);
    const auto again = places.find({root, module});
    return again != places.end() && again->second.is_of(module) ? &again->second : nullptr;
}

void paths_clear()
{
    for (const auto &p : places)
        if (p.second.reference)
            py.release(p.second.reference);
    places.clear();
}

} // namespace osc_torch
