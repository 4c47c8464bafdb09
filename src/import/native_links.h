/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_links.h - from operators to the backward functions that autograd made of them.
 *
 * PyTorch numbers the operators of each thread that a backward function is made of
 * (`Sequence number`), and gives the function that number and that of the thread
 * (`Fwd thread id`), which is one of its own: an argument `torch thread` says which
 * thread has it. Each pair becomes an arrow `fwdbwd`, by Kineto's rule:
 *
 *   from   the operator of that number that began last
 *   to     the first range behind it that names number and thread, and is not the
 *          engine's around the function, which has the numbers of that
 *
 * Threading: not locked.
 */
#ifndef OSC_IMPORT_NATIVE_LINKS_H
#define OSC_IMPORT_NATIVE_LINKS_H

#include "import/native_args.h"

struct osc_native_rows;

/* An operator with a number. */
struct osc_native_link {
    int64_t ts_ns;
    uint64_t key; /* thread and sequence number */
    uint32_t thread;
    bool is_backward;
    size_t order; /* in which they were read */
};

/* Zeroed, there are none. */
struct osc_native_links {
    struct osc_native_link *items; /* owned */
    size_t n, cap;
    bool is_mixed; /* they were not read in order of time */
};

void osc_native_links_fini(struct osc_native_links *l);

/* Note the operator NAME of THREAD (an index) that began at TS_NS with the arguments A. */
void osc_native_links_add(struct osc_native_rows *rows, uint32_t thread, osc_sid name,
                          int64_t ts_ns, const struct osc_native_args *a);

/* All are known: rows of arrows. */
void osc_native_links_build(struct osc_native_rows *rows);

#endif
