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

/* Do FIRST up to, but without, LAST. */
typedef void (*team_work)(void *ctx, int first, int last);

/* N_THREADS, the caller among them. Ends the program if they cannot be started. */
void team_start(int n_threads);

/* Do WORK for 0 up to N on all threads; back when all of it is done. */
void team_run(team_work work, void *ctx, int n);

/* End the threads. */
void team_stop(void);

#endif
