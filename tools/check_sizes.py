#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Fails on files and functions that are too long, and on untidy text.

A source file has at most 600 lines, a function at most 60, and each source file starts with the two
SPDX lines. No text file has blanks at the end of a line or a path that exists on one machine only.

Functions of C++ are found by matching braces in code that clang-format has laid out: a heuristic,
good enough because what it takes for a function is looked at only when it is long.
"""

import ast
import pathlib
import re
import subprocess
import sys

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60

# "path" or "path:function" -> why it may be longer. An entry that is no longer needed fails too.
LONG_FOR_A_REASON = {}

# Path of a text that others wrote, as a prefix -> why its blanks and paths are left alone.
NOT_OUR_TEXT = {}

SPDX = ["SPDX-FileCopyrightText: 2026 The Lowtide Authors", "SPDX-License-Identifier: MIT"]
CPP_SUFFIXES = {".cpp", ".h", ".cu", ".cuh", ".inc"}
HASH_SUFFIXES = {".py", ".sh", ".cmake"}
HASH_NAMES = {"CMakeLists.txt", "Makefile"}

# Homes, mounts and work folders; what every system has (/usr, /proc, /tmp, /dev) is no such path.
MACHINE_PATH = re.compile(r"(?<![\w./:~$}-])/(?:home|root|work|workspace|Users|mnt|media)/\w")

# Comments, literals and preprocessor lines, in which a brace does not count.
NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/"""
    r"""|R"([^(\s]*)\(.*?\)\1\""""
    r"""|"(?:\\.|[^"\\\n])*\""""
    r"""|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"""
    r"""|^[ \t]*\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE)

# What may stand between the parameters of a function and its body.
FUNCTION_END = re.compile(
    r"\)\s*(?:(?:const|volatile|noexcept|override|final|mutable|try|&&?)\s*"
    r"|(?:noexcept|requires|LT_\w+)\s*\([^{}]*\)\s*)*"
    r"(?:->[^;]*)?$")
CONSTRUCTOR = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)")
LAMBDA_END = re.compile(r"(?:[=(,]|return)\s*\[[^\]]*\]$")
CONTAINER = re.compile(r"\b(?:namespace|class|struct|union|enum|extern|concept)\b")


def blank_out(text):
    """`text` with everything that is not code replaced by blanks; lines stay where they are."""
    return NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def kind_of(head):
    """What the brace after `head` opens: 'function', 'container' or 'other' (a list, a block)."""
    head = head.strip()
    if CONSTRUCTOR.search(head) and not head.endswith(("}", ")")):
        return "other"  # The braces of one member: `: bytes_{bytes}`.
    if FUNCTION_END.search(head) or LAMBDA_END.search(head):
        return "function"
    if CONSTRUCTOR.search(head) and head.endswith("}"):
        return "function"
    return "container" if CONTAINER.search(head) and "=" not in head else "other"


def name_of(head):
    """The name to print for the function that `head` introduces."""
    match = re.search(r"([~\w:]+|operator\W+)\s*\(", head)
    if not match:
        return head.strip()[:40]
    if match[1].isupper():  # TEST(Suite, Name)
        return re.sub(r"\s+", " ", head[match.start():head.find(")", match.start()) + 1])
    return match[1]


def cpp_functions(text):
    """Yields (name, first line, number of lines) of the functions, those inside others left out."""
    code = blank_out(text)
    opened = []  # (kind, head, index of the head's first character)
    head_start = 0
    for match in re.finditer(r"[{};]", code):
        index, mark = match.start(), match[0]
        if mark == "{":
            head = code[head_start:index]
            is_inside = any(kind != "container" for kind, _, _ in opened)
            opened.append(("other" if is_inside else kind_of(head), head, head_start))
            if opened[-1][0] != "other" or is_inside:
                head_start = index + 1
        elif mark == "}" and opened:
            kind, head, start = opened.pop()
            if kind == "function":
                start += len(head) - len(head.lstrip())
                first = code.count("\n", 0, start) + 1
                yield name_of(head), first, code.count("\n", start, index) + 1
            # After a list the head goes on: `f(Options o = {}) {`, `: a_{a}, b_{b} {`.
            head_start = start if kind == "other" else index + 1
        elif mark == ";" and not any(kind == "other" for kind, _, _ in opened):
            head_start = index + 1


def python_functions(text):
    """As cpp_functions, for Python."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def comment_mark(path, text):
    """How a comment begins in this file, or None if it is not a source file."""
    path = pathlib.PurePosixPath(path)
    if path.suffix in CPP_SUFFIXES:
        return "//"
    if path.suffix in HASH_SUFFIXES or path.name in HASH_NAMES or text.startswith("#!"):
        return "#"
    return None


def has_licence_lines(text, mark):
    lines = text.splitlines()
    start = 1 if text.startswith("#!") else 0
    return lines[start:start + 2] == [f"{mark} {line}" for line in SPDX]


def size_problems(path, text):
    """Yields (key in LONG_FOR_A_REASON, line, what is wrong)."""
    line_count = len(text.splitlines())
    if line_count > MAX_FILE_LINES:
        yield path, 1, f"the file has {line_count} lines, at most {MAX_FILE_LINES} are allowed"
    functions = python_functions if path.endswith(".py") else cpp_functions
    if comment_mark(path, text) == "#" and not path.endswith(".py"):
        return
    for name, line, length in functions(text):
        if length > MAX_FUNCTION_LINES:
            yield (f"{path}:{name}", line,
                   f"{name} has {length} lines, at most {MAX_FUNCTION_LINES} are allowed")


def text_problems(text):
    """Yields (line, what is wrong)."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
        match = MACHINE_PATH.search(line)
        if match:
            yield number, f"a path of one machine: {line[match.start():][:40].strip()}"


def check_text(path, text, used_reasons):
    """Yields a message for each problem; adds the reasons that were needed to used_reasons."""
    if not path.startswith(tuple(NOT_OUR_TEXT)):
        for line, problem in text_problems(text):
            yield f"{path}:{line}: {problem}"
    mark = comment_mark(path, text)
    if not mark:
        return
    if not has_licence_lines(text, mark):
        yield f"{path}:1: the file does not start with `{mark} {SPDX[0]}` and `{mark} {SPDX[1]}`"
    for key, line, problem in size_problems(path, text):
        if key in LONG_FOR_A_REASON:
            used_reasons.add(key)
        else:
            yield f"{path}:{line}: {problem}"


def project_files(root):
    """The files that git tracks or would track."""
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted(path for path in listing.split("\0") if path and (root / path).is_file())


def check_tree(root):
    """All messages for the project's files, and the number of text files read."""
    messages, used_reasons, file_count = [], set(), 0
    for path in project_files(root):
        content = (root / path).read_bytes()
        if b"\0" in content[:8192]:
            continue
        file_count += 1
        text = content.decode("utf-8", errors="replace")
        messages += check_text(path, text, used_reasons)
    for key in sorted(set(LONG_FOR_A_REASON) - used_reasons):
        messages.append(f"tools/check_sizes.py:1: {key} is not too long; remove it from the table")
    return messages, file_count


def main():
    messages, file_count = check_tree(pathlib.Path(__file__).resolve().parent.parent)
    for message in messages:
        print(message, file=sys.stderr)
    print(f"check_sizes: {file_count} files, {len(messages)} problems")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
