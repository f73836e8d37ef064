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
        self._waiting = []

    def when_imported(self, name, then):
        """Calls then(module) as soon as the module is imported, unless undo() comes before."""
        self._waiting.append(after_import(name, then))

    def replace(self, owner, name, make):
        """Puts make(original) in the place of owner.name."""
        is_own = name in vars(owner)
        # What vars() has keeps a staticmethod or a property as it is.
        original = vars(owner)[name] if is_own else getattr(owner, name)
        self._replaced.append((owner, name, is_own, original))
        setattr(owner, name, make(original))

    def remove(self, owner, name):
        """Takes owner.name away, if the owner has one of its own."""
        if name in vars(owner):
            self._replaced.append((owner, name, True, vars(owner)[name]))
            delattr(owner, name)

    def replaced(self):
        """What is replaced now: (owner, name)."""
        return [(owner, name) for owner, name, _, _ in self._replaced]

    def undo(self):
        for waiting in self._waiting:
            waiting.cancel()
        self._waiting.clear()
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
        self._is_cancelled = False

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
            if not self._is_cancelled:
                self._then(module)

        spec.loader.exec_module = execute_then
        return spec


    def cancel(self):
        """Nothing is to be called any more."""
        self._is_cancelled = True
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def after_import(name, then):
    """Calls then(module) as soon as the module is imported: now, if it is. Returns what has a
    cancel()."""
    waiting = _AfterImport(name, then)
    if name in sys.modules:
        then(sys.modules[name])
    else:
        sys.meta_path.insert(0, waiting)
    return waiting
