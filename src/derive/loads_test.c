/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/loads.h"

#include "base/mem.h"
#include "derive/facts.h"
#include "support/small_trace.h"
#include "support/unit.h"

#define BLOCKS(name, ts, dur, correlation, blocks) \
    WORK("kernel", name, ts, dur, correlation, ",'blocks per SM':" #blocks)
#define ON_DEVICE(cat, device, ts, dur)                                                       \
    "{'ph':'X','cat':'" cat "','name':'w','pid':" #device ",'tid':7,'ts':" #ts ",'dur':" #dur \
    ",'args':{'device':" #device ",'stream':7}},"
#define SPAN(ts, dur) RANGE("Trace", "PyTorch Profiler (0)", 3, ts, dur, "")

static struct osc_trace trace;
static struct osc_loads loads;

static int end(void **state)
{
    (void)state;
    osc_loads_fini(&loads);
    osc_trace_fini(&trace);
    return 0;
}

static osc_status make(void)
{
    const struct osc_facts *const f = osc_trace_facts(&trace);

    return osc_loads_make(&trace, &f->classes, &f->order, &f->links, &loads);
}

static void load(const char *text)
{
    assert_true(small_load(&trace, text));
    assert_int_equal(osc_derive(&trace, OSC_FACT_LINKS, 1, NULL), OSC_OK);
    assert_int_equal(make(), OSC_OK);
}

static void assert_fill(uint32_t i, int64_t start_ns, int64_t end_ns, double fill)
{
    const struct osc_fill *const f = &loads.devices[0].fills[i];

    assert_int_equal(f->start_ns, start_ns);
    assert_int_equal(f->end_ns, end_ns);
    assert_true((double)f->fill / (double)OSC_FILL_ONE == fill);
}

TEST_WITH(concurrent_kernels_fill_at_most_the_whole_device, NULL, end)
{
    load(BLOCKS("a", 0, 10, 1, 0.5) BLOCKS("b", 5, 10, 2, 0.75) BLOCKS("c", 12, 10, 3, 0.25));
    assert_int_equal(loads.n_devices, 1);
    assert_int_equal(loads.devices[0].n_fills, 5);
    assert_fill(0, 0, 5000, 0.5);
    assert_fill(1, 5000, 10000, 1);
    assert_fill(2, 10000, 12000, 0.75);
    assert_fill(3, 12000, 15000, 1);
    assert_fill(4, 15000, 22000, 0.25);
}

/* With doubles, 0.1 + 0.2 - 0.1 - 0.2 leaves 2.8e-17 behind. */
TEST_WITH(a_sweep_leaves_nothing_between_kernels, NULL, end)
{
    load(BLOCKS("a", 0, 10, 1, 0.1) BLOCKS("b", 5, 10, 2, 0.2) BLOCKS("c", 30, 5, 3, 12));
    assert_int_equal(loads.devices[0].n_fills, 4);
    assert_fill(3, 30000, 35000, 1);
}

TEST_WITH(a_kernel_without_a_length_or_blocks_fills_nothing, NULL, end)
{
    load(BLOCKS("a", 0, 0, 1, 0.5) BLOCKS("b", 1, 5, 2, 0) BLOCKS("c", 7, 5, 3, 'inf')
             KERNEL("d", 20, 5, 4));
    assert_int_equal(loads.devices[0].n_fills, 0);
    assert_int_equal(loads.devices[0].busy.n, 3);
}

/* Four queues of one device, in no order of time; ends of one queue cross. */
TEST_WITH(queues_are_swept_in_order_of_time, NULL, end)
{
    char text[8192];
    size_t len = 0;

    for (int i = 0; i < 40; i++)
        len += (size_t)snprintf(
            text + len, sizeof text - len,
            "{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':%d,'ts':%d,'dur':%d,"
            "'args':{'device':0,'stream':%d,'blocks per SM':0.0625}},",
            i % 4, i * 7 % 40, i % 8 == 0 ? 9 : 1, i % 4);
    load(text);
    double area = 0;
    for (size_t i = 0; i < loads.devices[0].n_fills; i++) {
        const struct osc_fill *const f = &loads.devices[0].fills[i];

        assert_true(f->start_ns < f->end_ns);
        assert_true(i == 0 || loads.devices[0].fills[i - 1].end_ns <= f->start_ns);
        area += (double)f->fill / (double)OSC_FILL_ONE * (double)(f->end_ns - f->start_ns);
    }
    assert_true(area == 0.0625 * (35 + 5 * 9) * 1000);
    assert_int_equal(loads.devices[0].busy.n, 1);
    assert_int_equal(loads.devices[0].busy.v[0].end_ns, 41000);
}

TEST_WITH(devices_stand_in_order_of_their_numbers, NULL, end)
{
    load(ON_DEVICE("kernel", 10, 0, 5) ON_DEVICE("gpu_memcpy", 2, 0, 5)
             ON_DEVICE("kernel", 9, 7, 5));
    assert_int_equal(loads.n_devices, 3);
    assert_int_equal(loads.devices[0].number, 2);
    assert_false(loads.devices[0].has_kernels);
    assert_int_equal(loads.devices[0].busy.n, 0);
    assert_int_equal(loads.devices[1].number, 9);
    assert_int_equal(loads.devices[2].number, 10);
    assert_int_equal(loads.devices[2].busy.v[0].end_ns, 5000);
}

TEST_WITH(buckets_are_a_power_of_ten_and_the_last_is_longer, NULL, end)
{
    load(SPAN(10, 1065) KERNEL("k", 0, 25, 1) KERNEL("k", 1070, 100, 2));
    assert_int_equal(loads.bucket_ns, 100000);
    assert_int_equal(loads.n_buckets, 10);
    const struct osc_load first = osc_loads_bucket(&loads, 0, 0);
    const struct osc_load last = osc_loads_bucket(&loads, 0, 9);
    assert_int_equal(first.start_ns, 10000);
    assert_int_equal(first.end_ns, 110000);
    assert_int_equal(first.busy_ns, 15000);
    assert_int_equal(last.start_ns, 910000);
    assert_int_equal(last.end_ns, 1075000);
    assert_int_equal(last.busy_ns, 5000);
}

TEST_WITH(a_hundred_buckets_are_not_too_many, NULL, end)
{
    load(SPAN(0, 100) KERNEL("k", 0, 1, 1));
    assert_int_equal(loads.bucket_ns, 1000);
    assert_int_equal(loads.n_buckets, 100);
    end(NULL);
    load(SPAN(0, 100.001) KERNEL("k", 0, 1, 1));
    assert_int_equal(loads.bucket_ns, 10000);
    assert_int_equal(loads.n_buckets, 10);
    end(NULL);
    load(SPAN(0, 0.5) KERNEL("k", 0, 1, 1));
    assert_int_equal(loads.n_buckets, 1);
    end(NULL);
    load(SPAN(0, 4e15) KERNEL("k", 0, 1, 1));
    assert_int_equal(loads.n_buckets, 40);
    assert_int_equal(osc_loads_bucket(&loads, 0, 39).end_ns, INT64_C(4000000000000000000));
}

TEST_WITH(without_a_span_all_events_are_the_extent, NULL, end)
{
    load(OP("aten::mm", 1, 5, 10, "") KERNEL("k", 20, 30, 1));
    assert_int_equal(loads.start_ns, 5000);
    assert_int_equal(loads.end_ns, 50000);
}

/* Fail the first allocation, then the second, ... until the work gets done. */
TEST_WITH(any_failed_allocation_leaves_no_loads, NULL, end)
{
    osc_status st = OSC_ENOMEM;

    load(BLOCKS("a", 10, 10, 1, 0.5) BLOCKS("b", 5, 10, 2, 0.75) ON_DEVICE("kernel", 1, 0, 5));
    osc_loads_fini(&loads);
    for (long n = 0; st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = make();
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || (st == OSC_ENOMEM && loads.n_devices == 0));
    }
    assert_int_equal(loads.n_devices, 2);
}

UNIT_MAIN("loads")
