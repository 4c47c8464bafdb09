/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.h - redirect calls between torch's libraries to functions of ours.
 *
 * Such a call goes through the address table of the calling library. An entry is replaced once
 * per process and stays replaced: our function itself decides what to do outside of a session.
 *
 * Threading: one thread at a time; others may call through the entry meanwhile.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace osc_torch
{

struct Hook {
    const char *caller; /* start of the calling library's file name; NULL: any but libc10 */
    const char *symbol; /* mangled name of the function */
    void *ours;
    void **theirs; /* set to torch's function, which ours calls */
    bool is_set;   /* an entry leads to ours */
};

/* The libraries that were looked at: the first N, after so many were unloaded. */
struct Seen {
    uint64_t n, n_unloaded;
};

/* Redirect N calls wherever they are found in libraries that were loaded since SEEN, which is
 * zeroed at first. False: a function of torch is missing, and nothing was changed. */
bool redirect(Hook *hooks, size_t n, Seen *seen);

} // namespace osc_torch
