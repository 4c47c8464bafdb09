/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/loss_watch.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/thread/losses.h"
#include "support/flushed.h"

#define SECOND INT64_C(1000000000)

static struct {
    uint32_t n_calls;
    struct osc_losses last;
    long thread;
    osc_status dumped; /* what osc_dump() returned there */
} told;

static void on_lost(void *ctx, const struct osc_losses *losses)
{
    assert_ptr_equal(ctx, &told);
    told.last = *losses;
    told.thread = syscall(SYS_gettid);
    /* release: pairs with the acquire in n_calls() */
    __atomic_add_fetch(&told.n_calls, 1, __ATOMIC_RELEASE);
}

static uint32_t n_calls(void)
{
    /* acquire: pairs with the release in on_lost() */
    return __atomic_load_n(&told.n_calls, __ATOMIC_ACQUIRE);
}

static int begin(void **state)
{
    osc_losses_reset();
    memset(&told, 0, sizeof told);
    return make_folder(state);
}

TEST_WITH(it_is_told_once_a_second_and_only_if_more_was_lost, begin, remove_folder)
{
    struct osc_loss_watch w = {.lost = on_lost, .ctx = &told};

    osc_loss_watch_look(&w, SECOND);
    assert_int_equal(n_calls(), 0);
    osc_losses_add(OSC_LOSS_FULL, 3);
    osc_loss_watch_look(&w, SECOND);
    assert_int_equal(n_calls(), 1);
    assert_int_equal(told.last.full, 3);
    osc_losses_add(OSC_LOSS_LATE, 1);
    osc_loss_watch_look(&w, 2 * SECOND - 1);
    assert_int_equal(n_calls(), 1);
    osc_loss_watch_look(&w, 2 * SECOND);
    assert_int_equal(n_calls(), 2);
    assert_int_equal(told.last.full, 3);
    assert_int_equal(told.last.late, 1);
    osc_loss_watch_look(&w, 9 * SECOND);
    assert_int_equal(n_calls(), 2);
}

TEST_WITH(the_end_is_told_if_anything_was_lost, begin, remove_folder)
{
    struct osc_loss_watch w = {.lost = on_lost, .ctx = &told};

    osc_loss_watch_end(&w);
    assert_int_equal(n_calls(), 0);
    osc_losses_add(OSC_LOSS_NESTED, 2);
    osc_loss_watch_look(&w, SECOND);
    osc_loss_watch_end(&w);
    assert_int_equal(n_calls(), 2);
    assert_int_equal(told.last.nested, 2);
}

TEST_WITH(nobody_may_want_to_be_told, begin, remove_folder)
{
    struct osc_loss_watch w = {0};

    osc_losses_add(OSC_LOSS_FULL, 1);
    osc_loss_watch_look(&w, SECOND);
    osc_loss_watch_end(&w);
    assert_int_equal(n_calls(), 0);
}

/* Options that tell LOST of losses. */
static struct osc_start_options telling(void (*lost)(void *ctx,
                                                     const struct osc_losses *losses))
{
    struct osc_start_options o = options();

    o.lost = lost;
    o.ctx = &told;
    o.trace_ready = NULL;
    return o;
}

/* Lose one record: its text is longer than a record may be. */
static void lose_one(void)
{
    static char text[5000];

    memset(text, 'x', sizeof text);
    osc_begin(OSC_SCOPE_PLAIN, osc_name_c("scope"));
    osc_arg_json(osc_name_c("text"), text, sizeof text);
    osc_end();
}

TEST_WITH(the_thread_of_the_library_tells_it_while_others_record, begin, remove_folder)
{
    const struct osc_start_options o = telling(on_lost);

    assert_int_equal(osc_start(&o), OSC_OK);
    for (int i = 0; i < 2000 && n_calls() == 0; i++) {
        lose_one();
        nap_ms(5);
    }
    assert_true(n_calls() > 0);
    assert_int_equal(osc_stop(), OSC_OK);
    assert_true(n_calls() > 1);
    struct osc_losses all;
    osc_losses_get(&all);
    assert_true(told.last.too_big > 0);
    assert_int_equal(told.last.too_big, all.too_big);
    assert_true(told.thread != syscall(SYS_gettid));
}

static void on_lost_record(void *ctx, const struct osc_losses *losses)
{
    osc_instant(osc_name_c("told"));
    if (n_calls() == 0)
        told.dumped = osc_dump();
    on_lost(ctx, losses);
}

TEST_WITH(it_may_record_but_not_wait_for_its_own_thread, begin, remove_folder)
{
    const struct osc_start_options o = telling(on_lost_record);

    assert_int_equal(osc_start(&o), OSC_OK);
    lose_one();
    for (int i = 0; i < 2000 && n_calls() == 0; i++)
        nap_ms(5);
    assert_int_equal(told.dumped, OSC_EINVAL);
    assert_int_equal(osc_stop(), OSC_OK);
    assert_true(n_calls() > 1);
}

TEST_WITH(a_caller_with_shorter_options_is_told_nothing, begin, remove_folder)
{
    struct osc_start_options o = telling(on_lost);

    o.size = offsetof(struct osc_start_options, lost);
    assert_int_equal(osc_start(&o), OSC_OK);
    lose_one();
    assert_int_equal(osc_stop(), OSC_OK);
    assert_int_equal(n_calls(), 0);
}

UNIT_MAIN("loss_watch")
