/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/pipe.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

#define SECOND_NS INT64_C(1000000000)

struct osc_pipe {
    pthread_mutex_t lock; /* of the rest; a leaf */
    pthread_cond_t changed;
    struct osc_api_sink sink;
    struct osc_cancel *cancel; /* owned */
    struct osc_api_head head;  /* its texts are the arrays */
    char type[64], tag[96], allow[32], file[96];
    bool has_head, is_ended, is_whole, is_gone;
    int64_t work_ns;
    unsigned n_users;
    size_t first, n_bytes; /* of the ring: where it begins, and how many there are */
    char ring[OSC_PIPE_BYTES];
};

/* --- the answering thread -------------------------------------------------------- */

/* Copy TEXT to TO, which replaces it; texts of ours are not longer. */
static const char *copy(char *to, size_t size, const char *text)
{
    if (!text)
        return NULL;
    snprintf(to, size, "%s", text);
    return to;
}

static void begin(void *ctx, const struct osc_api_head *head)
{
    struct osc_pipe *const p = ctx;

    pthread_mutex_lock(&p->lock);
    p->head = *head;
    p->head.type = copy(p->type, sizeof p->type, head->type);
    p->head.tag = copy(p->tag, sizeof p->tag, head->tag);
    p->head.allow = copy(p->allow, sizeof p->allow, head->allow);
    p->head.file = copy(p->file, sizeof p->file, head->file);
    p->has_head = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

/* Put as many of the LEN bytes at S into the ring as there is room for. */
static size_t put(struct osc_pipe *p, const char *s, size_t len)
{
    const size_t at = (p->first + p->n_bytes) % OSC_PIPE_BYTES;
    const size_t room = OSC_PIPE_BYTES - p->n_bytes;
    const size_t n = len < room ? len : room;
    const size_t behind = OSC_PIPE_BYTES - at < n ? OSC_PIPE_BYTES - at : n;

    memcpy(p->ring + at, s, behind);
    memcpy(p->ring, s + behind, n - behind);
    p->n_bytes += n;
    return n;
}

static int push(void *ctx, const char *s, size_t len)
{
    struct osc_pipe *const p = ctx;

    pthread_mutex_lock(&p->lock);
    while (len > 0 && !p->is_gone) {
        const size_t n = put(p, s, len);

        if (n > 0)
            pthread_cond_broadcast(&p->changed);
        else
            pthread_cond_wait(&p->changed, &p->lock);
        s += n;
        len -= n;
    }
    const bool is_gone = p->is_gone;
    pthread_mutex_unlock(&p->lock);
    return is_gone ? -1 : 0;
}

static bool is_gone(void *ctx)
{
    struct osc_pipe *const p = ctx;

    pthread_mutex_lock(&p->lock);
    const bool gone = p->is_gone;
    pthread_mutex_unlock(&p->lock);
    return gone;
}

static bool is_full(void *ctx, size_t len)
{
    struct osc_pipe *const p = ctx;

    pthread_mutex_lock(&p->lock);
    const bool full = len > OSC_PIPE_BYTES - p->n_bytes;
    pthread_mutex_unlock(&p->lock);
    return full;
}

static void begin_work(void *ctx)
{
    struct osc_pipe *const p = ctx;

    pthread_mutex_lock(&p->lock);
    p->work_ns = osc_clock_now_ns();
    pthread_mutex_unlock(&p->lock);
}

/* --- life ------------------------------------------------------------------------ */

struct osc_pipe *osc_pipe_new(void)
{
    struct osc_pipe *const p = osc_malloc(sizeof *p);
    struct osc_cancel *const cancel = p ? osc_cancel_new() : NULL;
    pthread_condattr_t attr;

    if (!cancel) {
        osc_free(p);
        return NULL;
    }
    memset(p, 0, offsetof(struct osc_pipe, ring)); /* the ring is touched where it is used */
    pthread_mutex_init(&p->lock, NULL);            /* none of these can fail on Linux */
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attr);
    pthread_condattr_destroy(&attr);
    p->cancel = cancel;
    p->n_users = 2;
    p->sink = (struct osc_api_sink){.begin = begin,
                                    .write = push,
                                    .is_gone = is_gone,
                                    .work = begin_work,
                                    .is_full = is_full,
                                    .ctx = p};
    return p;
}

/* Leave P, whose lock is held. */
static void leave(struct osc_pipe *p)
{
    const bool is_last = --p->n_users == 0;

    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (!is_last)
        return;
    osc_cancel_free(p->cancel);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    osc_free(p);
}

void osc_pipe_end(struct osc_pipe *p, bool is_whole)
{
    pthread_mutex_lock(&p->lock);
    p->is_ended = true;
    p->is_whole = is_whole;
    leave(p);
}

void osc_pipe_leave(struct osc_pipe *p)
{
    osc_cancel_pull(p->cancel);
    pthread_mutex_lock(&p->lock);
    p->is_gone = true;
    leave(p);
}

struct osc_cancel *osc_pipe_cancel(struct osc_pipe *p)
{
    return p->cancel;
}

const struct osc_api_sink *osc_pipe_sink(struct osc_pipe *p)
{
    return &p->sink;
}

/* --- the taking thread ----------------------------------------------------------- */

static bool has_news(const struct osc_pipe *p, bool takes)
{
    if (p->is_ended)
        return true;
    if (takes)
        return p->n_bytes > 0;
    return p->has_head && (p->head.is_live || p->n_bytes == OSC_PIPE_BYTES);
}

struct osc_pipe_state osc_pipe_wait(struct osc_pipe *p, bool takes, int64_t timeout_ns)
{
    const int64_t until_ns = osc_clock_now_ns() + timeout_ns;
    const struct timespec until = {.tv_sec = until_ns / SECOND_NS,
                                   .tv_nsec = until_ns % SECOND_NS};

    pthread_mutex_lock(&p->lock);
    while (!has_news(p, takes) && osc_clock_now_ns() < until_ns)
        (void)pthread_cond_timedwait(&p->changed, &p->lock, &until);
    const struct osc_pipe_state state = {
        .head = p->has_head ? &p->head : NULL,
        .is_full = p->n_bytes == OSC_PIPE_BYTES,
        .is_ended = p->is_ended,
        .is_whole = p->is_whole,
        .n_bytes = p->n_bytes,
        .work_ns = p->work_ns,
    };
    pthread_mutex_unlock(&p->lock);
    return state;
}

size_t osc_pipe_take(struct osc_pipe *p, char *to, size_t len)
{
    pthread_mutex_lock(&p->lock);
    const size_t n = len < p->n_bytes ? len : p->n_bytes;
    const size_t behind = OSC_PIPE_BYTES - p->first < n ? OSC_PIPE_BYTES - p->first : n;

    memcpy(to, p->ring + p->first, behind);
    memcpy(to + behind, p->ring, n - behind);
    p->first = (p->first + n) % OSC_PIPE_BYTES;
    p->n_bytes -= n;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return n;
}

void osc_pipe_give_up(struct osc_pipe *p, bool is_gone_now)
{
    osc_cancel_pull(p->cancel);
    pthread_mutex_lock(&p->lock);
    p->is_gone |= is_gone_now;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}
