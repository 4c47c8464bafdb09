/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.h - calls from one library of torch's to another's function, led to ours.
 *
 * Such a call goes through a table of addresses of the library that calls. An entry of it
 * is replaced once a process and stays so: what ours has to say outside of a session it
 * says itself.
 *
 * Threading: one thread at a time; others may call through the entry meanwhile.
 */
#pragma once

#include <cstddef>

namespace osc_torch
{

struct Hook {
    const char *caller; /* how the name of the file of the calling library begins */
    const char *symbol; /* as the linker knows the function */
    void *ours;
    void **theirs; /* set to torch's own, which ours calls */
    bool is_set;   /* an entry leads to ours */
};

/* Redirect N calls, each where it is found. False: a function of theirs is not there, and
 * nothing was changed. */
bool redirect(Hook *hooks, size_t n);

} // namespace osc_torch
