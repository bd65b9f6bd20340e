"""TileLang's import without PyTorch: its compiler names types of `torch` but calls nothing of it, and PyTorch's wheel
would bring gigabytes of CUDA libraries."""

import importlib.abc
import importlib.machinery
import sys
import types


class _NamedType(type):
    """A type that has every attribute."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _type_called(name)


def _type_called(name):
    return _NamedType(name, (), {"__init__": lambda self, *arguments, **options: None})


class _Module(types.ModuleType):
    __path__ = []
    __version__ = "2.9.1"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = _type_called(name)
        setattr(self, name, value)
        return value


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] == "torch":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        pass


def install():
    sys.meta_path.insert(0, _Finder())
