# SPDX-License-Identifier: Apache-2.0
"""Python imports this file first under `opscope run --torch`; it waits for torch's import.

This directory comes first in PYTHONPATH, so that child processes find it, too. It is removed
from Python's search path at once, and the original `sitecustomize` is imported. Nothing here
may raise, print, or import much, because it runs in every Python process of the program.
"""

import importlib.machinery
import importlib.util
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(os.path.dirname(HERE))
COLLECTOR = "libopscope-collect.so"
ITT = "INTEL_LIBITTNOTIFY64"
RECORDERS = os.path.join(os.path.dirname(HERE), "recorders")


def asked():
    """The request in OPSCOPE_SOURCES: "torch", "torch=replace", "torch=stack" or nothing; also if
    the parent of this process marked it as failed."""
    for word in os.environ.get("OPSCOPE_SOURCES", "").split(","):
        if word.lstrip("-") in ("torch", "torch=replace", "torch=stack"):
            return word.lstrip("-")
    return ""


def mark(what, works):
    """Make all later recordings state whether WHAT failed."""
    sources = os.environ["OPSCOPE_SOURCES"].split(",")
    os.environ["OPSCOPE_SOURCES"] = ",".join(
        "-" * (not works) + what if x.lstrip("-") == what else x for x in sources
    )


def tell(why):
    """Make `opscope run` report WHY at the end."""
    try:
        out = os.path.join(os.environ["OPSCOPE_OUT"], f".torch-failed.{os.getpid()}")
        fd = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.write(fd, " ".join(str(why).split()).encode(errors="replace")[:500])
        os.close(fd)
    except (KeyError, OSError):
        pass


def has_recorder(torch):
    """Whether the package has a recorder for TORCH, a module that is not loaded yet; their names
    are those of Target in target.py."""
    try:
        place = os.path.dirname(torch.__spec__.origin)
        with open(os.path.join(place, "version.py"), encoding="utf-8") as f:
            text = f.read()
        version, commit = (
            text.partition(name + " = '")[2].partition("'")[0]
            for name in ("__version__", "git_version")
        )
        begin = "torch-" + version.partition("+")[0] + "-" + commit[:16] + "-"
        return any(name.startswith(begin) for name in os.listdir(RECORDERS))
    except (OSError, TypeError, ValueError):
        return False


def offer_itt():
    """Offer ITT's collector, which torch looks for when it is loaded, because ITT may be the only
    way without a compiler."""
    if (
        os.environ.get(ITT)
        or any(map(shutil.which, ("c++", "g++", "clang++")))
        or (shutil.which(os.environ.get("CXX") or ""))
    ):
        return
    build = os.path.dirname(os.path.dirname(PACKAGE))
    for place in (os.path.join(PACKAGE, "lib"), os.path.join(PACKAGE, "bin"), build):
        if os.path.isfile(os.path.join(place, COLLECTOR)):
            os.environ[ITT] = os.path.join(place, COLLECTOR)
            os.environ["OPSCOPE_SOURCES"] += ",itt"
            return


def load_package():
    """Load the package to which this file belongs as `opscope`, wherever it is."""
    if "opscope" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        "opscope", os.path.join(PACKAGE, "__init__.py"), submodule_search_locations=[PACKAGE]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["opscope"] = module
    spec.loader.exec_module(module)


def begin(what):
    """Begin, after torch was imported."""
    try:
        load_package()
        from opscope.torch import unchanged

        problem, works = unchanged.begin(what.partition("=")[2])
    except Exception as e:
        problem, works = f"{type(e).__name__}: {e}", False
    mark(what, works)
    if problem:
        tell(problem)


class Waiter:
    """A finder for one module, which asks the other finders for it."""

    is_asking = False

    def find_spec(self, name, path=None, target=None):
        """The specification of torch, with a loader that calls begin()."""
        if name != "torch" or self.is_asking:
            return None
        self.is_asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.is_asking = False
        if spec is not None and hasattr(spec.loader, "exec_module"):
            self.watch(spec.loader)
        return spec

    def watch(self, loader):
        """Make LOADER, which remains the loader of the module, call begin() once."""

        def exec_module(module):
            what = asked()
            del loader.exec_module
            if what in ("torch", "torch=stack") and not has_recorder(module):
                offer_itt()
            loader.exec_module(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                if what:
                    begin(what)

        loader.exec_module = exec_module


def make_way():
    """Remove this directory from the search path, and import the `sitecustomize` that this file
    hides."""
    sys.path[:] = [x for x in sys.path if not x or os.path.abspath(x) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if asked() and os.environ.get("OPSCOPE") != "0":
    sys.meta_path.insert(0, Waiter())
make_way()
