/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/pipe.h"

#include <pthread.h>

#include "base/mem.h"
#include "support/unit.h"

#define SECOND_NS INT64_C(1000000000)

/* What the answering thread writes: this many bytes, in pieces. */
struct writing {
    struct osc_pipe *pipe;
    size_t n_bytes;
    bool is_refused;
};

static char byte_at(size_t i)
{
    return (char)(i * 31 + i / 251);
}

static void *write_all(void *ctx)
{
    struct writing *const w = ctx;
    const struct osc_api_sink *const sink = osc_pipe_sink(w->pipe);
    char piece[5000];

    sink->begin(sink->ctx, &(struct osc_api_head){.status = 200, .type = "text/plain"});
    for (size_t at = 0; at < w->n_bytes && !w->is_refused;) {
        const size_t n = w->n_bytes - at < sizeof piece ? w->n_bytes - at : sizeof piece;

        for (size_t i = 0; i < n; i++)
            piece[i] = byte_at(at + i);
        w->is_refused = sink->write(sink->ctx, piece, n) != 0;
        at += n;
    }
    osc_pipe_end(w->pipe, !w->is_refused);
    return NULL;
}

TEST(all_bytes_arrive_in_order)
{
    static const size_t sizes[] = {
        0, 1, 4999, OSC_PIPE_BYTES, OSC_PIPE_BYTES + 1, (size_t)3 * OSC_PIPE_BYTES + 17};
    char taken[3001];

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct writing w = {.pipe = osc_pipe_new(), .n_bytes = sizes[s]};
        struct osc_pipe_state now;
        pthread_t thread;
        size_t at = 0;

        assert_non_null(w.pipe);
        assert_int_equal(pthread_create(&thread, NULL, write_all, &w), 0);
        now = osc_pipe_wait(w.pipe, false, 10 * SECOND_NS);
        assert_non_null(now.head);
        assert_int_equal(now.head->status, 200);
        assert_string_equal(now.head->type, "text/plain");
        assert_true(now.is_full || now.is_ended);
        do {
            const size_t n = osc_pipe_take(w.pipe, taken, sizeof taken);

            for (size_t i = 0; i < n; i++)
                assert_int_equal(taken[i], byte_at(at + i));
            at += n;
            now = osc_pipe_wait(w.pipe, true, 10 * SECOND_NS);
        } while (!now.is_ended || now.n_bytes > 0);
        assert_true(now.is_whole);
        assert_int_equal(at, sizes[s]);
        osc_pipe_leave(w.pipe);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}

TEST(who_writes_learns_that_the_client_is_gone)
{
    struct writing w = {.pipe = osc_pipe_new(), .n_bytes = (size_t)10 * OSC_PIPE_BYTES};
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, write_all, &w), 0);
    assert_true(osc_pipe_wait(w.pipe, false, 10 * SECOND_NS).is_full);
    osc_pipe_leave(w.pipe);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(w.is_refused);
}

TEST(waiting_ends_in_time)
{
    struct osc_pipe *const p = osc_pipe_new();
    const struct osc_api_sink *const sink = osc_pipe_sink(p);

    (void)state;
    assert_null(osc_pipe_wait(p, false, SECOND_NS / 100).head);
    assert_false(sink->is_gone(sink->ctx));
    sink->work(sink->ctx);
    assert_true(osc_pipe_wait(p, false, 1).work_ns > 0);
    osc_pipe_give_up(p, false);
    assert_false(sink->is_gone(sink->ctx));
    osc_pipe_give_up(p, true);
    assert_true(sink->is_gone(sink->ctx));
    osc_pipe_end(p, false);
    const struct osc_pipe_state now = osc_pipe_wait(p, true, SECOND_NS);
    assert_true(now.is_ended && !now.is_whole);
    osc_pipe_leave(p);
}

UNIT_MAIN("pipe")
