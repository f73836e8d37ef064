# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Runs `lowtide`, within the time that there is."""

import json
import os
import signal
import subprocess
import time


# From the signal that ends a program to the one that it cannot wait for.
GRACE_SECONDS = 15


class Failed(Exception):
    """The program said no; the text is its last line."""


class Missing(Exception):
    """Another row has to come first."""


class OutOfTime(Exception):
    """What was begun is not done, and is to be done again in another call."""


class Lowtide:
    """The program, on one device, until a moment of time.monotonic(). `work`: a folder whose name is
    left out of what is told."""

    def __init__(self, program, device, ends_at, work, environment=None):
        self.program, self.device, self.ends_at = program, device, ends_at
        self._own = environment or dict(os.environ)
        self._environment = self._own
        self._work = str(work)

    def share_processors(self, lanes):
        """So many programs run at once from here on."""
        threads = max((os.cpu_count() or 1) // lanes, 1)
        self._environment = self._own | ({"OMP_NUM_THREADS": str(threads)} if lanes > 1 else {})

    def seconds_left(self):
        return self.ends_at - time.monotonic()

    def __call__(self, verb, *arguments, allowed=(0,)):
        """What a verb that trains prints as JSON. `allowed`: exit codes that come with figures."""
        return self.plan(verb, *arguments, "--device", self.device, allowed=allowed)

    def plan(self, verb, *arguments, allowed=(0,)):
        """The same for a verb that needs no device."""
        if self.seconds_left() <= 0:
            raise OutOfTime
        command = [self.program, verb, *arguments, "--json"]
        start = time.monotonic()
        code, output, errors = self._finish(command)
        if code not in allowed or not output.strip():
            lines = errors.strip().splitlines() or ["no message"]
            raise Failed(f"exit {code}: {lines[-1]}".replace(self._work, "WORK"))
        figures = json.loads(output)
        figures["command"] = "lowtide " + " ".join(command[1:]).replace(self._work, "WORK")
        figures["wall_seconds"] = time.monotonic() - start
        return figures

    def _finish(self, command):
        with subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=self._environment) as process:
            try:
                output, errors = process.communicate(timeout=max(self.seconds_left(), 0))
            except subprocess.TimeoutExpired:
                # It ends its step, and keeps the checkpoint if it has one.
                process.send_signal(signal.SIGINT)
                try:
                    process.communicate(timeout=GRACE_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                raise OutOfTime from None
        return process.returncode, output, errors
