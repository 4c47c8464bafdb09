/* SPDX-License-Identifier: Apache-2.0 */
#include "names/labels.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "support/unit.h"

#define N_MAX 1000

/* Names with their labels, composed by compose(). */
static struct osc_labels labels;
static osc_sid ids[N_MAX];
static char shown[N_MAX][256];

static void compose(const char *const *names, size_t n, size_t width, bool are_symbols)
{
    osc_labels_fini(&labels);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(osc_labels_add(&labels, osc_str_c(names[i]), are_symbols, &ids[i]),
                         OSC_OK);
    assert_int_equal(osc_labels_compose(&labels, width, width), OSC_OK);
    for (size_t i = 0; i < n; i++) {
        const struct osc_str label = osc_labels_get(&labels, ids[i]);

        assert_true(osc_utf8_columns(label) <= width);
        assert_true(label.len < sizeof shown[i]);
        memcpy(shown[i], label.s, label.len);
        shown[i][label.len] = '\0';
        for (size_t k = 0; k < i; k++)
            assert_true(ids[i].v == ids[k].v || strcmp(shown[i], shown[k]) != 0);
    }
}

static int end(void **state)
{
    (void)state;
    osc_labels_fini(&labels);
    return 0;
}

#define COMPOSE(width, ...)                     \
    compose((const char *const[]){__VA_ARGS__}, \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), width, true)

TEST_WITH(shows_the_argument_that_differs, NULL, end)
{
    COMPOSE(60, "void a::f<4, a::Fill<float>, 3>(int)", "void a::f<4, a::Mul<float>, 3>(int)");
    assert_string_equal(shown[0], "a::f<..., a::Fill<...>, ...>");
    assert_string_equal(shown[1], "a::f<..., a::Mul<...>, ...>");
    COMPOSE(60, "void f<4, Fill<float>>(int)", "void f<4, Fill<double>>(int)",
            "void f<8, Fill<double>>(int)", "void g<4>(int)");
    assert_string_equal(shown[0], "f<..., Fill<float>>");
    assert_string_equal(shown[1], "f<4, Fill<double>>");
    assert_string_equal(shown[2], "f<8, Fill<double>>");
    assert_string_equal(shown[3], "g<...>");
    COMPOSE(60, "void device_kernel<x::fp8_ptp::Gemm>(x::fp8_ptp::Gemm::Params)",
            "void device_kernel<x::m_fp8_ptp::Gemm>(x::m_fp8_ptp::Gemm::Params)",
            "void device_kernel<flash::Attn<1, 2> >(flash::Attn<1, 2>::Params)");
    assert_string_equal(shown[0], "device_kernel<x::fp8_ptp::Gemm>");
    assert_string_equal(shown[1], "device_kernel<x::m_fp8_ptp::Gemm>");
    assert_string_equal(shown[2], "device_kernel<flash::Attn<...>>");
}

TEST_WITH(shows_other_parts_only_if_arguments_are_equal, NULL, end)
{
    COMPOSE(60, "void f<int>(int, a)", "void f<int>(long, a)");
    assert_string_equal(shown[0], "f<...>(int, ...)");
    assert_string_equal(shown[1], "f<...>(long, ...)");
    COMPOSE(60, "void a::b::f<int>(int)", "void a::c::f<int>(int)");
    assert_string_equal(shown[0], "a::b::f<...>");
    assert_string_equal(shown[1], "a::c::f<...>");
    COMPOSE(9, "void a::b::f<int>(int)", "void a::c::f<int>(int)");
    assert_string_equal(shown[0], "b::f<\xe2\x80\xa6>");
    COMPOSE(60, "void f<int>(int)", "float f<int>(int)");
    assert_string_equal(shown[0], "void f<...>");
    assert_string_equal(shown[1], "float f<...>");
    COMPOSE(60, "void f<int>(int)", "void f<int>(int) [clone .kd]");
    assert_string_equal(shown[0], "f<...>");
    assert_string_equal(shown[1], "f<...> [clone .kd]");
}

TEST_WITH(leaves_out_scopes_before_it_cuts, NULL, end)
{
    static const char name[] = "void one::two::three::a_kernel<one::two::Traits<float>>(int)";

    COMPOSE(80, name);
    assert_string_equal(shown[0], "one::two::three::a_kernel<...>");
    COMPOSE(20, name);
    assert_string_equal(shown[0], "three::a_kernel<\xe2\x80\xa6>");
    COMPOSE(11, name);
    assert_string_equal(shown[0], "a_kernel<\xe2\x80\xa6>");
    COMPOSE(7, name);
    assert_string_equal(shown[0], "a_k\xe2\x80\xa6<\xe2\x80\xa6>");
    COMPOSE(1, name);
}

TEST_WITH(leaves_out_scopes_of_operators_where_width_forces_it, NULL, end)
{
    static const char *const names[] = {"aten::_scaled_dot_product_attention_backward",
                                        "aten::mm", "other::long_operator",
                                        "aten::long_operator"};

    compose(names, 2, 60, false);
    assert_string_equal(shown[0], names[0]);
    compose(names, 2, 40, false);
    assert_string_equal(shown[0], "_scaled_dot_product_attention_backward");
    assert_string_equal(shown[1], "aten::mm");
    compose(names, 4, 14, false); /* and still differ */
}

TEST_WITH(shows_what_a_wrapper_wraps, NULL, end)
{
    COMPOSE(80, "void cutlass::device_kernel<fp8::Gemm>(fp8::Gemm::Params)");
    assert_string_equal(shown[0], "cutlass::device_kernel<fp8::Gemm>");
    COMPOSE(100,
            "void at::native::vectorized_elementwise_kernel<4, at::native::tanh_kernel_cuda("
            "at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda(float)#1}, "
            "std::array<char*, 2ul> >(int)");
    assert_string_equal(shown[0], "at::native::vectorized_elementwise_kernel<..., "
                                  "at::native::tanh_kernel_cuda, ...>");
}

TEST_WITH(collectives_differ_at_any_width, NULL, end)
{
    for (size_t width = 4; width < 60; width++) {
        COMPOSE(width, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
        assert_true(width < 14 || strstr(shown[0], "AllGath"));
        assert_true(width < 14 || strstr(shown[1], "Redu"));
        assert_true(width < 14 || !strchr(shown[2], '#'));
    }
}

TEST_WITH(keeps_the_words_in_which_long_names_differ, NULL, end)
{
    COMPOSE(32, "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_MT256x32x64_MI16_SN_GSUAMB_WS64_WG16_4_4",
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_MT256x48x64_MI16_SN_GSUAMB_WS64_WG16_4_4",
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_MT256x48x64_MI16_SN_GSUAMBSK_WS64_WG16_4_4",
            "triton_poi_fused_add_bitwise_and_bitwise_not_bitwise_or_ge_lt_mul_sub_0",
            "triton_poi_fused_add_bitwise_and_bitwise_xor_bitwise_or_ge_lt_mul_sub_0");
    assert_non_null(strstr(shown[0], "MT256x32x64"));
    assert_non_null(strstr(shown[1], "GSUAMB\xe2\x80\xa6"));
    assert_non_null(strstr(shown[2], "GSUAMBSK"));
    assert_non_null(strstr(shown[3], "not"));
    assert_non_null(strstr(shown[4], "xor"));
}

static char made[N_MAX][256];

/* Compose the first N names of made: none gets a number. */
static void compose_made(size_t n, size_t width, bool are_symbols)
{
    const char *pointers[N_MAX] = {NULL};

    for (size_t i = 0; i < n; i++)
        pointers[i] = made[i];
    compose(pointers, n, width, are_symbols);
    for (size_t i = 0; i < n; i++)
        assert_null(strchr(shown[i], '#'));
}

/* Every part of what differs is shown, even where long arguments differ, too. */
TEST_WITH(folds_what_is_too_long_before_it_cuts, NULL, end)
{
    static const char *const kinds[] = {"Onesweep", "Histogram", "ExclusiveSum", "Upsweep",
                                        "Downsweep"};
    static const char *const types[] = {"int", "float"};

    for (size_t i = 0; i < 10; i++)
        snprintf(made[i], sizeof made[i],
                 "void cub::DeviceRadixSort%sKernel<cub::DeviceRadixSortPolicy<long, %s, "
                 "int>::Policy800, false, long, %s>(int*, int*)",
                 kinds[i / 2], types[i % 2], types[i % 2]);
    for (size_t width = 26; width < 120; width++) {
        compose_made(10, width, true);
        for (size_t i = 0; i < 10; i++) {
            assert_null(strstr(shown[i], "void"));
            assert_null(strchr(shown[i], '('));
            assert_non_null(strstr(shown[i], types[i % 2]));
            assert_true(width < 36 || strstr(shown[i], kinds[i / 2]));
        }
    }
    compose_made(10, 40, true);
    assert_string_equal(shown[0], "DeviceRadixSortOnesweepKernel<\xe2\x80\xa6int>");
    assert_string_equal(shown[3], "DeviceRadixSortHistogramKernel<\xe2\x80\xa6"
                                  "float>");
}

/* As in a sentence about a kernel and what launched it. */
TEST_WITH(folds_symbols_alone_and_tells_them_from_other_names, NULL, end)
{
    osc_sid kernel, op;

    osc_labels_fini(&labels);
    assert_int_equal(osc_labels_add(&labels, OSC_STR("void f<4>(int)"), true, &kernel), OSC_OK);
    assert_int_equal(osc_labels_add(&labels, OSC_STR("void g<4>(int)"), false, &op), OSC_OK);
    assert_int_equal(osc_labels_compose(&labels, 120, 80), OSC_OK);
    assert_true(osc_str_eq(osc_labels_get(&labels, kernel), OSC_STR("f<...>")));
    assert_true(osc_str_eq(osc_labels_get(&labels, op), OSC_STR("void g<4>(int)")));
    assert_int_equal(osc_labels_add(&labels, OSC_STR("f<...>"), false, &op), OSC_OK);
    assert_int_equal(osc_labels_compose(&labels, 120, 80), OSC_OK);
    assert_true(osc_str_eq(osc_labels_get(&labels, op), OSC_STR("f<...>")));
    assert_false(osc_str_eq(osc_labels_get(&labels, kernel), OSC_STR("f<...>")));
    assert_true(osc_str_starts(osc_labels_get(&labels, kernel), OSC_STR("f<")));
}

/* What tells names apart does not make others look the same. */
TEST_WITH(keeps_all_words_in_which_names_differ, NULL, end)
{
    for (size_t i = 0; i < 16; i++)
        snprintf(made[i], sizeof made[i],
                 "Cijk_%s_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT%sx64_MI16x16x1_SN_LDSB%zu_AFC1_"
                 "AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA0_WS64_WG32_8_%zu",
                 i < 8 ? "Alik" : "Ailk", i % 8 < 4 ? "64x64" : "128x128", i % 2, i / 2 % 2);
    for (size_t width = 32; width < 120; width++) {
        compose_made(16, width, true);
        for (size_t i = 0; i < 16; i++) {
            assert_non_null(strstr(shown[i], i % 8 < 4 ? "MT64x64x64" : "MT128x128x64"));
            assert_non_null(strstr(shown[i], i % 2 ? "LDSB1" : "LDSB0"));
        }
    }
}

TEST_WITH(tells_a_path_with_one_folder_more_from_many_others, NULL, end)
{
    static const char *const paths[] = {
        "quiche/quic/core/frames/quic_window_update_frame",
        "quiche/quic/core/frames/quic_ack_frame",
        "quiche/quic/core/frames/quic_streams_blocked_frame",
        "quiche/quic/core/quic_received_packet_manager",
        "quiche/quic/core/frames/quic_connection_close_frame",
        "source/common/router/route_config_update_receiver_impl",
        "quiche/quic/core/frames/quic_new_token_frame",
        "source/common/config/grpc_mux_impl",
        "source/common/config/xds_mux/grpc_mux_impl",
        "source/common/http/conn_manager_impl",
        "quiche/quic/core/quic_clock",
        "source/common/config/new_delta_subscription_state",
        "source/common/config/new_grpc_mux_impl"};
    const size_t n = sizeof paths / sizeof *paths;

    for (size_t i = 0; i < n; i++)
        snprintf(made[i], sizeof made[i], "Compiling %s.cc", paths[i]);
    for (size_t width = 32; width < 60; width++)
        compose_made(n, width, false);
    compose_made(n, 38, false);
    assert_string_equal(shown[8], "Compiling source/\xe2\x80\xa6"
                                  "xds\xe2\x80\xa6grpc_mux_impl.cc");
}

TEST_WITH(keeps_the_name_beside_what_differs, NULL, end)
{
    COMPOSE(40,
            "void ns::apply<ns::f(int)::{lambda(float, std::vector<int>)#1}::operator()"
            "(float, std::vector<int>) const::{lambda()#2}>(int)",
            "void ns::apply<ns::f(int)::{lambda(float, std::vector<int>)#2}::operator()"
            "(float, std::vector<int>) const::{lambda()#2}>(int)");
    assert_memory_equal(shown[0], "apply<", 6);
    assert_non_null(strstr(shown[0], "1}"));
    assert_memory_equal(shown[1], "apply<", 6);
    assert_non_null(strstr(shown[1], "2}"));
}

TEST_WITH(cuts_no_number_to_another_one, NULL, end)
{
    for (size_t width = 5; width < 34; width++) {
        compose((const char *const[]){"gemm_128x64x32_tile_of_4096_and_512"}, 1, width, false);
        for (const char *p = shown[0] + strcspn(shown[0], "0123456789"); *p;
             p += strcspn(p, "0123456789")) {
            char *rest;
            const long n = strtol(p, &rest, 10);

            assert_true(n == 128 || n == 64 || n == 32 || n == 4096 || n == 512);
            p = rest;
        }
    }
}

TEST_WITH(names_that_differ_in_blanks_differ, NULL, end)
{
    compose((const char *const[]){"lead", "lead ", " lead", "le  ad", "le ad", " "}, 6, 20,
            false);
    assert_string_equal(shown[0], "lead");
    assert_string_equal(shown[1], "lead\\x20");
    assert_string_equal(shown[5], "\\x20");
}

TEST_WITH(numbers_what_cannot_be_told_apart, NULL, end)
{
    char names[N_MAX][64];
    const char *pointers[N_MAX];

    COMPOSE(20, "a\xff", "a\xfe", "a\xfd", "b");
    assert_string_equal(shown[0], "a\xef\xbf\xbd");
    assert_string_equal(shown[1], "a\xef\xbf\xbd #2");
    assert_string_equal(shown[2], "a\xef\xbf\xbd #3");
    assert_string_equal(shown[3], "b");
    /* A name may look like a label of another. */
    COMPOSE(20, "a\xff", "a\xfe", "a\xef\xbf\xbd #2");
    /* No width is too narrow, but for the numbers. */
    for (size_t i = 0; i < N_MAX; i++) {
        snprintf(names[i], sizeof names[i], "void a_%zu_b<%zu>(int)", i / 100, i);
        pointers[i] = names[i];
    }
    for (size_t width = 6; width < 16; width++)
        compose(pointers, N_MAX, width, true);
    compose(pointers, N_MAX, 8, false);
}

TEST_WITH(counts_columns_of_a_terminal, NULL, end)
{
    compose(
        (const char *const[]){"\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac", "e\xcc\x81x"},
        2, 6, false);
    assert_string_equal(shown[0], "\xe6\x97\xa5\xe2\x80\xa6\xe6\x9c\xac");
    assert_string_equal(shown[1], "e\xcc\x81x");
}

TEST_WITH(names_that_come_later_differ_from_all_before, NULL, end)
{
    osc_sid id;

    COMPOSE(24, "void f<4, Fill<float>>(int)", "void h<1>(int)");
    assert_string_equal(shown[0], "f<...>");
    assert_int_equal(
        osc_labels_add_late(&labels, OSC_STR("void f<4, Fill<double>>(int)"), true, &id),
        OSC_OK);
    assert_memory_equal(osc_labels_get(&labels, id).s, "f<..., Fill<double>>", 20);
    assert_int_equal(osc_labels_add_late(&labels, OSC_STR("void h<1>(int)"), true, &id),
                     OSC_OK);
    assert_int_equal(id.v, ids[1].v);
    assert_int_equal(osc_labels_add_late(&labels, OSC_STR(""), true, &id), OSC_OK);
    assert_int_equal(osc_labels_get(&labels, id).len, 0);
    for (int i = 0; i < 300; i++) {
        char name[40];

        snprintf(name, sizeof name, "void f<4, Fill<T%d>>(int)", i);
        assert_int_equal(osc_labels_add_late(&labels, osc_str_c(name), true, &id), OSC_OK);
        assert_true(osc_utf8_columns(osc_labels_get(&labels, id)) <= 24);
    }
    assert_int_equal(labels.used.n_entries, 303);
}

/* Deep, wide and broken names: in time that a test does not notice. */
TEST_WITH(survives_hostile_names, NULL, end)
{
    static char names[12][70001];
    static const char *const parts[] = {"a<", "a<b>(", "::", "f<1,", "x_", "a<b,c>::"};
    const char *pointers[12];

    for (size_t i = 0; i < 12; i++) {
        const size_t len = i < 6 ? 60000 : 70000, part = strlen(parts[i % 6]);

        for (size_t k = 0; k < len; k++)
            names[i][k] = parts[i % 6][k % part];
        names[i][len] = '\0';
        if (i % 6 == 0)
            memset(names[i] + len / 2, '>', len / 2);
        pointers[i] = names[i];
    }
    compose(pointers, 12, 32, true);
    compose(pointers, 12, 32, false);
}

TEST_WITH(survives_any_failed_allocation, NULL, end)
{
    static const char *const names[] = {"void f<4, Fill<float>>(int)",
                                        "void f<4, Fill<char>>(int)",
                                        "_ZN1a1fIiEEvi",
                                        "_ZN1a1fIfEEvi",
                                        "a_long_name_of_words",
                                        "a_long_nick_of_words"};
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        osc_labels_fini(&labels);
        osc_mem_fail_after(n);
        st = OSC_OK;
        for (size_t i = 0; i < 6 && st == OSC_OK; i++)
            st = osc_labels_add(&labels, osc_str_c(names[i]), true, &ids[i]);
        if (st == OSC_OK)
            st = osc_labels_compose(&labels, 12, 12);
        if (st == OSC_OK)
            st = osc_labels_add_late(&labels, OSC_STR("void f<5, Fill<char>>(int)"), true,
                                     &ids[0]);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
}

UNIT_MAIN("labels")
