# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The file of results: rows by net and part, written whole after every row, so that another call goes
on where one ended."""

import json
import os
import pathlib
import statistics
import time

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

    def has(self, piece, may_be_refused=True):
        row = self.rows(piece.net, piece.part).get(piece.row)
        return row is not None and (may_be_refused or "refused" not in row)

    def measure(self, piece):
        """Makes the row. A refusal of the program is a row too."""
        start = time.monotonic()
        try:
            row = piece.make()
        except Failed as refusal:
            row = {"refused": str(refusal)}
        row["predicted_seconds"] = round(self.predicted_seconds(piece), 1)
        row["guessed_seconds"] = piece.seconds
        row["piece_seconds"] = round(time.monotonic() - start, 1)
        row["facts"] = self._number_of_facts()
        self.rows(piece.net, piece.part)[piece.row] = row
        self._save()

    def predicted_seconds(self, piece):
        """The guess, times what the net's pieces took over theirs so far; without any, those of all."""
        own = _ratios(self._all["nets"].get(piece.net, {}))
        every = [ratio for parts in self._all["nets"].values() for ratio in _ratios(parts)]
        return piece.seconds * statistics.median(own or every or [1])

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


def _ratios(parts):
    return [row["piece_seconds"] / row["guessed_seconds"] for rows in parts.values()
            for row in rows.values() if row.get("guessed_seconds") and "refused" not in row]
