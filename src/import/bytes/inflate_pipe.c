/* SPDX-License-Identifier: Apache-2.0 */
#include "import/bytes/inflate_pipe.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"

/* One that is parsed, the one before it, which may still be read, and two ahead. */
#define N_BLOCKS 4u

struct osc_pipe {
    struct osc_blocks blocks; /* first: a pointer to it also points to this struct */
    struct osc_raw_blocks raw;
    struct osc_inflate *inflate;
    size_t block_bytes;
    char *in, *in_end; /* compressed bytes not yet used */
    bool in_is_last;
    char *buffers[N_BLOCKS]; /* owned; room before and behind */
    _Atomic uint64_t taken;

    bool is_threaded;
    struct osc_mem_account *account; /* the one in which it was opened */
    pthread_t thread;
    pthread_mutex_t lock; /* of all members below */
    pthread_cond_t changed;
    size_t len[N_BLOCKS];
    unsigned n_filled, n_drained; /* blocks so far; filled - drained < N_BLOCKS - 1 */
    bool is_done, is_stopped;
    osc_status status;
    struct osc_err err;
};

/* Inflate into TO until it is full or the input ends; *LEN becomes the number of bytes. */
static osc_status inflate_block(struct osc_pipe *p, char *to, size_t *len, struct osc_err *err)
{
    struct osc_inflate_io io = {.out = (unsigned char *)to, .n_out = p->block_bytes};
    osc_status st = OSC_OK;

    while (io.n_out > 0) {
        if (p->in == p->in_end && !p->in_is_last) {
            size_t n;
            st = p->raw.blocks.next(&p->raw.blocks, &p->in, &n, err);
            if (st != OSC_OK)
                break;
            p->in_end = p->in + n;
            p->in_is_last = n == 0;
            /* relaxed: only a counter for progress */
            atomic_fetch_add_explicit(&p->taken, n, memory_order_relaxed);
        }
        io.in = (const unsigned char *)p->in;
        io.n_in = (size_t)(p->in_end - p->in);
        io.is_last = p->in_is_last;
        const enum osc_inflate_state state = osc_inflate_run(p->inflate, &io, err);
        p->in = p->in_end - io.n_in;
        if (state == OSC_INFLATE_END)
            break;
        if (state == OSC_INFLATE_ERROR) {
            st = err->code;
            break;
        }
    }
    *len = p->block_bytes - io.n_out;
    return st;
}

/* Inflate ahead of the reader, who uses two blocks at a time: that which it parses, and the
 * one before, of which it may keep a rest. */
static void *inflate_all(void *arg)
{
    struct osc_pipe *p = arg;

    (void)osc_mem_enter(p->account);
    for (;;) {
        pthread_mutex_lock(&p->lock);
        while (p->n_filled - p->n_drained >= N_BLOCKS - 2 && !p->is_stopped)
            pthread_cond_wait(&p->changed, &p->lock);
        const bool is_stopped = p->is_stopped;
        const unsigned at = p->n_filled % N_BLOCKS;
        pthread_mutex_unlock(&p->lock);
        if (is_stopped)
            return NULL;

        struct osc_err err = {0};
        size_t len;
        const osc_status st = inflate_block(p, p->buffers[at] + OSC_TEXT_HEADROOM, &len, &err);
        pthread_mutex_lock(&p->lock);
        p->len[at] = len;
        p->n_filled += len > 0;
        if (st != OSC_OK) {
            p->status = st;
            p->err = err;
        }
        p->is_done = st != OSC_OK || len < p->block_bytes;
        const bool is_done = p->is_done;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
        if (is_done)
            return NULL;
    }
}

/* Blocks that were inflated before an error are good, so the error is reported behind the last
 * of them. */
static osc_status threaded_next(struct osc_blocks *b, char **data, size_t *len,
                                struct osc_err *err)
{
    struct osc_pipe *p = (struct osc_pipe *)b;
    osc_status st = OSC_OK;

    *len = 0;
    pthread_mutex_lock(&p->lock);
    while (p->n_filled == p->n_drained && !p->is_done)
        pthread_cond_wait(&p->changed, &p->lock);
    if (p->n_filled != p->n_drained) {
        const unsigned at = p->n_drained++ % N_BLOCKS;
        *data = p->buffers[at] + OSC_TEXT_HEADROOM;
        *len = p->len[at];
        pthread_cond_signal(&p->changed);
    } else {
        st = p->status;
        if (st != OSC_OK)
            *err = p->err;
    }
    pthread_mutex_unlock(&p->lock);
    return st;
}

/* The same without a thread. The error of a block of which some was inflated comes with the
 * next call. */
static osc_status own_next(struct osc_blocks *b, char **data, size_t *len, struct osc_err *err)
{
    struct osc_pipe *p = (struct osc_pipe *)b;
    char *buffer = p->buffers[p->n_filled++ % 2];

    *len = 0;
    *data = buffer + OSC_TEXT_HEADROOM;
    if (p->is_done) {
        if (p->status != OSC_OK)
            *err = p->err;
        return p->status;
    }
    p->status = inflate_block(p, *data, len, &p->err);
    p->is_done = p->status != OSC_OK || *len < p->block_bytes;
    if (p->status != OSC_OK && *len == 0) {
        *err = p->err;
        return p->status;
    }
    return OSC_OK;
}

osc_status osc_pipe_open(struct osc_pipe **pipe, struct osc_input *in,
                         enum osc_inflate_format format, size_t block_bytes, bool is_threaded,
                         struct osc_err *err)
{
    struct osc_pipe *p = osc_calloc(1, sizeof *p);

    *pipe = p;
    if (!p)
        return osc_fail(err, OSC_ENOMEM, "%s: out of memory", in->path);
    p->blocks.next = is_threaded ? threaded_next : own_next;
    p->block_bytes = block_bytes;
    p->account = osc_mem_account_here();
    osc_raw_blocks_init(&p->raw, in, 0, block_bytes);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    for (unsigned i = 0; i < N_BLOCKS; i++) {
        p->buffers[i] = osc_malloc(OSC_TEXT_HEADROOM + block_bytes + OSC_TEXT_PADDING);
        if (!p->buffers[i])
            return osc_fail(err, OSC_ENOMEM, "%s: out of memory", in->path);
    }
    const osc_status st = osc_inflate_new(&p->inflate, format, err);
    if (st != OSC_OK) {
        osc_err_prefix(err, "%s", in->path);
        return st;
    }
    if (is_threaded && pthread_create(&p->thread, NULL, inflate_all, p) == 0)
        p->is_threaded = true;
    else
        p->blocks.next = own_next;
    return OSC_OK;
}

void osc_pipe_close(struct osc_pipe *p)
{
    if (!p)
        return;
    if (p->is_threaded) {
        pthread_mutex_lock(&p->lock);
        p->is_stopped = true;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
    }
    osc_inflate_free(p->inflate);
    osc_raw_blocks_fini(&p->raw);
    for (unsigned i = 0; i < N_BLOCKS; i++)
        osc_free(p->buffers[i]);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    osc_free(p);
}

struct osc_blocks *osc_pipe_blocks(struct osc_pipe *p)
{
    return &p->blocks;
}

uint64_t osc_pipe_taken(const struct osc_pipe *p)
{
    return atomic_load_explicit(&p->taken, memory_order_relaxed);
}

bool osc_pipe_has_garbage(const struct osc_pipe *p)
{
    return osc_inflate_info(p->inflate)->garbage_bytes > 0;
}
