# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Every virtual function of torch's CUDA allocator interface is passed on by our delegating one.

Reads torch's headers, looked for where FindLibTorch.cmake looks: LOWTIDE_TORCH_DIR, .venv, this
Python's torch. Skips, saying so, where there are none. Needs no GPU and does not import torch.
"""

import collections
import importlib.util
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parents[2]
OURS = ROOT / "src/run/cuda/delegating_allocator.h"
INTERFACES = [
    ("c10/core/Allocator.h", "struct C10_API Allocator"),
    ("c10/core/CachingDeviceAllocator.h", "struct C10_API DeviceAllocator"),
    ("c10/cuda/CUDACachingAllocator.h", "class CUDAAllocator"),
]


def torch_include():
    """The folder of torch's headers, or None."""
    folders = []
    named = os.environ.get("LOWTIDE_TORCH_DIR")
    for environment in filter(None, [named, ROOT / ".venv"]):
        folders += pathlib.Path(environment).glob("lib/python3*/site-packages/torch")
    if named:
        folders.insert(0, named)
    installed = importlib.util.find_spec("torch")
    if installed and installed.submodule_search_locations:
        folders.append(installed.submodule_search_locations[0])
    for folder in folders:
        include = pathlib.Path(folder) / "include"
        if all((include / header).exists() for header, _ in INTERFACES):
            return include
    return None


def without_comments(text):
    """Without lines of the preprocessor, too."""
    text = re.sub(r"^ *#[^\n]*", " ", text, flags=re.MULTILINE)
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)


def body_of(text, opening):
    """What stands between the braces of the type whose definition starts with `opening`."""
    text = without_comments(text)
    start = re.search(re.escape(opening) + r"\b[^;{]*\{", text).end()
    depth, at = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[start:at - 1]


def declarations(body):
    """The statements of a type's body, default arguments in braces and function bodies left out."""
    body = re.sub(r"=\s*\{[^{}]*\}", "", body)
    while True:
        flat = re.sub(r"\{[^{}]*\}", ";", body)
        if flat == body:
            break
        body = flat
    return [" ".join(part.split()) for part in body.split(";")]


def parameter_count(parameters):
    """How many parameters there are between the brackets of a function, given as text."""
    depth = commas = 0
    for letter in parameters:
        depth += {"(": 1, "<": 1, "{": 1, ")": -1, ">": -1, "}": -1}.get(letter, 0)
        commas += letter == "," and depth == 0
    return commas + 1 if parameters.strip() else 0


def virtual_functions(declared):
    """Names of the virtual functions, destructors left out, each with its counts of parameters."""
    found = collections.Counter()
    for declaration in declared:
        is_virtual = "virtual " in declaration or re.search(r"\boverride\b|\bfinal\b", declaration)
        match = re.search(r"([~\w]+)\s*\((.*)\)", declaration)
        if is_virtual and match and not match[1].startswith("~"):
            found[match[1], parameter_count(match[2])] += 1
    return found


class DelegatingAllocatorTest(unittest.TestCase):
    def setUp(self):
        self.include = torch_include()
        if self.include is None:
            self.skipTest("torch's CUDA headers are not here: set LOWTIDE_TORCH_DIR")

    def expected(self):
        """A function that an interface takes over from the one below counts once."""
        wanted = collections.Counter()
        for header, opening in INTERFACES:
            for declaration in declarations(body_of((self.include / header).read_text(), opening)):
                found = virtual_functions([declaration])
                if not re.search(r"\boverride\b", declaration):
                    wanted += found
        return wanted

    def test_the_headers_are_understood(self):
        wanted = self.expected()
        for name in ["allocate", "emptyCache", "getMemoryInfo", "raw_alloc", "getPoolUseCount",
                     "setUserMetadata", "memcpyAsync", "setCheckpointPoolState"]:
            self.assertIn(name, {function for function, _ in wanted})
        self.assertEqual(wanted["recordStream", 2], 2)
        self.assertGreater(sum(wanted.values()), 40)

    def test_every_virtual_function_is_passed_on(self):
        ours = virtual_functions(
            declarations(body_of(OURS.read_text(), "class DelegatingAllocator")))
        missing = self.expected() - ours
        self.assertFalse(missing, "not overridden in delegating_allocator.h: " +
                         ", ".join(f"{name} with {count}" for name, count in missing))


if __name__ == "__main__":
    unittest.main()
