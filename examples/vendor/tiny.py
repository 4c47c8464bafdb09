# SPDX-License-Identifier: Apache-2.0
"""The device "tiny" of PyTorch: importing this builds its extension and registers it.

It needs OpenCL, which pkg-config knows, and the libopscope of the package opscope. After that,
tensors may be on `torch.device("tiny")`, and `torch.tiny` is the module of the device.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
import types
from pathlib import Path

import torch
from torch.utils import cpp_extension

import opscope

HERE = Path(__file__).resolve().parent
NAME = "tiny"


def flags(option: str) -> list[str]:
    """The words of pkg-config for OpenCL."""
    done = subprocess.run(
        ["pkg-config", option, "OpenCL"], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.split()


def register() -> None:
    """Make the device known to torch."""
    libraries = opscope.get_library_dir()
    extension = cpp_extension.load(
        "tiny_extension",
        [str(HERE / f"{x}.cpp") for x in ("backend", "runtime", "report")],
        extra_cflags=["-O2", *flags("--cflags"), f"-I{opscope.get_include()}"],
        extra_ldflags=[
            *flags("--libs"),
            f"-L{libraries}",
            "-lopscope",
            f"-Wl,-rpath,{libraries}",
        ],
    )
    extension.open((HERE / "kernels.cl").read_text(encoding="utf-8"))
    torch.utils.rename_privateuse1_backend(NAME)
    module = types.ModuleType(f"torch.{NAME}")
    module.synchronize = extension.synchronize
    module.is_available = lambda: True
    module.device_count = lambda: 1
    module.current_device = lambda: 0
    module._is_in_bad_fork = lambda: False
    module.manual_seed_all = lambda seed: None
    torch._register_device_module(NAME, module)
    sys.modules[f"torch.{NAME}"] = module
    atexit.register(extension.synchronize)  # or what ends after the last wait is not reported
    torch.utils.generate_methods_for_privateuse1_backend()


register()
