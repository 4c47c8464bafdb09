# SPDX-License-Identifier: Apache-2.0
"""FLOP estimates of seven operators, from `Input Dims` and `Concrete Inputs`."""

from __future__ import annotations

import json
from math import prod


def size(dims: list, index: int) -> list[int] | None:
    """The sizes of tensor INDEX; None if the input is not a tensor (or is a list of tensors)."""
    if (
        index >= len(dims)
        or not isinstance(dims[index], list)
        or not 0 < len(dims[index]) <= 64
    ):
        return None
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in dims[index]):
        return None
    return dims[index]


def concrete(inputs: list, index: int) -> object:
    """The value of a text in `Concrete Inputs`, such as "[1, 1]"; None if there is none."""
    if index >= len(inputs) or not isinstance(inputs[index], str):
        return None
    try:
        return json.loads(inputs[index])
    except ValueError:
        return None


def pair(value: object) -> tuple[int, int] | None:
    """A list of two integers."""
    if isinstance(value, list) and len(value) == 2 and all(type(v) is int for v in value):
        return value[0], value[1]
    return None


def conv2d(dims: list, inputs: list) -> int:
    """2 * N * Ho * Wo * kh * kw * Cin * Cout / groups."""
    image, weight = size(dims, 0), size(dims, 1)
    stride, padding = pair(concrete(inputs, 3)), pair(concrete(inputs, 4))
    dilation, groups = pair(concrete(inputs, 5)), concrete(inputs, 6)
    if (
        not image
        or len(image) != 4
        or not weight
        or len(weight) != 4
        or not stride
        or padding is None
        or not dilation
        or type(groups) is not int
        or groups == 0
        or 0 in stride
    ):
        return 0
    n, c_in, height, width = image
    c_out, _, kh, kw = weight
    out_h = (height + 2 * padding[0] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    out_w = (width + 2 * padding[1] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    return 2 * n * out_h * out_w * kh * kw * c_in * c_out // groups


def matrix(first: list[int] | None, second: list[int] | None, batched: bool) -> int:
    """2*m*k*n, times the batch: prod(first) / last(first) [/ first(first)] * prod(second)."""
    if not first or not second or len(first) < (2 if not batched else 3):
        return 0
    overlap = first[-1] * (first[0] if batched else 1)
    return 2 * prod(first) * prod(second) // overlap if overlap else 0


def of(name: str, args: dict) -> int:
    """FLOPs of one call; 0 if they cannot be computed from the name and the arguments."""
    dims = args.get("Input Dims")
    dims = dims if isinstance(dims, list) else []
    inputs = args.get("Concrete Inputs")
    inputs = inputs if isinstance(inputs, list) else []
    if name == "aten::conv2d":
        return conv2d(dims, inputs)
    if name in ("aten::mm", "aten::bmm"):
        return matrix(size(dims, 0), size(dims, 1), name == "aten::bmm")
    if name in ("aten::addmm", "aten::baddbmm"):
        if size(dims, 0) is None and dims[:1] != [[]]:  # a bias may have no sizes
            return 0
        return matrix(size(dims, 1), size(dims, 2), name == "aten::baddbmm")
    if name in ("aten::mul", "aten::add"):
        tensor = size(dims, 0)
        if tensor:
            return prod(tensor)
        types = args.get("Input type")
        first = types[0] if isinstance(types, list) and types else ""
        return int(
            dims[:1] == [[]]
            and isinstance(first, str)
            and first != ""
            and not first.startswith(("Scalar", "TensorList", "GenericList"))
        )
    return 0
