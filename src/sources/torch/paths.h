/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - modules by the attributes that lead to them.
 *
 * The path of a module is what named_modules() of its root calls it, such as "h.0.attn"; the
 * root is the outermost module that is being called. A root is walked when modules are called
 * in it that it did not have: the first time, which is its own call, the second, the fourth,
 * and so on, so that programs that make a module for each call pay little.
 *
 * Modules are known by weak references: no object of the program is kept alive, and none takes
 * the path of a dead one at its address.
 *
 * Threading: with the interpreter's lock.
 */
#pragma once

#include <cstdint>

#include "opscope/record.h"

namespace osc_torch
{

struct Object; // interpreter.h

/* A module below a root. It lives until paths_clear(). */
struct Place {
    Object *reference; // owned, weak; NULL: there is none
    osc_name path;     // 0: it is the root
    uint64_t n_misses; // of a root: how often a module was called that it did not have

    /* Whether it is that of MODULE. */
    bool is_of(Object *module) const;
};

/* The place of MODULE below ROOT, which may be itself; NULL: unknown. */
const Place *place_of(Object *root, Object *module);

void paths_clear();

} // namespace osc_torch
