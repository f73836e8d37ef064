# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Replacing attributes of torch's classes and modules, and putting them back."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys


class Patches:
    """Attributes that are replaced together and put back together."""

    def __init__(self):
        self._replaced = []

    def replace(self, owner, name, make):
        """Puts make(original) in the place of owner.name."""
        is_own = name in vars(owner)
        # What vars() has keeps a staticmethod or a property as it is.
        original = vars(owner)[name] if is_own else getattr(owner, name)
        self._replaced.append((owner, name, is_own, original))
        setattr(owner, name, make(original))

    def undo(self):
        for owner, name, is_own, original in reversed(self._replaced):
            if is_own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)
        self._replaced.clear()


class _AfterImport(importlib.abc.MetaPathFinder):
    """Calls a function once a module was imported."""

    def __init__(self, name, then):
        self._name = name
        self._then = then

    def find_spec(self, name, path, target=None):
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name) if path is None else (
            importlib.machinery.PathFinder.find_spec(name, path, target))
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_then(module):
            execute(module)
            self._then(module)

        spec.loader.exec_module = execute_then
        return spec


def after_import(name, then):
    """Calls then(module) as soon as the module is imported: now, if it is."""
    if name in sys.modules:
        then(sys.modules[name])
    else:
        sys.meta_path.insert(0, _AfterImport(name, then))
