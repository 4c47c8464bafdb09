/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_list.h - which thread has which writer, and which entry of the live directory's table.
 *
 * A thread takes a writer at its first record and gives it back when it ends, half a
 * block and all. One that cannot tell when it ends, or records even after that, keeps its
 * writer until few blocks are free or all writers taken; then those of threads that are gone
 * are given back. Writer I goes
 * with entry I of the table; the entry is filled anew in each recording. It says EXITED until
 * the flusher has written what the thread lost; only then both are used again.
 *
 * Threading: as said at each function.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "recorder/thread/writer.h"

enum osc_life { OSC_LIFE_NONE, OSC_LIFE_CHILD, OSC_LIFE_HERE };

/* Take what there is little of, early: when the library is loaded. One thread at a time. */
void osc_threads_load(void);

/* Make the writers' memory, unless that is done. One thread at a time. */
OSC_MUST_USE osc_status osc_threads_init(void);

/*
 * Whether this process made the writers' memory (HERE), was forked from one that did
 * (CHILD: this is the first call that notices, and has to act), or never had any. Any thread
 * and handler. osc_threads_begin_life() is true for the one call that acts, which then
 * calls osc_threads_live().
 */
enum osc_life osc_threads_life(void);
bool osc_threads_begin_life(void);
void osc_threads_live(void);

/* The process whose memory this is; that is not the one that asks if it is a child that
 * shares it, as after vfork(). Life is HERE. Any thread and handler. */
pid_t osc_threads_pid(void);

/*
 * Whether libc's locks can be taken here. Not in a child that was made without libc, by
 * clone() or _Fork(): what other threads held at that moment is never let go there, and
 * to start a thread takes malloc(). Life is HERE. osc_threads_forked() is libc's own word
 * that it made this child, which comes first.
 */
bool osc_threads_has_libc(void);
void osc_threads_forked(void);

/* The writer of this thread, taken if it has none; NULL: all are taken. Any thread and
 * handler. */
struct osc_writer *osc_threads_writer(void);

/* This thread's writer is busy, for osc_threads_stop() as well: only then may a call look
 * whether recording is on. Its thread, which has one. */
void osc_threads_publish_busy(void);

/* Fill W's entry of the table for the recording NUMBER, which W's is from then on. Its
 * thread, busy. */
void osc_threads_enter(struct osc_writer *w, uint64_t number);

/* End the writers of threads that are gone without having told; how many. A system call for
 * each writer. Any thread and handler. */
uint32_t osc_threads_reap(void);

/* Entry I, which was EXITED, may be used again. The flusher, or the thread that ends a
 * recording. */
void osc_threads_give_back(uint32_t i);

/* The recording NUMBER begins: ordinals begin at 1. One thread at a time. */
void osc_threads_open(uint64_t number);

/*
 * Recording is off, and no call that begins from now on records: wait until those under way
 * are through, for at most TIMEOUT_NS, and count the ends that will never be written. One
 * thread at a time.
 */
void osc_threads_stop(int64_t timeout_ns);

/* The recording is over: no entry is of use any more. One thread at a time. */
void osc_threads_close(void);
