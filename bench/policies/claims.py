# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What the catalogue says that policies do well and badly, as conditions on the figures, by policy."""
from findings import MOVING, ONLINE, SIMULATED_ONLY, ahead_of_tide

BRANCHING = ("resnet50", "densenet121", "unet")


def alone(f, trace, policy, budget, others):
    """Whether it adds less than each of the others that plan the budget."""
    mine = f.percent(trace, policy, budget)
    rest = [f.percent(trace, other, budget) for other in others if other != policy]
    return mine is not None and all(other is None or mine < other for other in rest)


def in_front(f, trace, policy, budget, others):
    """Whether none of the others adds less; to the digit that is printed."""
    mine = f.percent(trace, policy, budget)
    rest = [f.percent(trace, other, budget) for other in others]
    return mine is not None and all(other is None or mine <= other + 0.05 for other in rest)


def refuses_all(f, trace, policy):
    return all(f.percent(trace, policy, budget) is None for budget in f.budgets(trace))


def measured_best(f, model, policy, budget):
    times = {who: f.measured(model, who, budget) for who, at in f.cells[model] if at == f"{budget}%"}
    return times[policy] == min(time for time in times.values() if time is not None)


CLAIMS = {
    "keep_all": lambda f: all(refuses_all(f, t, "keep_all") for t in f.steps),
    "evict_all": lambda f: all((f.percent(t, "evict_all", b) or 1e9) > 1000 for t in f.steps for b in f.budgets(t)),
    "belady": lambda f: (all(f.plans[t, "belady", b]["plan_seconds"] < 0.1 for t in f.steps for b in f.budgets(t))
                         and min(f.percent(t, "belady", 70) for t in ("vgg16", "resnet50", "gpt")) > 99),
    "lru": lambda f: (all(f.percent(t, "lru", 90) < f.percent(t, "dtr", 90) + 3 for t in f.steps)
                      and all(f.smallest(t, "lru") > f.smallest(t, o) for t in ("resnet50", "densenet121", "lstm") for o in ONLINE if o != "lru")),
    "random": lambda f: (all(f.smallest(t, "random") < f.smallest(t, "lru") for t in BRANCHING)
                         and all(f.percent(t, "random", 90) > f.percent(t, "dtr", 90) for t in f.steps)),
    "vdnn": lambda f: (all(f.percent(t, "vdnn", 90) == f.percent(t, "vdnn", 70) > 100 for t in ("resnet50", "densenet121", "gpt"))
                       and all(f.smallest(t, "vdnn") < 30 for t in ("resnet50", "densenet121")) and f.smallest("lstm", "vdnn") > 93),
    "vdnn_pp": lambda f: (all(f.percent(t, "vdnn_pp", 90) < 6 for t in ("resnet50", "densenet121", "gpt"))
                          and all(f.percent(t, "vdnn_pp", 70) > 99 for t in ("resnet50", "gpt")) and f.smallest("lstm", "vdnn_pp") > 92),
    "modnn": lambda f: (all(f.percent(t, "modnn", 90) < 1.5 for t in (*BRANCHING, "gpt"))
                        and all(f.percent(t, "modnn", 80) is None for t in ("vgg16", "lstm"))),
    "autotm": lambda f: (all(f.measured("vgg16", "autotm", b) < f.measured("vgg16", "belady", b) for b in (70, 50))
                         and all(f.measured("resnet50", "autotm", b) > f.measured("resnet50", "belady", b) for b in (70, 50))
                         and all(in_front(f, t, "autotm", b, [p for p in f.policies(t) if p not in SIMULATED_ONLY]) for t, b in (("densenet121", 80), ("gpt", 40)))
                         and (f.measured("gpt2-medium", "autotm", 70) / f.measured("gpt2-medium", "belady", 70)
                              > max(f.measured("resnet50", "autotm", b) / f.measured("resnet50", "belady", b) for b in (70, 50)))),
    "zero_offload": lambda f: ([round(f.smallest(t, "zero_offload")) for t in ("gpt", "lstm", "vgg16")] == [81, 86, 87]
                               and all(f.smallest(t, "zero_offload") > 98 for t in BRANCHING)),
    "flashneuron": lambda f: (all(f.percent(t, "flashneuron", 90) > 300 for t in (*BRANCHING, "vgg16", "gpt"))
                              and f.measured("resnet50", "flashneuron", 70) < 1.1 * f.measured("resnet50", "belady", 70)),
    "sentinel": lambda f: (all(alone(f, "lstm", "sentinel", b, MOVING) for b in (90, 80, 70))
                           and all(f.smallest(t, "sentinel") < f.smallest(t, "belady") + 1 for t in f.steps)),
    "swapadvisor": lambda f: (all(f.smallest(t, "swapadvisor") <= f.smallest(t, "belady") + 0.1 for t in f.steps)
                              and all(f.percent(t, "swapadvisor", 90) > f.percent(t, "belady", 90) for t in f.steps)),
    "sublinear": lambda f: (all(round(f.percent("densenet121", "sublinear", b), 1) == 13.7 for b in (90, 80, 70, 60, 50))
                            and f.percent("densenet121", "sublinear", 30) > 300),
    "rotor": lambda f: (f.percent("densenet121", "rotor", 50) < f.percent("densenet121", "dtr", 50) and 72 < f.smallest("unet", "rotor")
                        and all(f.percent(t, "rotor", b) > f.percent(t, "dtr", b) for t in ("resnet50", "densenet121") for b in (90, 80, 70))
                        and f.measured("gpt2-medium", "rotor", 50) < f.measured("gpt2-medium", "dtr", 50)),
    "checkmate": lambda f: all(refuses_all(f, t, "checkmate") for t in f.steps),
    "dtr": lambda f: (all(f.least("unet", b, f.policies("unet"), but=("tide",)) == "dtr" for b in (80, 70, 60))
                      and all(18 < f.percent(t, "dtr", 70) < 22 for t in ("lstm", "gpt"))),
    "dtr_megengine": lambda f: (all(f.percent(t, "dtr_megengine", 50) < f.percent(t, "dtr", 50) for t in ("resnet50", "densenet121"))
                                and f.percent("unet", "dtr_megengine", 50) > f.percent("unet", "dtr", 50)
                                and f.percent("gpt", "dtr_megengine", 80) > f.percent("gpt", "dtr", 80) and measured_best(f, "resnet50", "dtr_megengine", 35)),
    "coop": lambda f: (all(f.percent(t, "coop", 90) == max(f.percent(t, o, 90) for o in ONLINE) for t in ("vgg16", "gpt"))
                       and f.measured("densenet121", "coop", 35) < f.measured("densenet121", "dtr", 35)),
    "selective": lambda f: f.smallest("gpt", "selective") > 88 and all(refuses_all(f, t, "selective") for t in f.steps if t != "gpt"),
    "knapsack": lambda f: (len({round(f.percent("densenet121", "knapsack", b), 1) for b in (90, 80, 70, 60, 50, 40, 30)}) == 1
                           and f.percent("lstm", "knapsack", 70) > 500 and measured_best(f, "densenet121", "knapsack", 35)),
    "pofo": lambda f: (all(f.percent(t, "pofo", 70) < f.percent(t, "rotor", 70) for t in ("resnet50", "gpt")) and f.smallest("unet", "pofo") > 72 and f.percent("vgg16", "pofo", 90) is None
                       and all(measured_best(f, "densenet121", "pofo", b) for b in (70, 50))),
    "capuchin": lambda f: (all(f.percent(t, "capuchin", b) < f.percent(t, "tide", b) + 3 for t in ("resnet50", "densenet121", "lstm", "gpt") for b in (90, 80))
                           and f.percent("vgg16", "capuchin", 80) > 30 and all(f.percent(t, "capuchin", 30) > 100 for t in ("resnet50", "densenet121"))),
    "superneurons": lambda f: (all(f.percent("lstm", "superneurons", b) < 0.1 for b in (90, 80))
                               and f.least("vgg16", 90, f.policies("vgg16"), but=("tide",)) == "superneurons"
                               and f.percent("resnet50", "superneurons", 60) > 20 and f.percent("gpt", "superneurons", 80) > 20),
    "best_fit": lambda f: max(f.smallest(t, "best_fit") for t in f.steps) < 104,
    "pushdown": lambda f: max(f.smallest(t, "pushdown") for t in f.steps) < 107,
    "tide": lambda f: (len(ahead_of_tide(f)) <= 2 and f.measured("resnet50", "dtr_megengine", 35) < f.measured("resnet50", "tide", 35)
                       and f.measured("densenet121", "knapsack", 35) < f.measured("densenet121", "tide", 35)),
}
