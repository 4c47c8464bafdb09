#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make docs/python.md, the reference of the Python package, from its docstrings.

usage: make_reference.py --package DIR > docs/python.md

DIR contains the package, such as BUILD/python. The page contains everything in __all__ of a module,
and all members of its classes that have docstrings; a test checks that it is up to date. Modules
that need torch are parsed, not imported.
"""

import argparse
import ast
import copy
import importlib
import importlib.util
import inspect
import itertools
import pathlib
import re
import sys

MODULES = ["opscope", "opscope.record"]
READ = {
    "opscope.torch": ["profiler", "events"],
    "opscope.torch.autograd_profiler": [],
    "opscope.torch.profiler_legacy": [],
    "opscope.torch.lightning": [],
    "opscope.torch.transformers": [],
}
HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by tools/make_reference.py from the docstrings of python/opscope: do not edit. -->

# The Python package opscope
"""


def signature(thing):
    """The parameters of THING in parentheses, as written in its file."""
    first = (inspect.getdoc(thing) or "").split("\n", 1)[0]
    written = re.fullmatch(r"\w+(\(.*?\))( -> .*)?", first)
    if written:  # a function in C states its parameters only there
        return first[len(first.split("(")[0]) :]
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "()"
    parameters = [p for p in found.parameters.values() if p.name not in ("self", "cls")]
    text = str(found.replace(parameters=parameters))
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations are strings


def text_of(thing):
    """The docstring of THING as Markdown."""
    return markdown(inspect.getdoc(thing) or "")


def markdown(text):
    """A docstring as Markdown, without the line of the signature; ``code`` is converted."""
    first, _, rest = text.partition("\n")
    if re.fullmatch(r"\w+\(.*\)( -> .*)?", first):
        text = rest.lstrip("\n")
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    text = re.sub(r":(?:func|meth|attr|class):`(.+?)`", r"`\1`", text)
    return re.sub(r"::(\n\n(?: {4}.*\n?|\n)+)", r":\1", text)


def members(cls):
    """The members of CLS with docstrings: (title, text)."""
    for name, member in vars(cls).items():
        if name.startswith("_") and name not in ("__getitem__", "__iter__", "__len__"):
            continue
        if isinstance(member, property) and inspect.getdoc(member.fget):
            yield f".{name}", text_of(member.fget)
        elif inspect.isroutine(member) and inspect.getdoc(member):
            yield f".{name}{signature(member)}", text_of(member)


def lay_out(path, call, text, parts=()):
    """Yield the text about a class or function: CALL are its parameters, None if it is not
    called; PARTS are the titles and texts of its members."""
    yield f"\n### {path}\n\n"
    if call is not None:
        yield f"`{path}{call}`\n\n"
    yield f"{text}\n"
    for title, of_part in parts:
        yield f"\n**`{title}`**\n\n{of_part}\n"


def describe(module):
    yield f"\n## {module.__name__}\n\n{text_of(module)}\n"
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.ismodule(thing) or not inspect.getdoc(thing) or isinstance(thing, str):
            continue
        path = f"{module.__name__}.{name}"
        if not inspect.isclass(thing):
            yield from lay_out(path, signature(thing), text_of(thing))
            continue
        call = signature(thing) if name[0].islower() else None
        if issubclass(thing, BaseException):
            call = ""
        yield from lay_out(path, call, text_of(thing), members(thing))


def tree_of(module):
    """The syntax tree of the file of MODULE; its package must be importable."""
    parts = module.split(".")
    path = pathlib.Path(importlib.util.find_spec(parts[0]).origin).parent.joinpath(*parts[1:])
    return ast.parse(
        (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(
            encoding="utf-8"
        )
    )


def read_parameters(function):
    """The parameters of a parsed function, without the first one, which is self."""
    arguments = copy.copy(function.args)
    arguments.args = arguments.args[1:]
    return f"({ast.unparse(arguments)})"


def read_members(functions):
    """The methods among FUNCTIONS of a parsed class that have docstrings: (title, text)."""
    for function in functions:
        if ast.get_docstring(function) and not function.name.startswith("_"):
            call = ""
            if not any(ast.unparse(x) == "property" for x in function.decorator_list):
                result = ast.unparse(function.returns) if function.returns else "None"
                call = f"{read_parameters(function)} -> {result}"
            yield f".{function.name}{call}", markdown(ast.get_docstring(function))


def read_class(path, tree):
    """Describe a parsed class like describe(), with the parameters of its __init__."""
    functions = [x for x in tree.body if isinstance(x, ast.FunctionDef)]
    made = next((x for x in functions if x.name == "__init__"), None)
    call = read_parameters(made) if made and tree.name[0].islower() else None
    return lay_out(path, call, markdown(ast.get_docstring(tree)), read_members(functions))


def read(module, files):
    """Describe a parsed module like describe(); its classes are in it and in FILES beside it."""
    tree = tree_of(module)
    names = next(
        ast.literal_eval(x.value)
        for x in tree.body
        if isinstance(x, ast.Assign) and ast.unparse(x.targets[0]) == "__all__"
    )
    yield f"\n## {module}\n\n{markdown(ast.get_docstring(tree))}\n"
    for part in (tree, *(tree_of(f"{module}.{x}") for x in files)):
        for thing in part.body:
            if isinstance(thing, ast.ClassDef) and thing.name in names:
                yield from read_class(f"{module}.{thing.name}", thing)


def make():
    return HEAD + "".join(
        itertools.chain(
            *(describe(importlib.import_module(name)) for name in MODULES),
            *(read(name, files) for name, files in READ.items()),
        )
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", required=True)
    sys.path.insert(0, parser.parse_args().package)
    sys.stdout.write(make())


if __name__ == "__main__":
    main()
