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

Under ``opscope run`` there is no need for start and stop. While nothing records, a scope
costs an empty context manager. Recording never raises and never prints: what is lost is
counted (:func:`losses`) and said by whoever reads the recording.
"""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar, Union, cast, overload

from . import _opscope
from ._opscope import (args, counter, dump, instant, is_on, losses, metadata, pause, process_name,
                       resume, step, step_end, stop, thread_name)

__all__ = ["args", "counter", "dump", "instant", "is_on", "losses", "metadata", "pause",
           "process_name", "resume", "scope", "start", "step", "step_end", "stop", "thread_name"]


_F = TypeVar("_F", bound=Callable[..., Any])


class Scope(_opscope.Scope):
    """scope(name, *, kind="plain", **args)

    A named range: a context manager, to be entered as often as wanted and on any threads, and a
    decorator: each call of a function is the scope; of a coroutine or a generator it lasts from
    its first step to its end. ``@scope`` alone names it after the function.

    `kind` is one that the tables know: plain, operator, annotation, module, runtime, driver,
    communication, dataloader, optimizer, python, overhead. `args` are recorded whenever it is
    entered: integers, floats, booleans, strings, lists of integers; anything else as its str(). A
    scope that is made once and entered often is cheapest.
    """

    __slots__ = ()

    def __call__(self, function: _F) -> _F:
        """Make each call of `function` this scope."""
        import functools
        import inspect

        wrapper: Any
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
                        except BaseException as e:  # the caller's athrow()
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
    def scope(name: str, /, *, kind: str = "plain", **args: Any) -> Scope: ...
    @overload
    def scope(name: _F, /) -> _F: ...
    def scope(name: Any, /, **args: Any) -> Any: ...
else:
    scope = Scope  # of a function it makes the decorated function


def start(out: Optional[Union[str, os.PathLike[str]]] = None, *,
          wait: int = 0, warmup: int = 0, active: int = 0, repeat: int = 0, skip_first: int = 0,
          skip_first_wait: int = 0, buffer_bytes: int = 0, limit_bytes: int = 0,
          flight_seconds: float = 0.0, flight_steps: int = 0, slow_step: float = 0.0,
          dump_signal: int = 0, toggle_signal: int = 0, dump_on_crash: bool = False) -> None:
    """Begin to record, into `out` (as "run.osc") or a file in ``OPSCOPE_OUT`` or here.

    With `active` only some steps are recorded, as ``torch.profiler.schedule`` has it, in steps.
    `buffer_bytes`: memory that all threads share (default 64 MiB); `limit_bytes`: of files, beyond
    which the oldest are deleted. With `flight_seconds` or `flight_steps` the last of it is kept in
    memory and written by :func:`dump`, by `dump_signal`, when a step takes `slow_step` medians, or
    on a crash. ``OPSCOPE=0`` makes this do nothing.

    RuntimeError: it records already. OSError: nothing can be written there.
    """
    plan = (skip_first, wait, warmup, active, repeat, skip_first_wait)
    _opscope.start(out=out, schedule=plan if active else None, buffer_bytes=buffer_bytes,
                   limit_bytes=limit_bytes, flight_ns=int(flight_seconds * 1e9),
                   flight_steps=flight_steps, slow_step=slow_step, dump_signal=dump_signal,
                   toggle_signal=toggle_signal, dump_on_crash=dump_on_crash)
