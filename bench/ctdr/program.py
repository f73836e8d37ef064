# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Runs `lowtide`, within the time that there is."""

import json
import signal
import subprocess
import time


class Failed(Exception):
    """The program said no; the text is its last line."""


class OutOfTime(Exception):
    """What was begun is not done, and is to be done again in another call."""


class Lowtide:
    """The program, on one device, until a moment of time.monotonic()."""

    def __init__(self, program, device, ends_at):
        self.program, self.device, self.ends_at = program, device, ends_at

    def __call__(self, verb, *arguments, allowed=(0,)):
        """What the verb prints as JSON. `allowed`: exit codes that come with figures."""
        if time.monotonic() >= self.ends_at:
            raise OutOfTime
        command = [self.program, verb, *arguments, "--device", self.device, "--json"]
        start = time.monotonic()
        code, output, errors = self._finish(command)
        if code not in allowed or not output.strip():
            lines = errors.strip().splitlines() or ["no message"]
            raise Failed(f"exit {code}: {lines[-1]}")
        figures = json.loads(output)
        figures["command"] = "lowtide " + " ".join(command[1:])
        figures["wall_seconds"] = time.monotonic() - start
        return figures

    def _finish(self, command):
        with subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            try:
                output, errors = process.communicate(timeout=self.ends_at - time.monotonic())
            except subprocess.TimeoutExpired:
                # It ends its step, and keeps the checkpoint if it has one.
                process.send_signal(signal.SIGINT)
                process.communicate()
                raise OutOfTime from None
        return process.returncode, output, errors
