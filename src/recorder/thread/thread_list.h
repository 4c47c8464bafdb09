/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_list.h - assigns writers, and entries of the live directory's table, to threads.
 *
 * A thread takes a writer at its first record and gives it back, with its partly filled block,
 * when it ends. If it has no destructor to run then, or records even later, it keeps its writer
 * until few blocks are free or all writers are taken; then the writers of threads that no
 * longer exist are given back. Writer I belongs to entry I of the table; the entry is filled
 * again in each recording. It is EXITED until the flusher has written the thread's losses; only
 * then are both reused.
 *
 * Threading: see each function.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "recorder/thread/writer.h"

enum osc_life { OSC_LIFE_NONE, OSC_LIFE_CHILD, OSC_LIFE_HERE };

/* Reserve a scarce resource early, when the library is loaded. One thread at a time. */
void osc_threads_load(void);

/* Create the writers' memory, unless it exists. Any thread and handler, once
 * osc_threads_load() is done. */
OSC_MUST_USE osc_status osc_threads_init(void);

/*
 * Whether this process created the writers' memory (HERE), was forked from one that did and has
 * not noticed yet (CHILD), or never had any (NONE). Any thread and handler. A caller that gets
 * CHILD calls osc_threads_begin_life(); it returns true to one of them, which sets up the child
 * and then calls osc_threads_live().
 */
enum osc_life osc_threads_life(void);
bool osc_threads_begin_life(void);
void osc_threads_live(void);

/* The process that owns the memory; it differs from the calling process in a child that shares
 * it, as after vfork(). Life is HERE. Any thread and handler. */
pid_t osc_threads_pid(void);

/*
 * Whether libc's locks can be taken here. Not in a child that was created without libc, by
 * clone() or _Fork(): locks that other threads held at that moment are never released there,
 * and starting a thread calls malloc(). Life is HERE. In children of libc's fork(), its handler
 * calls osc_threads_forked() first.
 */
bool osc_threads_has_libc(void);
void osc_threads_forked(void);

/* The writer of this thread, which takes one if it has none; NULL: all are taken. Any thread
 * and handler. */
struct osc_writer *osc_threads_writer(void);

/* Mark this thread's writer as busy for osc_threads_stop(), too; a call must do that before it
 * checks whether recording is on. Any thread with a writer. */
void osc_threads_publish_busy(void);

/* Fill W's entry of the table for the recording NUMBER, to which W belongs from then on. W's
 * thread, while W is busy. */
void osc_threads_enter(struct osc_writer *w, uint64_t number);

/* A scope of osc_scope_open() at LEVEL has ended that its writer may account for: it does with
 * its next record. Any thread and handler. */
void osc_threads_post_gone(uint32_t level);

/* End the writers of threads that ended without giving them back; returns how many. Makes a
 * system call for each writer. Any thread and handler. */
uint32_t osc_threads_reap(void);

/* Free entry I, which was EXITED. The flusher, or the thread that ends a recording. */
void osc_threads_give_back(uint32_t i);

/* The recording NUMBER begins: restart ordinals at 1. One thread at a time. */
void osc_threads_open(uint64_t number);

/*
 * Recording is off, and calls that begin now do not record. Wait at most TIMEOUT_NS until those
 * under way are done, and count the ends that will never be written. One thread at a time.
 */
void osc_threads_stop(int64_t timeout_ns);

/* The recording is over: release all entries. One thread at a time. */
void osc_threads_close(void);
