# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""For Hugging Face's Trainer:

    Trainer(..., callbacks=[LowtideCallback("8GiB")])
"""

import functools
import weakref

import transformers

from .. import _budget

# By their ids, the callbacks that there are.
_living = set()
# Trainer.train as it was, and as it is now; empty if nobody needs it.
_wrapped = []


def _ends_budgets_that_fail(original):
    """A training that fails tells no callback, so budgets would stay in force."""
    @functools.wraps(original)
    def train(self, *arguments, **options):
        try:
            return original(self, *arguments, **options)
        except BaseException:
            for callback in self.callback_handler.callbacks:
                if isinstance(callback, LowtideCallback):
                    callback.end(failed=True)
            raise
    return train


def _wrap():
    """When a callback first hears of a training, train() is under way: so it is wrapped as long as
    there is a callback."""
    if not _wrapped:
        original = transformers.Trainer.train
        transformers.Trainer.train = _ends_budgets_that_fail(original)
        _wrapped.extend((original, transformers.Trainer.train))


def _forget(number):
    _living.discard(number)
    # Somebody else may have wrapped it since: then it stays, and does nothing.
    if not _living and _wrapped and transformers.Trainer.train is _wrapped[1]:
        transformers.Trainer.train = _wrapped[0]
        _wrapped.clear()


class LowtideCallback(transformers.TrainerCallback):
    """A budget from the beginning of the training to its end; takes what lowtide.budget takes. What
    was done is logged with the training's other figures, and is in `stats` afterwards."""

    def __new__(cls, *_, **__):
        # Copies come by here too.
        self = super().__new__(cls)
        _living.add(id(self))
        weakref.finalize(self, _forget, id(self))
        _wrap()
        return self

    def __init__(self, budget, **options):
        self._make = lambda: _budget.budget(budget, **options)
        self._budget = None
        self.stats = {}

    def on_train_begin(self, args, state, control, **_):
        # A search for a batch that fits begins anew inside of train().
        self.end(failed=True)
        self._budget = self._make()
        self._budget.__enter__()

    def on_train_end(self, args, state, control, **_):
        self.end()

    def on_log(self, args, state, control, logs=None, **_):
        if self._budget is None:
            return
        stats = self._budget.stats()
        figures = {f"lowtide_{name}": stats[name] for name in ("peak_bytes", "evictions")}
        # The history has its own copy of the row, made before.
        for row in (logs, *state.log_history[-1:]):
            if row is not None:
                row.update(figures)

    def end(self, failed=False):
        """The budget ends, if it is in force; failed: by an exception."""
        if self._budget is None:
            return
        self.stats = self._budget.stats()
        budget, self._budget = self._budget, None
        budget.__exit__(RuntimeError if failed else None, None, None)
