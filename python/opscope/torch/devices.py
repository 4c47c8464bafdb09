# SPDX-License-Identifier: Apache-2.0
"""Requested devices: which report their activity; of others, why they do not, and what to do."""

from __future__ import annotations

import functools
import importlib
import os
import warnings
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch.profiler import ProfilerActivity, supported_activities

from . import collector, native

MAX_INDEX = 64  # devices of one type


class Vendor(NamedTuple):
    """What a device requires: `torch.MODULE`, and what the advice says to install."""

    module: str
    package: str
    driver: str
    hidden_by: tuple[str, ...]  # variables that can hide devices


VENDORS = {
    "CUDA": Vendor(
        "cuda",
        "a torch built with CUDA or ROCm",
        "the driver of NVIDIA (nvidia-smi shows it) or AMD (rocminfo)",
        ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
    ),
    "XPU": Vendor(
        "xpu",
        "a torch built for XPU",
        "Intel's compute runtime (Debian: libze-intel-gpu1), and the group render",
        ("ZE_AFFINITY_MASK", "ONEAPI_DEVICE_SELECTOR"),
    ),
    "HPU": Vendor(
        "hpu",
        "the package habana-torch-plugin",
        "Habana's driver (hl-smi shows it)",
        ("HABANA_VISIBLE_DEVICES",),
    ),
    "MTIA": Vendor("mtia", "a torch built for MTIA", "the driver of MTIA", ()),
}


# Of devices whose activity torch's own profiler does not record, the one that does.
PROFILERS = {"npu": "torch_npu.profiler", "mlu": "torch_mlu.profiler"}


def has_support(activity: str, module: str) -> bool:
    """Whether this torch was built for a device, or a package added support for it."""
    if activity == "CUDA":
        return bool(torch.version.cuda or torch.version.hip)
    if activity == "XPU":
        return bool(torch.xpu._is_compiled())
    return hasattr(torch, module)


def is_available(module: str) -> bool:
    """Whether torch finds such a device."""
    try:
        return bool(importlib.import_module(f"torch.{module}").is_available())
    except (ImportError, AttributeError):
        found = getattr(torch, module, None)
        return bool(found is not None and found.is_available())


def module_of(activity: str) -> str:
    """The module of torch for the device ACTIVITY."""
    vendor = VENDORS.get(activity)
    return torch._C._get_privateuse1_backend_name() if vendor is None else vendor.module


def is_reported(activity: str) -> bool:
    """Whether the backend of the device ACTIVITY reports to libopscope (opscope/source.h)."""
    name, library = module_of(activity).encode(), native.opscope()
    return any(library.osc_device_find(name, index) for index in range(MAX_INDEX))


def default() -> list[ProfilerActivity]:
    """The activities of a profile that names none: the host and the available devices."""
    return [
        ProfilerActivity.CPU,
        *(
            a
            for a in sorted(supported_activities(), key=lambda a: a.name)
            if a != ProfilerActivity.CPU and is_available(module_of(a.name))
        ),
    ]


def lacks_device(activity: str) -> bool:
    """Whether this torch has support for the device ACTIVITY, and finds none."""
    module = module_of(activity)
    return has_support(activity, module) and not is_available(module)


def registered() -> str:
    """The name of the device that a vendor's package has registered with torch; "": there is
    none."""
    name = module_of("PrivateUse1")
    return name if name != "privateuseone" and hasattr(torch, name) else ""


def is_left_to_torch(activities: Iterable[ProfilerActivity]) -> bool:
    """Whether torch's own profiler must record, because it records one of the devices ACTIVITIES,
    and nothing here does. Says so once."""
    if native.is_switched_off():
        return False
    known = supported_activities()
    found = [
        a.name
        for a in activities
        if a != ProfilerActivity.CPU and a in known and is_available(module_of(a.name))
    ]
    theirs = [
        name for name in found if not collector.has_source(name) and not is_reported(name)
    ]
    for name in theirs:
        warn_of_theirs(name)
    return bool(theirs)


@functools.cache
def warn_of_theirs(name: str) -> None:
    """Warn, once, that torch's own profiler records the device NAME, or that another one does."""
    tool = PROFILERS.get(module_of(name))
    theirs = (
        f"; {tool} records what the device does, and opscope reads its traces" if tool else ""
    )
    warnings.warn(
        f"opscope cannot record {name} here, so torch's own profiler records the profile"
        f"{theirs}",
        stacklevel=native.level_of_caller(),
    )


def reason(activity: str) -> str:
    """Why the activity of the device ACTIVITY is not recorded, and what to do."""
    vendor = VENDORS.get(activity)
    name = module_of(activity)
    if vendor is None and not registered():
        return "no package has registered a device with torch: import the one that does"
    if vendor is not None and not has_support(activity, name):
        if registered():
            return (
                f"the device of this torch is {registered()}: pass "
                "ProfilerActivity.PrivateUse1 in activities"
            )
        return (
            f"this torch ({torch.__version__}) has no support for it: install {vendor.package}"
        )
    if is_available(name):
        tool = PROFILERS.get(name, "torch.profiler")
        return (
            f"its backend does not report to opscope: record with {tool}, whose traces "
            "opscope reads, or ask for the host by activities=[ProfilerActivity.CPU]"
        )
    hidden = [
        f"{x}={os.environ[x]}" for x in (vendor.hidden_by if vendor else ()) if x in os.environ
    ]
    if hidden:
        return f"torch finds no such device: {', '.join(hidden)} may hide it"
    return f"torch finds no such device: install {vendor.driver if vendor else 'its driver'}"


def missing(activities: Iterable[ProfilerActivity]) -> dict[str, str]:
    """For each device among ACTIVITIES, by name, why its activity is not recorded."""
    names = sorted(a.name for a in activities if a != ProfilerActivity.CPU)
    sourced = [name for name in names if collector.has_source(name) and not lacks_device(name)]
    failed = collector.start(sourced)  # to see whether it can be
    collector.stop(name for name in sourced if name not in failed)
    return {
        name: failed.get(name) or reason(name)
        for name in names
        if name in failed or not (name in sourced or is_reported(name))
    }


def warn(absent: dict[str, str], stacklevel: int) -> None:
    """Print one warning for all devices."""
    if absent:
        text = "; ".join(
            f"no {name} activity will be recorded: {why}" for name, why in absent.items()
        )
        warnings.warn(text, stacklevel=stacklevel + 1)


def unasked(activities: Iterable[ProfilerActivity]) -> dict[str, str]:
    """For each device that torch has used and that is not among ACTIVITIES, how to ask for it."""
    theirs = getattr(
        ProfilerActivity, "PrivateUse1", None
    )  # named as the backend, once that is
    asked = {"PrivateUse1" if a == theirs else a.name for a in activities}
    # A vendor's package may register a device of a name that torch knows, too.
    used = (
        name
        for name, vendor in VENDORS.items()
        if name not in asked
        and vendor.module != registered()
        and getattr(getattr(torch, vendor.module, None), "is_initialized", bool)()
    )
    found = {name: f"pass ProfilerActivity.{name} in activities" for name in used}
    if "PrivateUse1" not in asked and is_reported("PrivateUse1"):
        found["PrivateUse1"] = (
            f"{module_of('PrivateUse1')} reports its work itself, which is "
            "recorded: pass ProfilerActivity.PrivateUse1 in activities"
        )
    return found


told: set[str] = set()  # of which warn_unasked() has told


def warn_unasked(found: dict[str, str], stacklevel: int, absent: dict[str, str]) -> None:
    """Print one warning for all devices, once in a process for each. What warn() has told of ABSENT
    devices is not told again."""
    if any("PrivateUse1" in why for why in absent.values()):
        told.add("PrivateUse1")
    new = {name: how for name, how in found.items() if name not in told}
    told.update(new)
    if new:
        text = "; ".join(
            f"{name} was used, and its activity was not asked for: {how}"
            for name, how in new.items()
        )
        warnings.warn(text, stacklevel=stacklevel + 1)
