# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Runs `lowtide`, within the time that there is."""

import json
import signal
import subprocess
import time


class Failed(Exception):
    """The program said no; the text is its last line."""


class Missing(Exception):
    """Another row has to come first."""


class OutOfTime(Exception):
    """What was begun is not done, and is to be done again in another call."""


class Lowtide:
    """The program, on one device, until a moment of time.monotonic(). `work`: a folder whose name is
    left out of what is told."""

    def __init__(self, program, device, ends_at, work):
        self.program, self.device, self.ends_at = program, device, ends_at
        self._work = str(work)

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
                              stderr=subprocess.PIPE) as process:
            try:
                output, errors = process.communicate(timeout=max(self.seconds_left(), 0))
            except subprocess.TimeoutExpired:
                # It ends its step, and keeps the checkpoint if it has one.
                process.send_signal(signal.SIGINT)
                process.communicate()
                raise OutOfTime from None
        return process.returncode, output, errors
