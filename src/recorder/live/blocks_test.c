/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/live/blocks.h"

#include "support/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static char dir[] = "/tmp/osc-blocks-XXXXXX";
static const uint64_t recording[2] = {7, 8};

static void open_pool(uint64_t limit_bytes)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY);

    assert_true(fd >= 0);
    (void)unlinkat(fd, "blocks", 0);
    assert_int_equal(osc_blocks_open(fd, limit_bytes, recording), OSC_OK);
    (void)close(fd);
}

TEST(gives_out_what_the_limit_allows_and_no_more)
{
    uint64_t last_seq = 0;

    open_pool(UINT64_C(30) * OSC_BLOCK_BYTES);
    assert_int_equal(osc_blocks_header()->n_blocks, 30);
    assert_int_equal(osc_blocks_header()->recording[1], 8);
    for (int i = 0; i < 30; i++) {
        const struct osc_block *b = osc_blocks_take(3, 44);

        assert_non_null(b);
        assert_int_equal((uintptr_t)b % OSC_BLOCK_BYTES, 0);
        assert_true(b->seq > last_seq && b->tag == (uint16_t)b->seq && b->tag != 0);
        assert_int_equal(b->state, OSC_BLOCK_OPEN);
        assert_int_equal(b->thread, 3);
        assert_int_equal(b->tid, 44);
        last_seq = b->seq;
    }
    assert_null(osc_blocks_take(3, 44));
    osc_blocks_close();
}

TEST(uses_the_addresses_of_recordings_long_ago_again)
{
    enum { ROUNDS = 100 };
    const void *bases[ROUNDS];
    int n_bases = 0;

    for (int i = 0; i < ROUNDS; i++) {
        open_pool(1 << 20);
        const void *base = osc_blocks_header();
        int k = 0;

        while (k < n_bases && bases[k] != base)
            k++;
        if (k == n_bases)
            bases[n_bases++] = base;
        assert_non_null(osc_blocks_take(1, 1));
        osc_blocks_close();
        osc_blocks_close();
        assert_ptr_equal(osc_blocks_header(), base);
        assert_null(osc_blocks_take(1, 1));
    }
    assert_in_range(n_bases, 2, 20);
}

TEST(drains_blocks_in_the_order_in_which_they_became_full)
{
    struct osc_block *taken[5];

    open_pool(1 << 20);
    assert_null(osc_blocks_drain());
    for (int i = 0; i < 5; i++)
        taken[i] = osc_blocks_take(1, 1);
    for (int i = 4; i >= 0; i--)
        osc_blocks_fill(taken[i], (uint32_t)i);
    struct osc_block *b = osc_blocks_drain();
    for (int i = 4; i >= 0; i--) {
        assert_ptr_equal(b, taken[i]);
        assert_int_equal(b->state, OSC_BLOCK_FULL);
        assert_int_equal(b->used_slots, i);
        b = osc_blocks_next(b);
    }
    assert_null(b);
    osc_blocks_close();
}

TEST(takes_a_used_block_first_and_cleared)
{
    open_pool(1 << 20);
    struct osc_block *b = osc_blocks_take(1, 1);

    memset(b->slots, 0xff, sizeof b->slots);
    osc_blocks_fill(b, OSC_BLOCK_SLOTS);
    assert_ptr_equal(osc_blocks_drain(), b);
    osc_blocks_give_back(b);
    assert_ptr_equal(osc_blocks_take(2, 2), b);
    for (uint32_t i = 0; i < OSC_BLOCK_SLOTS; i++)
        assert_int_equal(b->slots[i].word, 0);
    osc_blocks_close();
}

TEST(grows_early_by_little_and_then_by_pieces_once_less_than_a_quarter_is_free)
{
    open_pool(20 << 20);
    assert_int_equal(osc_blocks_header()->n_blocks, 32);
    assert_true(osc_blocks_grow_early());
    assert_int_equal(osc_blocks_header()->n_blocks, 48);
    while (osc_blocks_grow_early())
        continue;
    const uint32_t n = osc_blocks_header()->n_blocks;

    assert_int_equal(n, 512);
    osc_blocks_grow();
    assert_int_equal(osc_blocks_header()->n_blocks, n);
    for (uint32_t i = 0; i < n - n / 8; i++)
        assert_non_null(osc_blocks_take(1, 1));
    osc_blocks_grow();
    assert_int_equal(osc_blocks_header()->n_blocks, 2 * n);
    for (uint32_t i = 0; i < n; i++)
        assert_non_null(osc_blocks_take(1, 1));
    osc_blocks_grow();
    assert_int_equal(osc_blocks_header()->n_blocks, 1280);
    osc_blocks_close();
}

static uint32_t is_taken;

static void *add_when_asked(void *arg)
{
    (void)arg;
    /* acquire: pairs with the release in the test */
    while (!__atomic_load_n(&is_taken, __ATOMIC_ACQUIRE)) {
        osc_blocks_wait(INT64_C(100000000));
        osc_blocks_grow();
    }
    return NULL;
}

/* Take a block as a thread does that may wait, until the flusher is there. */
static struct osc_block *take_patiently(void)
{
    struct osc_block *b = NULL;

    for (int i = 0; i < 10000 && !b; i++) {
        b = osc_blocks_await(1, 1);
        (void)usleep(1000);
    }
    return b;
}

TEST(waits_for_blocks_as_long_as_some_can_be_added)
{
    const uint32_t n_max = 600;
    pthread_t flusher;

    open_pool((uint64_t)n_max * OSC_BLOCK_BYTES);
    const uint32_t n = osc_blocks_header()->n_blocks;

    for (uint32_t i = 0; i < n; i++)
        assert_non_null(osc_blocks_take(1, 1));
    assert_null(osc_blocks_await(1, 1)); /* there is no flusher */
    is_taken = 0;
    assert_int_equal(pthread_create(&flusher, NULL, add_when_asked, NULL), 0);
    for (uint32_t i = n; i < n_max; i++)
        assert_non_null(take_patiently());
    assert_null(osc_blocks_await(1, 1)); /* the limit is reached */
    __atomic_store_n(&is_taken, 1, __ATOMIC_RELEASE);
    osc_blocks_wake();
    assert_int_equal(pthread_join(flusher, NULL), 0);
    osc_blocks_close();
}

/* From here on this thread counts as the flusher. */
TEST(wakes_who_waits_and_is_not_late_for_a_wake_before)
{
    open_pool(1 << 20);
    osc_blocks_wake();
    osc_blocks_wait(INT64_MAX / 2); /* returns at once, or this test never ends */
    osc_blocks_wait(1000);
    osc_blocks_close();
}

TEST(ignores_blocks_of_a_recording_that_is_over)
{
    open_pool(1 << 20);
    struct osc_block *b = osc_blocks_take(1, 1);

    osc_blocks_close();
    b->slots[3].value = 1; /* harmless */
    osc_blocks_fill(b, 4);
    open_pool(1 << 20);
    osc_blocks_fill(b, 4);
    assert_null(osc_blocks_drain());
    osc_blocks_close();
}

enum { N_TAKERS = 4, N_TAKES = 10000 };
static int n_done;

static void *take_and_fill(void *arg)
{
    const uint64_t ordinal = (uint64_t)(uintptr_t)arg;

    for (int i = 0; i < N_TAKES;) {
        struct osc_block *b = osc_blocks_take(ordinal, 1);

        if (!b)
            continue;
        for (uint32_t s = 0; s < 8; s++)
            b->slots[s].value = b->seq;
        osc_blocks_fill(b, 8);
        i++;
    }
    __atomic_add_fetch(&n_done, 1, __ATOMIC_RELEASE);
    return NULL;
}

TEST(neither_loses_nor_doubles_a_block_among_threads)
{
    pthread_t threads[N_TAKERS];
    uint64_t n = 0, sum = 0;

    open_pool(1 << 20);
    n_done = 0;
    for (uintptr_t i = 0; i < N_TAKERS; i++)
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): a number for the thread */
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_fill, (void *)(i + 1)), 0);
    for (bool is_last = false; !is_last;) {
        is_last = __atomic_load_n(&n_done, __ATOMIC_ACQUIRE) == N_TAKERS;
        for (struct osc_block *b = osc_blocks_drain(), *next; b; b = next) {
            next = osc_blocks_next(b);
            for (uint32_t s = 0; s < 8; s++)
                assert_int_equal(b->slots[s].value, b->seq);
            n++;
            sum += b->thread;
            osc_blocks_give_back(b);
        }
    }
    for (int i = 0; i < N_TAKERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(n, N_TAKERS * N_TAKES);
    assert_int_equal(sum, N_TAKES * (1 + 2 + 3 + 4));
    osc_blocks_close();
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY);

    (void)state;
    (void)unlinkat(fd, "blocks", 0);
    (void)close(fd);
    return rmdir(dir);
}

int main(void)
{
    return unit_run("blocks", make_dir, remove_dir);
}
