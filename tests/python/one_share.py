# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Runs every so-manieth case of a test module, since unittest knows no shares: MODULE INDEX SHARES."""

import sys
import unittest


def cases_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases_of(test)
        else:
            yield test


def main():
    module, index, shares = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cases = sorted(cases_of(unittest.defaultTestLoader.loadTestsFromName(module)), key=lambda case: case.id())
    done = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(cases[index::shares]))
    bad = {str(getattr(test, "test_case", test)) for test, _ in done.failures + done.errors}
    skipped = {str(getattr(test, "test_case", test)) for test, _ in done.skipped} - bad
    print(f"one share: {done.testsRun - len(bad | skipped)} passed, {len(skipped)} skipped")
    sys.exit(0 if done.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
