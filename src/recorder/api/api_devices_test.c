/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/api/api_devices.h"

#include <errno.h>

#include "opscope/source.h"

#include "support/recorded.h"
#include "support/unit.h"

TEST(queues_beyond_the_limit_share_one_of_their_device)
{
    enum { N = 6000 };
    const uint32_t a = osc_device_add(&(struct osc_device_info){.type = "npu"}),
                   b = osc_device_add(&(struct osc_device_info){.type = "npu", .index = 1});
    uint32_t last[2] = {0, 0}, n_different = 0;
    struct osc_losses losses;

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t queue = osc_queue_add(i % 2 ? b : a, "compute");

        assert_int_not_equal(queue, 0);
        n_different += queue != last[i % 2];
        last[i % 2] = queue;
    }
    assert_int_not_equal(last[0], last[1]);
    assert_in_range(n_different, 3840, 3842);
    assert_int_equal(osc_queue_add(a, "more"), last[0]);
    osc_losses_get(&losses);
    assert_int_equal(losses.full, 0);
}

/* Keep in CTX the size of memory that a record of a device tells. */
static void keep_memory(void *ctx, uint32_t thread, const struct osc_packed *r)
{
    (void)thread;
    if (r->kind == OSC_RECORD_DEVICE && r->words[2] > 0)
        *(uint64_t *)ctx = r->words[2];
}

TEST(a_device_may_be_described_later)
{
    static struct recorded rec;
    uint64_t bytes = 0;

    (void)state;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    rec.look = keep_memory;
    rec.ctx = &bytes;
    const uint32_t bare = osc_device_add(&(struct osc_device_info){.type = "later"});
    assert_int_equal(osc_device_add(&(struct osc_device_info){
                         .type = "later", .name = "Model", .memory_bytes = 100}),
                     bare);
    (void)osc_device_add(&(struct osc_device_info){.type = "later", .memory_bytes = 200});
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(bytes, 100);
    assert_int_equal(rec.all.n[OSC_RECORD_DEVICE_NAME], 1);
}

/* Report the work of LAUNCH, as soon as it is known that it has ended. */
static void finish(uint64_t launch)
{
    osc_work(1, &(struct osc_work_info){.kind = OSC_WORK_KERNEL,
                                        .start_ticks = 1,
                                        .end_ticks = 2,
                                        .correlation = launch});
}

TEST(work_belongs_to_the_recording_in_which_it_was_launched)
{
    static struct recorded rec;

    (void)state;
    (void)osc_queue_add(osc_device_add(&(struct osc_device_info){.type = "npu"}), NULL);
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    const uint64_t earlier = osc_launch();
    assert_int_equal(recorded_end(&rec), OSC_OK);
    const uint64_t between = osc_launch();

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    const uint64_t first = osc_launch();
    osc_pause();
    const uint64_t in_pause = osc_launch();
    osc_resume();
    finish(earlier);
    finish(between);
    finish(first);
    finish(in_pause);
    finish(0); /* its launch is not known */
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.n[OSC_RECORD_WORK], 3);
}

static uint64_t late; /* a launch whose work has ended and was not reported */

static void report_late(void)
{
    if (late != 0)
        finish(late);
    late = 0;
    errno = EINTR;
}

TEST(sources_report_before_the_recording_ends)
{
    static struct recorded rec;

    (void)state;
    osc_before_end(report_late);
    osc_before_end(report_late);
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    late = osc_launch();
    assert_false(osc_launch_is_earlier(late));
    const uint64_t kept = late;
    errno = 0;
    assert_int_equal(osc_stop(), OSC_OK);
    assert_int_equal(errno, 0);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.n[OSC_RECORD_WORK], 1);
    assert_true(osc_launch_is_earlier(kept));
}

UNIT_MAIN("api_devices")
