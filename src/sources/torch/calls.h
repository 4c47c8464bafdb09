/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - what python.cpp keeps of Python calls: the functions, their nesting, what is open.
 *
 * A *call* is a function, a built-in or a module; a *node* is a call inside of others; a
 * *level* is an open call of a thread.
 *
 * Threading: as python.cpp says.
 */
#pragma once

#include <cstdint>
#include <string>

#include "opscope/record.h"

namespace osc_torch
{

struct Object; // interpreter.h
struct Place;  // paths.h
using Frame = Object;

constexpr size_t kDepth = 4096;

struct Key {
    const void *first, *second;
    uint64_t third;
    bool operator==(const Key &o) const
    {
        return first == o.first && second == o.second && third == o.third;
    }
};

// A function or module that is called. It holds no object of the program except two strings of
// its code, so that objects die when they would without us. If an address is used again, the
// rest of the key differs.
struct Call {
    Key key;
    std::string text;
    osc_name name;
    int64_t module;  // number of the module within its class; -1: not a module
    bool holds_key;  // we hold the two strings at the start of the key
    bool is_passing; // it is in no table
    bool is_builtin; // neither code nor a module
    bool is_own;     // code of opscope, which is in no stack
    bool is_wrapper; // code of opscope around a function of the program
    bool is_step;    // what optimizers call at the end of a step
    bool is_told;    // the tensors of the module are
};

// A call inside of others.
struct Node {
    Node *parent;
    Call *call;
    int at;             // with places: the instruction of the parent that made the call; else 0
    Node *last_child;   // the last one entered
    const Place *place; // of a module, as last seen
    osc_name stack;     // its text; 0: not made yet
    bool is_passing;    // neither it nor its children are in a table
    bool is_hidden;     // it is not recorded
    bool is_closed;     // no child is recorded either
};

struct Hash {
    size_t operator()(const Key &k) const
    {
        const auto h =
            (reinterpret_cast<uint64_t>(k.first) ^
             (reinterpret_cast<uint64_t>(k.second) + k.third) * UINT64_C(0xff51afd7ed558ccd)) *
            UINT64_C(0x9e3779b97f4a7c15);
        return static_cast<size_t>(h ^ h >> 29);
    }
};

// With places: an open call.
struct Level {
    Frame *frame; // of the function, or of the caller of a built-in; borrowed while it is open
    Object *self; // of a module; borrowed, likewise
    bool is_builtin;
    bool is_recorded;
};

// The text of a stack of calls whose innermost frame is at an instruction.
struct Named {
    const Node *node;
    int at;
    osc_name stack;
};

constexpr size_t kNamed = 64;

// What a thread needs for places.
struct Levels {
    Level open[kDepth]; // [0] is that of the thread itself
    Named named[kNamed];
};

// A call that was open when the session began.
struct Opened {
    Call *call;
    Frame *frame;
    Object *self;
};

// This thread's open calls, and the session they belong to. Levels are identified by the
// addresses in `levels`.
struct Here {
    uint64_t session;
    Node *now;
    uint32_t depth;
    uint32_t first_recorded; // the innermost level recorded; deeper than kDepth, none is
    Node *named;             // the node whose stack is in `stack`; NULL: none
    osc_name stack;
    Levels *levels; // with places
    uint32_t root;  // with places: the level of the outermost open module; 0: none
    Node node;      // the thread itself, around its calls
};

} // namespace osc_torch
