/* SPDX-License-Identifier: Apache-2.0 */
/*
 * next_symbol.h - the function behind one of ours that stands before it.
 *
 * dlsym(RTLD_NEXT) knows the libraries of the program and those that were made global. A
 * library that is loaded later for one of its users, as every extension of Python is, finds our
 * function first and has the next one where nobody else sees it: then all libraries are asked.
 *
 * Threading: thread-safe; takes locks of the dynamic linker.
 */
#pragma once

/* The function NAME of a library that is loaded, at best of LIBRARY; NULL: none has it. *HANDLE
 * is what dlopen() gave for that library, or NULL; it stays open. */
void *osc_next_symbol(const char *name, const char *library, void **handle);
