/* SPDX-License-Identifier: Apache-2.0 */
#include "team.h"

#include <opscope/record.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 64

static struct {
    pthread_mutex_t lock;
    pthread_cond_t has_work, is_done;
    pthread_t threads[THREADS_MAX];
    int n_threads; /* including the caller, number 0 */
    team_work work;
    void *ctx;
    int n;
    uint64_t round; /* counts calls of team_run() */
    int n_busy;
    bool is_over;
} team = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .has_work = PTHREAD_COND_INITIALIZER,
    .is_done = PTHREAD_COND_INITIALIZER,
};

/* Do share I of the work. Its arrow is identified by round and share. */
static void do_share(int i)
{
    static osc_name name;
    const int first = team.n * i / team.n_threads;
    const int last = team.n * (i + 1) / team.n_threads;

    osc_name_once(&name, "share");
    osc_begin(OSC_SCOPE_PLAIN, name);
    if (i > 0 && osc_is_on())
        osc_flow_end(team.round * THREADS_MAX + (uint64_t)i);
    if (first < last)
        team.work(team.ctx, first, last);
    osc_end();
}

static void *serve(void *arg)
{
    const int i = (int)(intptr_t)arg;
    uint64_t seen = 0;

    osc_thread_name("team");
    pthread_mutex_lock(&team.lock);
    for (;;) {
        while (team.round == seen && !team.is_over)
            pthread_cond_wait(&team.has_work, &team.lock);
        if (team.is_over)
            break;
        seen = team.round;
        pthread_mutex_unlock(&team.lock);
        do_share(i);
        pthread_mutex_lock(&team.lock);
        if (--team.n_busy == 0)
            pthread_cond_signal(&team.is_done);
    }
    pthread_mutex_unlock(&team.lock);
    return NULL;
}

void team_start(int n_threads)
{
    team.n_threads = n_threads > THREADS_MAX ? THREADS_MAX : n_threads < 1 ? 1 : n_threads;
    for (int i = 1; i < team.n_threads; i++)
        if (pthread_create(&team.threads[i], NULL, serve, (void *)(intptr_t)i) != 0) {
            fprintf(stderr, "convnet: cannot start a thread\n");
            exit(EXIT_FAILURE);
        }
}

void team_run(team_work work, void *ctx, int n)
{
    pthread_mutex_lock(&team.lock);
    team.work = work;
    team.ctx = ctx;
    team.n = n;
    team.n_busy = team.n_threads - 1;
    team.round++;
    if (osc_is_on())
        for (int i = 1; i < team.n_threads; i++)
            osc_flow_begin(team.round * THREADS_MAX + (uint64_t)i);
    pthread_cond_broadcast(&team.has_work);
    pthread_mutex_unlock(&team.lock);

    do_share(0);

    pthread_mutex_lock(&team.lock);
    while (team.n_busy > 0)
        pthread_cond_wait(&team.is_done, &team.lock);
    pthread_mutex_unlock(&team.lock);
}

void team_stop(void)
{
    pthread_mutex_lock(&team.lock);
    team.is_over = true;
    pthread_cond_broadcast(&team.has_work);
    pthread_mutex_unlock(&team.lock);
    for (int i = 1; i < team.n_threads; i++)
        pthread_join(team.threads[i], NULL);
}
