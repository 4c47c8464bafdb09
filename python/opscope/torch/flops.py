# SPDX-License-Identifier: Apache-2.0
"""Torch's estimate of the work of one call: a multiplication with its addition counts as two."""
from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

NO_TENSORS = ("", "Scalar", "ScalarList", "TensorList", "GenericList")


def matrix(a: list[int], b: list[int], batch: int = 1) -> int:
    """2 * m * k * n, times the batch."""
    shared = a[-1] * batch
    return 2 * prod(a) // shared * prod(b) if shared else 0


def convolution(x: list[int], w: list[int], values: list[Any]) -> int:
    """2 * N * height * width * kernel * channels in and out / groups."""
    stride, padding, dilation, groups = values[3:7]
    size = [(x[i + 2] + 2 * padding[i] - dilation[i] * (w[i + 2] - 1) - 1) // stride[i] + 1
            for i in range(2)]
    return int(2 * x[0] * prod(size) * w[2] * w[3] * x[1] * w[0] // groups)


def elements(shape: list[int], kind: str) -> int:
    """The number of elements of the input: 0 for a number, 1 for a tensor without dimensions."""
    return 0 if kind in NO_TENSORS else prod(shape)


RULES: dict[str, Callable[[Any, Any, Any], int]] = {
    "aten::mm": lambda s, v, t: matrix(s[0], s[1]),
    "aten::addmm": lambda s, v, t: matrix(s[1], s[2]) if s[0] else 0,
    "aten::bmm": lambda s, v, t: matrix(s[0], s[1], s[0][0]),
    "aten::baddbmm": lambda s, v, t: matrix(s[1], s[2], s[1][0]) if s[0] else 0,
    "aten::conv2d": lambda s, v, t: convolution(s[0], s[1], v),
    "aten::mul": lambda s, v, t: elements(s[0], t[0]),
    "aten::add": lambda s, v, t: elements(s[0], t[0]),
}


def of(name: str, shapes: list[Any], values: list[Any], types: list[str]) -> int:
    """The FLOPs of a call of NAME, by sizes, values and types of its inputs; 0: unknown."""
    rule = RULES.get(name)
    try:
        return rule(shapes, values, types) if rule else 0
    except (IndexError, TypeError, ValueError, ZeroDivisionError):
        return 0
