# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The file of results: rows by net and part, written whole after every row, so that another call goes
on where one ended."""

import json
import os
import pathlib
import sys

from program import Failed


class Results:
    """Rows that are there are not measured again."""

    def __init__(self, path, facts):
        self.path = pathlib.Path(path)
        self._all = {"facts": [], "nets": {}}
        if self.path.exists():
            self._all = json.loads(self.path.read_text(encoding="utf-8"))
        self._facts = facts

    def rows(self, net, part):
        return self._all["nets"].setdefault(net, {}).setdefault(part, {})

    def get(self, net, part, name, make):
        """The row; measured by make() if it is not there. A refusal of the program is a row too."""
        rows = self.rows(net, part)
        if name not in rows:
            print(f"{net}, {part}: {name} ...", file=sys.stderr, flush=True)
            try:
                rows[name] = make()
            except Failed as refusal:
                rows[name] = {"refused": str(refusal)}
            rows[name]["facts"] = self._number_of_facts()
            self._save()
        return rows[name]

    @property
    def nets(self):
        return self._all["nets"]

    def _number_of_facts(self):
        """Machine, commit and day of a row: calls may differ in these."""
        known = self._all["facts"]
        if self._facts not in known:
            known.append(self._facts)
        return known.index(self._facts)

    def _save(self):
        beside = self.path.with_suffix(".part")
        beside.write_text(json.dumps(self._all, indent=1) + "\n", encoding="utf-8")
        os.replace(beside, self.path)
