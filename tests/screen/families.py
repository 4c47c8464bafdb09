# SPDX-License-Identifier: Apache-2.0
"""Traces of kernels and ranges whose names are hard to tell apart in a column: what names.py shows
besides the traces of others."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

LAMBDA = (
    "at::native::(anonymous namespace)::pow_tensor_scalar_kernel_impl<float, float>"
    "(at::TensorIteratorBase&, float)::{lambda(float)#%d}"
)


def each(text: str, *values: tuple) -> list[str]:
    """TEXT with each combination of VALUES at {0}, {1} and so on."""
    return [text.format(*choice) for choice in itertools.product(*values)]


KERNELS = {
    "cub": each(
        "void cub::DeviceRadixSort{0}Kernel<cub::DeviceRadixSortPolicy<long, {1}, int>"
        "::Policy800, false, long, {1}>(int*, int*)",
        ("Onesweep", "Histogram", "ExclusiveSum", "Upsweep", "Downsweep"),
        ("int", "float"),
    ),
    "tensile": each(
        "Cijk_{0}_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT{1}x{1}x64_MI16x16x1_SN_LDSB{2}"
        "_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA0_WS64_WG32_8_{3}",
        ("Alik", "Ailk"),
        (64, 128),
        (0, 1),
        (1, 2),
    ),
    "cutlass": each(
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<"
        "int, int, int, int>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::"
        "MainloopSm90TmaGmmaWarpSpecializedFP8<{0}, cute::tuple<cute::C<2>, cute::C<1>,"
        " cute::C<1> > >, cute::tuple<cute::C<64>, cute::C<{1}>, cute::C<128> >, "
        "cutlass::float_e4m3_t> > >(cutlass::gemm::kernel::GemmUniversal<int>::Params)",
        (4, 5),
        (64, 128),
    ),
    "flash": each(
        "void flash::flash_fwd_kernel<flash::Flash_fwd_kernel_traits<{0}, 128, {1}, 4, "
        "false, false, cutlass::bfloat16_t, flash::Flash_kernel_traits<{0}, 128, {1}, 4, "
        "cutlass::bfloat16_t> >, false, true, false, {2}>(flash::Flash_fwd_params)",
        (64, 128),
        (32, 64),
        ("true", "false"),
    ),
    "reduce": each(
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<{0}, at::native::"
        "func_wrapper_t<{0}, at::native::{1}<{0}, {0}>::operator()(at::TensorIterator&)"
        "::{{lambda({0}, {0})#1}}>, unsigned int, {0}, 4> >(at::native::ReduceOp<{0}>)",
        ("float", "c10::Half"),
        ("sum_functor", "MeanOps", "prod_functor"),
    ),
    "multi_tensor": each(
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
        "at::native::(anonymous namespace)::TensorListMetadata<{0}>, at::native::"
        "(anonymous namespace)::{1}<float, {0}, 1, 0>, std::plus<float>, float>"
        "(int)",
        (1, 2, 3),
        ("BinaryOpScalarFunctor", "UnaryOpFunctor", "PointwiseOpScalarFunctor"),
    ),
    "lambda": [
        f"void at::native::vectorized_elementwise_kernel<4, {LAMBDA % i}, std::array<char*, "
        f"2ul> >(int, {LAMBDA % i}, std::array<char*, 2ul>)"
        for i in (1, 2, 3)
    ],
    "triton": each(
        "triton_{0}_fused__to_copy_add_native_layer_norm_{1}", ("poi", "per", "red"), range(5)
    ),
    "overload": [
        "void ns::kern(int*, int)",
        "void ns::kern(float*, int)",
        "void ns::kern<int>(int*, int)",
        "int ns::kern(int*, int)",
        "void other::kern(int*, int)",
    ],
}
RANGES = {
    "paths": each(
        "Compiling source/common/{0}/{1}.cc",
        ("config", "config/xds_mux", "http/http2", "router/xds", "upstream"),
        ("grpc_mux_impl", "grpc_mux", "new_grpc_mux_impl", "watch_map", "utility"),
    ),
    "blanks": [
        "lead",
        "lead ",
        " lead",
        "le ad",
        "le  ad",
        "le\u00a0ad",
        " ",
        "  ",
        "a\tb",
        "a b",
    ],
}


def traces(folder: Path) -> list[Path]:
    """Write the traces to FOLDER. Each name runs on two threads of two processes."""
    made = []
    for cat, families in (("kernel", KERNELS), ("scope", RANGES)):
        for family, names in families.items():
            # An operator makes it a trace of Kineto's.
            events = [
                {
                    "ph": "X",
                    "cat": "cpu_op",
                    "name": "aten::mm",
                    "pid": 9,
                    "tid": 9,
                    "ts": 0,
                    "dur": 1,
                    "args": {"External id": 1, "Ev Idx": 0},
                }
            ]
            for i, (name, place) in enumerate(itertools.product(names, range(2))):
                args = {"device": place, "stream": 7} if cat == "kernel" else {}
                events.append(
                    {
                        "ph": "X",
                        "cat": cat,
                        "name": name,
                        "pid": place,
                        "tid": 7,
                        "ts": 10 * i,
                        "dur": 9,
                        "args": args,
                    }
                )
            path = folder / f"{family}.pt.trace.json"
            path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
            made.append(path)
    return made
