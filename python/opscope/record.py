# SPDX-License-Identifier: Apache-2.0
"""Record what a Python program does.

    from opscope import record

    record.start(out="run.osc")

    @record.scope                       # or @record.scope("name", kind="operator")
    def work(batch): ...

    for batch in data:
        record.step()
        with record.scope("load", n=len(batch)):
            ...
        record.counter("loss", loss)
    record.stop()

Under ``opscope run``, start and stop are not needed. While nothing records, a scope costs as much
as an empty context manager. Recording never raises and never prints: losses are counted
(:func:`losses`), and every reader of the recording reports them.
"""

from __future__ import annotations

import atexit
import operator
import os
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast, overload

from . import _opscope
from ._opscope import (
    args,
    counter,
    dump,
    enable,
    instant,
    is_on,
    losses,
    metadata,
    path,
    pause,
    process_name,
    resume,
    sample,
    step,
    step_end,
    stop,
    thread_name,
)

__all__ = [
    "args",
    "counter",
    "dump",
    "enable",
    "instant",
    "is_on",
    "losses",
    "metadata",
    "path",
    "pause",
    "process_name",
    "resume",
    "sample",
    "scope",
    "start",
    "step",
    "step_end",
    "stop",
    "thread_name",
]


_F = TypeVar("_F", bound=Callable[..., Any])


class Scope(_opscope.Scope):
    """scope(name, *, kind="plain", category=None, level=1, **args)

    A named range. It is a context manager, which can be entered any number of times on any
    threads, and a decorator: each call of the function is the scope; for a coroutine or a
    generator it lasts from the first step to the end. ``@scope`` alone uses the name of the
    function. Classes cannot be decorated: decorate their methods.

    `kind` tells tables how to count the scope: plain, operator, annotation, module, runtime,
    driver, communication, dataloader, optimizer, python, overhead. With a `category`, it is
    recorded while that has at least this `level`, which :func:`enable`, ``opscope run --enable``
    and ``opscope ctl`` change; else `level` is one of `args`. `args` are recorded each time
    it is entered: integers, floats, booleans, strings, lists of integers; anything else as
    its str(). It is cheapest to make a scope once and enter it often.
    """

    __slots__ = ()

    @classmethod
    def _of(cls, function: _F) -> _F:
        """Make each call of `function` a scope with the name of the function."""
        named: Any = function
        while not hasattr(named, "__qualname__") and hasattr(named, "func"):
            named = named.func  # a functools.partial
        return cls(getattr(named, "__qualname__", type(named).__qualname__))(function)

    def __call__(self, function: _F) -> _F:
        """Make each call of `function` this scope."""
        import functools
        import inspect

        wrapper: Any
        if isinstance(function, (staticmethod, classmethod)):
            return type(function)(self(function.__func__))
        if isinstance(function, type) or not callable(function):
            what = (
                f"the class {function.__name__}: decorate its methods"
                if isinstance(function, type)
                else type(function).__name__
            )
            raise TypeError(f"scope() takes a name, or decorates a function, not {what}")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                number = self.begin_async()
                try:
                    return await function(*args, **kwargs)
                finally:
                    self.end_async(number)
        elif inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                number = self.begin_async()
                inner = function(*args, **kwargs)
                try:
                    item = await inner.__anext__()
                    while True:
                        try:
                            sent = yield item
                        except GeneratorExit:
                            await inner.aclose()
                            raise
                        except BaseException as e:  # from the caller's athrow()
                            item = await inner.athrow(e)
                        else:
                            item = await inner.asend(sent)
                except StopAsyncIteration:
                    return
                finally:
                    self.end_async(number)
        elif inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                number = self.begin_async()
                try:
                    return (yield from function(*args, **kwargs))
                finally:
                    self.end_async(number)
        else:

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return function(*args, **kwargs)

        return cast(_F, wrapper)


if TYPE_CHECKING:

    @overload
    def scope(
        name: str, /, *, kind: str = "plain", category: str | None = None, **args: Any
    ) -> Scope: ...
    @overload
    def scope(name: _F, /) -> _F: ...
    def scope(name: Any, /, **args: Any) -> Any: ...
else:
    scope = Scope  # called with a function, it returns the decorated function


def _check_count(name: str, value: int) -> None:
    """Raise ValueError unless VALUE, of the argument NAME, is a valid count."""
    if not 0 <= operator.index(value) < 1 << 64:
        raise ValueError(
            f"start: {name} must be a whole number from 0 to 2**64 - 1, not {value}"
        )


def _check_signal(name: str, value: int) -> None:
    """Raise ValueError unless VALUE, of the argument NAME, is a signal that can be caught, or 0."""
    import signal

    if value and value not in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        raise ValueError(
            f"start: {name} must be 0 or a signal that a program can catch, not {value}"
        )


def start(
    out: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None = None,
    *,
    wait: int = 0,
    warmup: int = 0,
    active: int = 0,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
    buffer_bytes: int = 0,
    limit_bytes: int = 0,
    flight_seconds: float = 0.0,
    flight_steps: int = 0,
    slow_step: float = 0.0,
    dump_signal: int = 0,
    toggle_signal: int = 0,
    dump_on_crash: bool = False,
    lost: Callable[[dict[str, int]], object] | None = None,
) -> None:
    """Begin to record into `out` (such as "run.osc"), or a file in ``OPSCOPE_OUT`` or here.

    Missing directories of `out` are created. With `active`, only some steps are recorded, as with
    ``torch.profiler.schedule``. `buffer_bytes` is the memory that all threads share (default: 64
    MiB), `limit_bytes` the size of files beyond which the oldest are deleted. With `flight_seconds`
    or `flight_steps` the most recent part is kept in memory and written by :func:`dump`, by
    `dump_signal`, when a step takes `slow_step` times the median, or on a crash. ``OPSCOPE=0``
    makes this do nothing.

    `lost` is called with what :func:`losses` returns when records have been lost: at most once a
    second, and a last time in :func:`stop`, if anything was lost. It runs on a thread of the
    library, which writes nothing meanwhile, and must not start or stop the recording.

    A recording that began by itself, because OPSCOPE_OUT is set, as under ``opscope run``, ends
    where `out` is given; otherwise it goes on, with the settings that it has.

    RuntimeError: another recording is running. OSError: the file cannot be written. ValueError: an
    argument is wrong, or needs another one.
    """
    plan = {
        "skip_first": skip_first,
        "wait": wait,
        "warmup": warmup,
        "active": active,
        "repeat": repeat,
        "skip_first_wait": skip_first_wait,
    }
    for name, value in {
        **plan,
        "buffer_bytes": buffer_bytes,
        "limit_bytes": limit_bytes,
        "flight_steps": flight_steps,
    }.items():
        _check_count(name, value)
    for name, value in plan.items():
        if value and not active:
            raise ValueError(
                f"start: {name} is {value}, but no step is to be recorded: it needs active"
            )
    for name, number in (("flight_seconds", flight_seconds), ("slow_step", slow_step)):
        if not 0 <= number < 1e9:
            raise ValueError(f"start: {name} must be at least 0 and below 1e9, not {number}")
    _check_signal("dump_signal", dump_signal)
    _check_signal("toggle_signal", toggle_signal)
    if dump_signal and dump_signal == toggle_signal:
        raise ValueError("start: dump_signal and toggle_signal are the same signal")
    if lost is not None:
        if not callable(lost):
            raise TypeError(f"start: lost must be a function, not {type(lost).__name__}")
        atexit.unregister(_opscope.tell_no_more)
        atexit.register(_opscope.tell_no_more)
    _opscope.start(
        out=out,
        schedule=tuple(plan.values()) if active else None,
        buffer_bytes=buffer_bytes,
        limit_bytes=limit_bytes,
        flight_ns=int(flight_seconds * 1e9),
        flight_steps=flight_steps,
        slow_step=slow_step,
        dump_signal=dump_signal,
        toggle_signal=toggle_signal,
        dump_on_crash=dump_on_crash,
        lost=lost,
    )
