# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""For Lightning:

    Trainer(..., callbacks=[LowtideCallback("8GiB")])
"""

try:
    from lightning.pytorch import Callback
except ImportError:  # The package's other name.
    from pytorch_lightning import Callback

from .. import _budget


class LowtideCallback(Callback):
    """A budget from the beginning of a fit to its end; takes what lowtide.budget takes. What was
    done is in `stats` afterwards."""

    def __init__(self, budget, **options):
        super().__init__()
        self._make = lambda: _budget.budget(budget, **options)
        self._budget = None
        self.stats = {}

    def on_fit_start(self, trainer, pl_module):
        self._end()
        self._budget = self._make()
        self._budget.__enter__()
        self._budget.session.name_parameters(pl_module)

    def on_fit_end(self, trainer, pl_module):
        self._end()

    def on_exception(self, trainer, pl_module, exception):
        self._end(failed=True)

    def _end(self, failed=False):
        if self._budget is None:
            return
        self.stats = self._budget.stats()
        budget, self._budget = self._budget, None
        budget.__exit__(RuntimeError if failed else None, None, None)
