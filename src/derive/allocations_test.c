/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/allocations.h"

#include "base/mem.h"
#include "derive/facts.h"
#include "support/small_trace.h"
#include "support/unit.h"

/* A record of thread 1 with ARGS. */
#define RECORD(ts, args) \
    "{'ph':'i','s':'t','name':'[memory]','pid':1,'tid':1,'ts':" #ts ",'args':{" args "}},"
#define ON(type, id, address, bytes) \
    "'Device Type':" #type ",'Device Id':" #id ",'Addr':" address ",'Bytes':" #bytes

static struct osc_trace trace;

static const struct osc_allocations *load(const char *events)
{
    assert_true(small_load(&trace, events));
    assert_int_equal(osc_derive(&trace, OSC_FACT_ALLOCATIONS, 1, NULL), OSC_OK);
    return &osc_trace_facts(&trace)->allocations;
}

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&trace);
    return 0;
}

static uint64_t found(enum osc_finding_code code)
{
    return trace.findings.by_code[code].count;
}

/* Index of what record K of the first device is paired with; -1: nothing. */
static int other(const struct osc_allocations *a, uint32_t k)
{
    return (int)a->records[k].other - 1;
}

TEST_WITH(pairs_by_device_and_address, NULL, end)
{
    const struct osc_allocations *const a =
        load(RECORD(1, ON(0, -1, "64", 8)) RECORD(2, ON(1, 0, "64", 16))
                 RECORD(3, ON(0, 0, "64", -8)) RECORD(4, ON(1, 1, "64", -16))
                     RECORD(5, ON(1, 0, "64", -16)));

    assert_int_equal(a->n_devices, 3);
    assert_string_equal(a->devices[0].name, "cpu"); /* whatever its id */
    assert_string_equal(a->devices[1].name, "cuda:0");
    assert_string_equal(a->devices[2].name, "cuda:1");
    assert_int_equal(other(a, 0), 1);
    assert_int_equal(other(a, 1), 0);
    assert_int_equal(other(a, 2), 3);
    assert_int_equal(other(a, 4), -1);
    assert_int_equal(found(OSC_FINDING_unpaired_release), 1);
    assert_int_equal(found(OSC_FINDING_lost_release), 0);
}

#define CALL_OF(category, name) \
    "{'ph':'X','cat':'" category "','name':'" name "','pid':1,'tid':1,'ts':1,'dur':1},"

TEST_WITH(names_a_device_as_its_queues_do, NULL, end)
{
    static const struct {
        const char *call, *one, *six, *twenty;
    } cases[] = {
        {CALL_OF("cuda_runtime", "cudaLaunchKernel"), "cuda:0", "hip:0", "privateuse1:0"},
        {CALL_OF("privateuse1_runtime", "aclrtLaunchKernel"), "cuda:0", "hip:0", "npu:0"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];

        snprintf(text, sizeof text, "%s%s", cases[i].call,
                 RECORD(1, ON(1, 0, "64", 16)) RECORD(2, ON(6, 0, "64", 16))
                     RECORD(3, ON(20, 0, "64", 16)) KERNEL("k", 1, 1, 1));
        const struct osc_allocations *const a = load(text);

        assert_int_equal(a->n_devices, 3);
        assert_string_equal(a->devices[0].name, cases[i].one);
        assert_string_equal(a->devices[1].name, cases[i].six);
        assert_string_equal(a->devices[2].name, cases[i].twenty);
        osc_trace_fini(&trace);
    }
}

TEST_WITH(both_words_of_rocm_are_one_device, NULL, end)
{
    const struct osc_allocations *const a = load(
        CALL_OF("cuda_runtime", "hipLaunchKernel") RECORD(1, ON(6, 0, "64", 16))
            RECORD(2, ON(1, 0, "64", -16)) RECORD(3, ON(1, 1, "64", 16)) KERNEL("k", 1, 1, 1));

    assert_int_equal(a->n_devices, 2);
    assert_string_equal(a->devices[0].name, "hip:0");
    assert_string_equal(a->devices[1].name, "hip:1");
    assert_int_equal(other(a, 0), 1);
}

TEST_WITH(keeps_what_has_no_counterpart, NULL, end)
{
    const struct osc_allocations *const a = load(
        RECORD(1, ON(0, 0, "1", 8)) RECORD(2, ON(0, 0, "1", 9)) RECORD(3, ON(0, 0, "1", -9))
            RECORD(4, ON(0, 0, "1", -9)) RECORD(5, ON(0, 0, "2", 4)));

    assert_int_equal(a->n_records, 5);
    assert_int_equal(other(a, 0), 1); /* its release is lost */
    assert_int_equal(other(a, 1), 2);
    assert_int_equal(other(a, 2), 1);
    assert_int_equal(other(a, 3), -1);
    assert_int_equal(other(a, 4), -1);
    assert_int_equal(found(OSC_FINDING_lost_release), 1);
    assert_int_equal(found(OSC_FINDING_unpaired_release), 1);
    assert_true(osc_allocation_is_live(a, 0, 0));
    assert_false(osc_allocation_is_live(a, 0, 1));
    assert_true(osc_allocation_is_live(a, 1, 1));
    assert_false(osc_allocation_is_live(a, 1, 2));
    assert_true(osc_allocation_is_live(a, 4, 4));
    assert_false(osc_allocation_is_live(a, 4, 3)); /* not yet */
    assert_false(osc_allocation_is_live(a, 3, 4)); /* a release */
}

TEST_WITH(orders_threads_by_time_and_the_file, NULL, end)
{
    const struct osc_allocations *const a =
        load(MEMORY(2, 9, -8) MEMORY(1, 5, 8) MEMORY(2, 5, -8) MEMORY(1, 1, 16));

    assert_int_equal(small_number(a->records[0].row), 3);
    assert_int_equal(small_number(a->records[1].row), 1);
    assert_int_equal(small_number(a->records[2].row), 2);
    assert_int_equal(small_number(a->records[3].row), 0);
    assert_int_equal(osc_allocations_at(a, &a->devices[0], 0), 0);
    assert_int_equal(osc_allocations_at(a, &a->devices[0], 5000), 1);
    assert_int_equal(osc_allocations_at(a, &a->devices[0], 5001), 3);
    assert_int_equal(osc_allocations_at(a, &a->devices[0], 9001), 4);
}

TEST_WITH(names_any_device_and_pairs_none_that_is_unknown, NULL, end)
{
    const struct osc_allocations *const a =
        load(RECORD(1, ON(12, 3, "1", 8)) RECORD(2, ON(20, -1, "1", 8))
                 RECORD(3, ON(99, 2, "1", 8)) RECORD(4, ON(300, 2, "1", 8))
                     RECORD(5, "'Addr':1,'Bytes':-8") RECORD(6, ON(1, 99999, "1", 8)));

    assert_int_equal(a->n_devices, 4);
    assert_string_equal(a->devices[0].name, "xpu:3");
    assert_string_equal(a->devices[1].name, "privateuse1");
    assert_string_equal(a->devices[2].name, "type99:2");
    assert_string_equal(a->devices[3].name, "unknown");
    assert_int_equal(a->devices[3].n, 3);
    for (uint32_t k = 0; k < a->n_records; k++)
        assert_int_equal(other(a, k), -1);
    assert_int_equal(found(OSC_FINDING_bad_memory_record), 3);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_bad_memory_record].first_ns, 4000);
}

TEST_WITH(takes_addresses_of_64_bits_and_leaves_records_without_size, NULL, end)
{
    const struct osc_allocations *const a =
        load(RECORD(1, ON(12, 0, "18446603336221196288", 8))
                 RECORD(2, ON(12, 0, "18446603336221196288", -8))
                     RECORD(3, "'Device Type':0,'Addr':3") RECORD(4, "'Device Type':0,'Addr':3,"
                                                                     "'Bytes':9e30")
                         RECORD(5, "'Device Type':0,'Bytes':-4"));

    assert_int_equal(a->n_records, 3);
    assert_int_equal(a->n_unusable, 2);
    assert_int_equal(other(a, 0), 1);
    assert_int_equal(other(a, 1), 0);
    assert_int_equal(other(a, 2), -1);
    assert_int_equal(found(OSC_FINDING_bad_memory_record), 2);
    assert_int_equal(found(OSC_FINDING_unpaired_release), 0); /* nobody knows */
}

TEST_WITH(counts_totals_that_do_not_follow_and_failed_allocations, NULL, end)
{
    load(RECORD(1, ON(0, 0, "1", 8) ",'Total Allocated':108") RECORD(
        2, ON(0, 0, "2", 8) ",'Total Allocated':116")
             RECORD(3, ON(0, 0, "3", 8) ",'Total Allocated':100") RECORD(
                 4, ON(0, 0, "3", -8) ",'Total Allocated':-1") RECORD(5, ON(0, 0, "4", 8))
                 RECORD(6,
                        ON(0, 0, "5",
                           8) ",'Total Allocated':7") "{'ph':'i','s':'t','name':'[OutOfMemory]'"
                                                      ",'pid':1,'tid':1,'ts':7,'args':{"
                                                      "'Bytes':9}},");
    assert_int_equal(found(OSC_FINDING_memory_gap), 2);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_memory_gap].first_ns, 3000);
    assert_int_equal(found(OSC_FINDING_out_of_memory), 1);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_out_of_memory].first_ns, 7000);

    /* Made anew, they count the same. */
    osc_derive_forget(&trace);
    assert_int_equal(found(OSC_FINDING_memory_gap), 0);
    assert_int_equal(osc_derive(&trace, OSC_FACT_ALLOCATIONS, 1, NULL), OSC_OK);
    assert_int_equal(found(OSC_FINDING_memory_gap), 2);
    assert_int_equal(found(OSC_FINDING_out_of_memory), 1);
}

TEST_WITH(survives_any_failed_allocation, NULL, end)
{
    osc_status st = OSC_ENOMEM;

    assert_true(small_load(&trace, RECORD(1, ON(0, 0, "1", 8)) RECORD(2, ON(1, 0, "1", 9))
                                       RECORD(3, ON(0, 0, "1", -8))));
    for (long n = 0; st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = osc_derive(&trace, OSC_FACT_ALLOCATIONS, 1, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        assert_true(n < 1000);
    }
    assert_int_equal(osc_trace_facts(&trace)->allocations.n_devices, 2);
    assert_int_equal(other(&osc_trace_facts(&trace)->allocations, 0), 1);
}

UNIT_MAIN("allocations")
