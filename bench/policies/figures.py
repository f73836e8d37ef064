# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The committed figures of all policies: simulated on recorded steps, and measured."""
import importlib.machinery
import importlib.util
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "bench" / "results"
TRACES = ("vgg16", "resnet50", "densenet121", "unet", "lstm", "gpt")


def newest(pattern):
    return max(RESULTS.glob(pattern))


def policies_table():
    """bench/train/policies_table as a module: it reads the measured figures."""
    path = str(ROOT / "bench" / "train" / "policies_table")
    loader = importlib.machinery.SourceFileLoader("policies_table", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("policies_table", loader))
    loader.exec_module(module)
    return module


class Figures:
    def __init__(self):
        self.simulated_path = newest("*-policies-simulated.json")
        self.measured_path = newest("*-policies-h200.json")
        self.steps = {step["trace"]: step for step in json.loads(self.simulated_path.read_text())["steps"]}
        self.plans = {}
        for trace, step in self.steps.items():
            for row in step["plans"]:
                self.plans[trace, row["policy"], int(row["budget"].rstrip("%"))] = row
        self.cells = policies_table().cells_by_model(json.loads(self.measured_path.read_text()))

    def policies(self, trace):
        return sorted({policy for at, policy, _ in self.plans if at == trace})

    def budgets(self, trace):
        return sorted({budget for at, _, budget in self.plans if at == trace}, reverse=True)

    def percent(self, trace, policy, budget):
        """What a plan adds to the step's time, in percent; None where the policy refuses."""
        row = self.plans[trace, policy, budget]
        return None if row["refused"] else 100 * row["overhead"]

    def smallest(self, trace, policy):
        """The smallest budget that is known to do, in percent of the plain peak."""
        rows = [row for (at, who, _), row in self.plans.items() if (at, who) == (trace, policy)]
        known = [row["smallest_budget_bytes"] if row["refused"] else row["peak_bytes"] for row in rows]
        return 100 * min(known) / self.steps[trace]["plain_peak_bytes"]

    def measured_budgets(self, model):
        """Those that at least half of the model's policies were measured at, the largest first."""
        times = {(policy, int(budget[:-1])) for (policy, budget), cell in self.cells.get(model, {}).items() if cell.measured}
        policies = {policy for policy, _ in times}
        at = [budget for _, budget in times]
        return sorted({budget for budget in at if 2 * at.count(budget) >= len(policies)}, reverse=True)

    def measured(self, model, policy, budget):
        """The step time over plain's, measured; None where there is none."""
        cell = self.cells.get(model, {}).get((policy, f"{budget}%"))
        return cell.measured if cell else None

    def followed(self, model, policy, budget):
        """Whether that is the time of steps that followed their plan."""
        cell = self.cells.get(model, {}).get((policy, f"{budget}%"))
        return cell is not None and (cell.predicted is not None or cell.peak is None)

    def least(self, trace, budget, policies, but=()):
        """Who of the policies that plan it adds least."""
        rows = [(self.percent(trace, policy, budget), policy) for policy in policies if policy not in but]
        return min(row for row in rows if row[0] is not None)[1]
