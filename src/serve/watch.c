/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/watch.h"

#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"

#define SECOND_NS INT64_C(1000000000)
#define LOOK_NS   (SECOND_NS / 4)

/* Shut down what is overdue. */
static void look(struct osc_watch *w)
{
    const int64_t now_ns = osc_clock_now_ns();

    for (struct osc_watched *c = w->first; c; c = c->next) {
        if (c->due_ns == 0 || c->due_ns > now_ns)
            continue;
        (void)shutdown(c->fd, SHUT_RDWR);
        c->due_ns = 0;
    }
}

static void *keep_looking(void *ctx)
{
    struct osc_watch *const w = ctx;

    pthread_mutex_lock(&w->lock);
    while (!w->is_stopping) {
        const int64_t until_ns = osc_clock_now_ns() + LOOK_NS;
        const struct timespec until = {.tv_sec = until_ns / SECOND_NS,
                                       .tv_nsec = until_ns % SECOND_NS};

        (void)pthread_cond_timedwait(&w->changed, &w->lock, &until);
        look(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

osc_status osc_watch_start(struct osc_watch *w)
{
    pthread_condattr_t attr;

    *w = (struct osc_watch){.first = NULL};
    pthread_mutex_init(&w->lock, NULL); /* none of these can fail on Linux */
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &attr);
    pthread_condattr_destroy(&attr);
    return pthread_create(&w->thread, NULL, keep_looking, w) == 0 ? OSC_OK : OSC_ENOMEM;
}

static bool is_at_work(struct osc_watch *w)
{
    bool is_found = false;

    pthread_mutex_lock(&w->lock);
    for (const struct osc_watched *c = w->first; c && !is_found; c = c->next)
        is_found = c->due_ns == 0;
    pthread_mutex_unlock(&w->lock);
    return is_found;
}

void osc_watch_wait(struct osc_watch *w, int64_t ns)
{
    const int64_t until_ns = osc_clock_now_ns() + ns;
    const struct timespec pause = {.tv_nsec = SECOND_NS / 100};

    while (is_at_work(w) && osc_clock_now_ns() < until_ns)
        (void)nanosleep(&pause, NULL);
}

void osc_watch_shut(struct osc_watch *w)
{
    pthread_mutex_lock(&w->lock);
    for (struct osc_watched *c = w->first; c; c = c->next)
        (void)shutdown(c->fd, SHUT_RD);
    pthread_mutex_unlock(&w->lock);
}

void osc_watch_stop(struct osc_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_stopping = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

void osc_watch_add(struct osc_watch *w, struct osc_watched *c)
{
    pthread_mutex_lock(&w->lock);
    c->due_ns = osc_clock_now_ns() + OSC_WATCH_HEAD_NS;
    c->at = &w->first;
    c->next = w->first;
    if (c->next)
        c->next->at = &c->next;
    w->first = c;
    pthread_mutex_unlock(&w->lock);
}

void osc_watch_remove(struct osc_watch *w, struct osc_watched *c)
{
    pthread_mutex_lock(&w->lock);
    *c->at = c->next;
    if (c->next)
        c->next->at = c->at;
    pthread_mutex_unlock(&w->lock);
}

void osc_watch_allow(struct osc_watch *w, struct osc_watched *c, int64_t ns)
{
    pthread_mutex_lock(&w->lock);
    c->due_ns = ns > 0 ? osc_clock_now_ns() + ns : 0;
    pthread_mutex_unlock(&w->lock);
}
