/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - threads that share the work of one loop.
 *
 * The caller works too. Each thread's share is a scope, with an arrow from the caller.
 *
 * Threading: one caller at a time.
 */
#ifndef EXAMPLE_TEAM_H
#define EXAMPLE_TEAM_H

/* Do the items from FIRST to before LAST. */
typedef void (*team_work)(void *ctx, int first, int last);

/* Start N_THREADS, including the caller. Ends the program on failure. */
void team_start(int n_threads);

/* Do WORK for the items 0 to N - 1 on all threads; returns when all are done. */
void team_run(team_work work, void *ctx, int n);

/* End the threads. */
void team_stop(void);

#endif
