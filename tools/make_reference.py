#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make docs/python.md, the reference of the Python package, from its docstrings.

usage: make_reference.py --package DIR > docs/python.md

DIR holds the package, as BUILD/python does. What is listed in __all__ of a module is in it, and
what of its classes has a docstring; a test sees that the page is that of the package.
"""
import argparse
import importlib
import inspect
import re
import sys

MODULES = ["opscope", "opscope.record"]
HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by tools/make_reference.py from the docstrings of python/opscope: do not edit. -->

# The Python package opscope
"""


def signature(thing):
    """The parameters of THING in parentheses, as they are written in its file."""
    first = (inspect.getdoc(thing) or "").split("\n", 1)[0]
    written = re.fullmatch(r"\w+(\(.*?\))( -> .*)?", first)
    if written: # of C, which has no other place for it
        return first[len(first.split("(")[0]):]
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "()"
    parameters = [p for p in found.parameters.values() if p.name not in ("self", "cls")]
    text = str(found.replace(parameters=parameters))
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text) # annotations are texts


def text_of(thing):
    """The docstring without the line of a signature, ``this`` as Markdown has it."""
    text = inspect.getdoc(thing) or ""
    first, _, rest = text.partition("\n")
    if re.fullmatch(r"\w+\(.*\)( -> .*)?", first):
        text = rest.lstrip("\n")
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    text = re.sub(r":(?:func|meth|attr|class):`(.+?)`", r"`\1`", text)
    return re.sub(r"::(\n\n(?: {4}.*\n?|\n)+)", r":\1", text)


def members(cls):
    for name, member in vars(cls).items():
        if name.startswith("_") and name not in ("__getitem__", "__iter__", "__len__"):
            continue
        if isinstance(member, property):
            yield f"`.{name}`", member.fget
        elif inspect.isroutine(member):
            yield f"`.{name}{signature(member)}`", member


def describe(module):
    yield f"\n## {module.__name__}\n\n{text_of(module)}\n"
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.ismodule(thing) or not inspect.getdoc(thing) or isinstance(thing, str):
            continue
        path = f"{module.__name__}.{name}"
        yield f"\n### {path}\n\n"
        if inspect.isclass(thing):
            if issubclass(thing, BaseException) or name[0].islower():
                yield f"`{path}{'' if name[0].isupper() else signature(thing)}`\n\n"
            yield f"{text_of(thing)}\n"
            for title, member in members(thing):
                if inspect.getdoc(member):
                    yield f"\n**{title}**\n\n{text_of(member)}\n"
        else:
            yield f"`{path}{signature(thing)}`\n\n{text_of(thing)}\n"


def make():
    return HEAD + "".join(part for name in MODULES
                          for part in describe(importlib.import_module(name)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", required=True)
    sys.path.insert(0, parser.parse_args().package)
    sys.stdout.write(make())


if __name__ == "__main__":
    main()
