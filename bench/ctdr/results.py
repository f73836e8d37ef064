# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The file of results: rows by net and part, written whole after every row, so that another call goes
on where one ended."""

import fnmatch
import json
import os
import pathlib
import statistics
import threading
import time

from program import Failed


class Results:
    """Rows that are there are not measured again. Several threads may measure."""

    def __init__(self, path, facts):
        self.path = pathlib.Path(path)
        self._all = {"facts": [], "nets": {}}
        if self.path.exists():
            self._all = json.loads(self.path.read_text(encoding="utf-8"))
        self._facts = facts
        self._lock = threading.RLock()

    def rows(self, net, part):
        with self._lock:
            return self._all["nets"].setdefault(net, {}).setdefault(part, {})

    def has(self, piece, may_be_refused=True):
        row = self.rows(piece.net, piece.part).get(piece.row)
        return row is not None and (may_be_refused or "refused" not in row)

    def forget(self, pattern):
        """The names of the rows that it fits, "gpt, choice: ctdr", which are to be measured anew."""
        with self._lock:
            found = [(rows, row, f"{net}, {part}: {row}") for net, parts in self._all["nets"].items()
                     for part, rows in parts.items() for row in rows]
            found = [item for item in found if fnmatch.fnmatchcase(item[2], pattern)]
            for rows, row, _ in found:
                del rows[row]
            self._save()
        return [name for _, _, name in found]

    def measure(self, piece, lanes=1):
        """Makes the row. A refusal of the program is a row too. `lanes`: so many were made at once."""
        predicted = self.predicted_seconds(piece)
        start = time.monotonic()
        try:
            row = piece.make()
        except Failed as refusal:
            row = {"refused": str(refusal)}
        row |= {"kind": piece.kind, "predicted_seconds": round(predicted, 1),
                "guessed_seconds": round(piece.seconds, 1),
                "piece_seconds": round(time.monotonic() - start, 1), "lanes": lanes}
        with self._lock:
            row["facts"] = self._number_of_facts()
            self.rows(piece.net, piece.part)[piece.row] = row
            self._save()
        return row

    def predicted_seconds(self, piece):
        """The guess, times what pieces of its kind took over theirs so far: the net's own, or those of
        all nets; without any, the guess."""
        with self._lock:
            own = _ratios(self._all["nets"].get(piece.net, {}), piece.kind)
            every = [ratio for parts in self._all["nets"].values() for ratio in _ratios(parts, piece.kind)]
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


def _ratios(parts, kind):
    return [row["piece_seconds"] / row["guessed_seconds"] for rows in parts.values()
            for row in rows.values()
            if row.get("guessed_seconds") and row.get("kind") == kind and "refused" not in row]
