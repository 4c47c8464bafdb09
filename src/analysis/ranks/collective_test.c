/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/collective.h"

#include "analysis/dtypes.h"
#include "support/unit.h"

TEST(an_operation_is_found_in_any_spelling)
{
    static const struct {
        const char *name;
        enum osc_collective op;
    } names[] = {
        {"nccl:_all_gather_base", OSC_COLLECTIVE_ALL_GATHER},
        {"c10d::allgather_", OSC_COLLECTIVE_ALL_GATHER},
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", OSC_COLLECTIVE_ALL_REDUCE},
        {"ncclKernel_ReduceScatter_RING_LL", OSC_COLLECTIVE_REDUCE_SCATTER},
        {"ncclKernel_Reduce_RING_LL", OSC_COLLECTIVE_REDUCE},
        {"all_to_allv", OSC_COLLECTIVE_ALL_TO_ALLV},
        {"nccl:all_to_all", OSC_COLLECTIVE_ALL_TO_ALL},
        {"ncclDevKernel_SendRecv", OSC_COLLECTIVE_SEND_RECV},
        {"MPI_Bcast", OSC_COLLECTIVE_BROADCAST},
        {"gloo:barrier", OSC_COLLECTIVE_BARRIER},
        {"nccl:coalesced", OSC_COLLECTIVE_OTHER},
        {"", OSC_COLLECTIVE_OTHER},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(osc_collective_of(osc_str_c(names[i].name)), names[i].op);
}

TEST(sizes_are_of_tensors_of_known_types_alone)
{
    assert_int_equal(osc_dtype_bytes(OSC_STR("Float")), 4);
    assert_int_equal(osc_dtype_bytes(OSC_STR("c10::BFloat16")), 2);
    assert_int_equal(osc_dtype_bytes(OSC_STR("c10::complex<c10::Half>")), 4);
    assert_int_equal(osc_dtype_bytes(OSC_STR("c10::complex<double>")), 16);
    assert_int_equal(osc_dtype_bytes(OSC_STR("short int")), 2);
    assert_int_equal(osc_dtype_bytes(OSC_STR("Float8_e4m3fn")), 1);
    assert_int_equal(osc_dtype_bytes(OSC_STR("TensorList")), 0);
    assert_int_equal(
        osc_collective_input_bytes(OSC_STR("[[3, 2], []]"), OSC_STR("[\"float\", \"Scalar\"]")),
        24);
    assert_int_equal(
        osc_collective_input_bytes(OSC_STR("[[[3]]]"), OSC_STR("[\"TensorList\"]")), -1);
    assert_int_equal(osc_collective_input_bytes(OSC_STR("[[3]]"), OSC_STR("[]")), -1);
    assert_int_equal(osc_collective_input_bytes(OSC_STR(""), OSC_STR("")), -1);
    assert_int_equal(
        osc_collective_input_bytes(OSC_STR("[[4611686018427387904]]"), OSC_STR("[\"int\"]")),
        -1);
}

/* n = 8, 1 GiB of bf16 in 4 ms: 268.44 GB/s and 469.76 GB/s. */
TEST(the_bus_carries_more_than_the_message)
{
    assert_true(osc_collective_bus_factor(OSC_COLLECTIVE_ALL_REDUCE, 8) == 1.75);
    assert_true(osc_collective_bus_factor(OSC_COLLECTIVE_ALL_GATHER, 16) == 0.9375);
    assert_true(osc_collective_bus_factor(OSC_COLLECTIVE_BROADCAST, 8) == 1);
    assert_true(osc_collective_bus_factor(OSC_COLLECTIVE_BARRIER, 8) == 0);
    assert_true(osc_collective_bus_factor(OSC_COLLECTIVE_ALL_REDUCE, 1) == 0);
}

UNIT_MAIN("collective")
