# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What the figures show, by kind of net. Each finding gives its text and whether the figures bear it out."""
import dataclasses

MOVING = ("belady", "vdnn", "vdnn_pp", "modnn", "sentinel", "flashneuron", "autotm")
ONLINE = ("dtr", "dtr_megengine", "coop", "lru", "random")
SEGMENTS = ("sublinear", "rotor", "pofo")
SIMULATED_ONLY = ("swapadvisor", "best_fit", "pushdown")
NAMES = {"vgg16": "VGG-16", "resnet50": "ResNet-50", "densenet121": "DenseNet-121", "unet": "U-Net", "lstm": "the LSTM", "gpt": "GPT-2"}


@dataclasses.dataclass
class Kind:
    title: str
    about: str
    # (trace, model of the measured table)
    steps: tuple
    findings: tuple


def several(f, trace, policies, budget):
    """What these add at a budget, in percent; refusals are left out."""
    return [p for p in (f.percent(trace, policy, budget) for policy in policies) if p is not None]


def span(values, digits=0):
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


# Across all nets.

def ahead_of_tide(f):
    """Where a policy that can be carried out adds less than `tide`, as (trace, policy, budget)."""
    def is_behind(trace, policy, budget):
        mine, other = f.percent(trace, "tide", budget), f.percent(trace, policy, budget)
        return other is not None and (mine is None or mine > other + 0.05)
    return sorted(row for row in f.plans if row[1] not in SIMULATED_ONLY and is_behind(*row))


def tide_is_ahead(f):
    ahead = ahead_of_tide(f)

    def told(trace, policy, budget):
        mine = f.percent(trace, "tide", budget)
        return f"`{policy}` on {NAMES[trace]} at {budget} % ({f.percent(trace, policy, budget):.3g} to {'a refusal' if mine is None else f'{mine:.3g} %'})"
    exceptions = f", except for {' and '.join(told(*row) for row in ahead)}" if ahead else ", by itself or with others that come to the same"
    return (f"`tide` adds least of all that can be carried out on every step at every budget that anybody plans{exceptions}. "
            "It weighs each value by itself as `dtr` does, knows all next uses as `belady` does, and goes on searching where rules stop.",
            len(ahead) <= 2)


def moving_is_dear(f):
    at70 = {t: several(f, t, MOVING, 70) for t in f.steps}
    convolutions = [min(at70[t]) for t in ("resnet50", "densenet121", "unet")]
    return (f"**Moving alone** costs what the link costs. At 70 % the cheapest of `{'`, `'.join(MOVING)}` adds {min(at70['gpt']):.0f} % on the transformer and {span(convolutions)} % on the branching nets, "
            f"against at most {max(f.percent(t, 'tide', 70) for t in ('gpt', 'resnet50', 'densenet121', 'unet')):.0f} % where values are also replayed: the H200's forward pass makes activations several times "
            "faster than its link carries them away. The order among these policies matters less than that.",
            min(convolutions) > 30 and min(at70["gpt"]) > 90)


def online_is_near(f):
    times = {t: f.percent(t, "dtr", 90) for t in f.steps}
    return (f"**Online rules** need no plan and know no future. While a tenth has to go, `dtr` adds {span(times.values(), 1)} %; the simplest rule, `lru`, is behind it everywhere, by at most "
            f"{max(f.percent(t, 'lru', 90) - times[t] for t in f.steps):.1f} points, and the first of them to refuse on ResNet-50 and DenseNet-121.",
            all(f.percent(t, "lru", 90) >= times[t] for t in f.steps)
            and all(f.smallest(t, "lru") > f.smallest(t, o) for t in ("resnet50", "densenet121") for o in ("dtr", "dtr_megengine", "coop", "random")))


def segments_pay_at_once(f):
    at90 = [f.percent(t, "sublinear", 90) for t in ("resnet50", "densenet121", "unet", "lstm", "gpt")]
    rotor = [f.percent(t, "rotor", 90) for t in f.steps]
    return (f"**Segments** (`sublinear`) replay {span(at90)} % at 90 % already on all nets but VGG-16, since a cut gives all or nothing, and then keep that price for long; the optimal chains of `rotor` begin at "
            f"{span(rotor, 1)} %.",
            min(at90) > 10 and max(rotor) < 6)


def disk_is_slow(f):
    at90 = [f.percent(t, "flashneuron", 90) for t in f.steps]
    return (f"**Disk** (`flashneuron`) adds {span(at90)} % at 90 %: the simulated machine's disk is many times slower than its host memory. In a session without a disk the same policy moves to host memory and is one of the "
            f"moving policies ({f.measured('resnet50', 'flashneuron', 70):.2f} against {f.measured('resnet50', 'belady', 70):.2f} for `belady`, measured, ResNet-50 at 70 %).",
            min(at90) > 100 and f.measured("resnet50", "flashneuron", 70) < 1.1 * f.measured("resnet50", "belady", 70))


def arenas(f):
    over = [f.smallest(t, p) - 100 for t in f.steps for p in ("best_fit", "pushdown")]
    return (f"**Placement** (`best_fit`, `pushdown`) saves nothing below the plain peak; what it shows is that addresses fixed beforehand take {span(over, 1)} % more than the bytes that are there at once.",
            max(over) < 8)


def exact_is_small(f):
    return ("`checkmate` is exact and refuses all these steps: its questions grow with the square of the ops, so it is for steps of a few dozen ops, where the other policies are tested against it.",
            all(f.percent(t, "checkmate", b) is None for t in f.steps for b in f.budgets(t)))


ACROSS = (tide_is_ahead, moving_is_dear, online_is_near, segments_pay_at_once, disk_is_slow, arenas, exact_is_small)


# Linear nets.

def vgg_is_hungry(f):
    working = 100 * f.steps["vgg16"]["working_set_bytes"] / f.steps["vgg16"]["plain_peak_bytes"]
    return (f"A few convolutions hold most of it: the hungriest op alone needs {working:.0f} % of the peak, so that no policy goes below. Only {', '.join(f'`{p}`' for p in planning(f, 'vgg16', 70))} plan 70 %.",
            working > 60 and "dtr" not in planning(f, "vgg16", 70))


def planning(f, trace, budget):
    return [policy for policy in f.policies(trace) if f.percent(trace, policy, budget) is not None]


def vgg_replays(f):
    floor = [f.smallest("vgg16", p) for p in (*ONLINE, *SEGMENTS, "knapsack")]
    return (f"Policies that only replay, and `pofo`, end at {span(floor)} %. There most of them add little ({span(several(f, 'vgg16', ('dtr', 'knapsack', 'lru', 'sublinear', 'rotor'), 90), 1)} %).",
            min(floor) > 88 and max(several(f, "vgg16", ("dtr", "knapsack", "lru", "sublinear", "rotor"), 90)) < 6)


def vgg_moves(f):
    tide, others = f.percent("vgg16", "tide", 70), [f.percent("vgg16", p, 70) for p in ("belady", "sentinel")]
    return (f"Below that only moving what the hungriest op does not use helps, and its copies show: `tide` adds {tide:.0f} % at 70 %, `belady` and `sentinel` {max(others):.0f} %. `superneurons` is second at 90 % with {f.percent('vgg16', 'superneurons', 90):.1f} %, "
            f"for one copy of {f.plans['vgg16', 'superneurons', 90]['bytes_to_host'] / 2**20:.0f} MiB and cheap replays; `capuchin` finds hidden swaps only down to 80 % ({f.percent('vgg16', 'capuchin', 80):.0f} %).",
            tide < min(others) and f.least("vgg16", 90, f.policies("vgg16"), but=("tide",)) == "superneurons"
            and f.percent("vgg16", "capuchin", 80) is not None and f.percent("vgg16", "capuchin", 70) is None)


def vgg_measured(f):
    quick = [f.measured("vgg16", p, 70) for p in ("knapsack", "dtr", "dtr_megengine")]
    return (f"Measured, with kernels that need less workspace, 70 % is within reach of replays: `tide` takes {f.measured('vgg16', 'tide', 70):.2f} of the plain step, the replaying rules {span(quick, 2)}, whole segments (`sublinear`) "
            f"{f.measured('vgg16', 'sublinear', 70):.2f}, moves alone {span([f.measured('vgg16', p, 70) for p in ('modnn', 'autotm', 'vdnn_pp', 'belady', 'sentinel', 'flashneuron')], 2)}.",
            f.measured("vgg16", "tide", 70) < min(quick) and max(quick) < 1.2)


# Branching nets.

def branching_weighs_values(f):
    rows = [(t, b) for t in ("resnet50", "densenet121", "unet") for b in (80, 70, 60)]
    return ("Many values of like size, most of them made again by one cheap op (ReLU, BatchNorm). Policies that weigh each value by itself (`tide`, `dtr`, `dtr_megengine`) stay ahead of those that cut the net "
            f"into segments: at 70 % `dtr` adds {span([f.percent(t, 'dtr', 70) for t in ('resnet50', 'densenet121', 'unet')], 1)} %, `sublinear` {span([f.percent(t, 'sublinear', 70) for t in ('resnet50', 'densenet121', 'unet')], 0)} %.",
            all(f.percent(t, "dtr", b) < f.percent(t, "sublinear", b) for t, b in rows))


def branching_hides_copies(f):
    at = {t: f.percent(t, "capuchin", 80) for t in ("resnet50", "densenet121", "unet")}
    return (f"`capuchin` is nearly free while the link has time left ({at['resnet50']:.1f} % on ResNet-50 and {at['densenet121']:.1f} % on DenseNet-121 at 80 %), and not on U-Net ({at['unet']:.1f} %). "
            f"When no free time is left it replays chains for one reader at a time and ends with moves that show: {f.percent('resnet50', 'capuchin', 30):.0f} % on ResNet-50 at 30 %.",
            at["resnet50"] < 2 and at["densenet121"] < 2 and at["unet"] > 5 and f.percent("resnet50", "capuchin", 30) > 100)


def branching_skips(f):
    return (f"Long skips undo chains. U-Net's reach across the whole net, so that `rotor` and `pofo`, which are optimal for chains, keep them as a whole and refuse less than {f.smallest('unet', 'rotor'):.0f} %, where `dtr` goes down to {f.smallest('unet', 'dtr'):.0f} %; "
            f"`sublinear` falls back to its recursive form ({f.percent('unet', 'sublinear', 70):.0f} % at 70 %). The short skips of ResNet-50 and DenseNet-121 lie within stages: there they plan "
            f"50 % at {span([f.percent(t, p, 50) for t in ('resnet50', 'densenet121') for p in ('rotor', 'pofo')], 1)} %.",
            f.smallest("unet", "rotor") > 70 and f.smallest("unet", "dtr") < 45 and f.percent("unet", "sublinear", 70) > 200)


def branching_knapsack(f):
    flat = [f.percent("densenet121", "knapsack", b) for b in f.budgets("densenet121")]
    knapsack, peak = f.plans["densenet121", "knapsack", 90], f.steps["densenet121"]["plain_peak_bytes"]
    return (f"`knapsack` finds one cut on DenseNet-121 that fits from 90 to 20 % ({span(flat, 1)} %): the passes over memory that it repeats first hold most of the peak, of which {100 * knapsack['peak_bytes'] / peak:.0f} % are left. That is dear at 90 % and second at 30 %. "
            f"`superneurons` drops whole segments before it moves anything ({f.percent('resnet50', 'superneurons', 70):.0f} % on ResNet-50 at 70 %, without a copy), and moves when these are used up ({f.percent('resnet50', 'superneurons', 50):.0f} % at 50 %).",
            max(flat) < 20 and f.least("densenet121", 30, f.policies("densenet121"), but=("tide",)) == "knapsack"
            and f.plans["resnet50", "superneurons", 70]["bytes_to_host"] == 0 and f.plans["resnet50", "superneurons", 50]["bytes_to_host"] > 0)


def branching_measured(f):
    rn = {p: f.measured("resnet50", p, 50) for p in ("tide", "dtr", "dtr_megengine", "coop")}
    return (f"Measured on ResNet-50 at 50 %, `tide` takes {rn['tide']:.2f}, `dtr_megengine` {rn['dtr_megengine']:.2f}, `dtr` {rn['dtr']:.2f}, `coop` {rn['coop']:.2f}; at 35 %, where memory in pieces counts, which the simulator does not know, `dtr_megengine` takes "
            f"{f.measured('resnet50', 'dtr_megengine', 35):.2f} and `tide` {f.measured('resnet50', 'tide', 35):.2f}. DenseNet-121 waits for the host there (see [policies-measured.md](policies-measured.md)), and other plans win: `pofo` {f.measured('densenet121', 'pofo', 50):.2f} at 50 %, `tide` {f.measured('densenet121', 'tide', 50):.2f}, "
            f"and at 35 % `knapsack` {f.measured('densenet121', 'knapsack', 35):.2f}, `tide` {f.measured('densenet121', 'tide', 35):.2f}.",
            rn["tide"] == min(rn.values()) and f.measured("resnet50", "dtr_megengine", 35) < f.measured("resnet50", "tide", 35)
            and f.measured("densenet121", "pofo", 50) < f.measured("densenet121", "tide", 50)
            and f.measured("densenet121", "knapsack", 35) < f.measured("densenet121", "tide", 35))


# Recurrent nets.

def lstm_drops_the_dead(f):
    rows = [f.plans["lstm", p, 80] for p in ("tide", "superneurons")]
    return (f"A fifth of the peak is what the program holds and never reads again: at 80 % `tide` and `superneurons` drop that, replay and move nothing, and add {f.percent('lstm', 'tide', 80):.1f} %. `rotor` and `pofo` add {f.percent('lstm', 'pofo', 80):.1f} % there, the online rules, "
            f"which know no future, {span([f.percent('lstm', p, 80) for p in ONLINE])} %.",
            all(row["bytes_to_host"] == 0 and row["recompute_seconds"] == 0 for row in rows) and f.percent("lstm", "tide", 80) < 0.1 and f.percent("lstm", "pofo", 80) < 1)


def lstm_hides(f):
    capuchin = f.plans["lstm", "capuchin", 70]
    return (f"Below that copies hide, since the device waits for the host to issue thousands of small ops: `capuchin` adds {f.percent('lstm', 'capuchin', 70):.1f} % at 70 % by moves alone, `sentinel` {f.percent('lstm', 'sentinel', 70):.1f} %, and even `belady` {f.percent('lstm', 'belady', 70):.0f} %, "
            f"which adds {span([f.percent(t, 'belady', 70) for t in ('vgg16', 'resnet50', 'densenet121', 'unet', 'gpt')])} % to the other nets.",
            capuchin["recompute_seconds"] == 0 and f.percent("lstm", "capuchin", 70) < 4 and f.percent("lstm", "belady", 70) < 15)


def lstm_replays(f):
    dear = several(f, "lstm", ("dtr", "dtr_megengine", "coop", "lru", "random", "rotor", "pofo", "sublinear"), 70)
    return (f"Replays are what costs: each is another op for the host. All policies that only replay come to {span(dear)} % at 70 %, `pofo` among them, and `knapsack` to {f.percent('lstm', 'knapsack', 70):.0f} %.",
            min(dear) > 15 and f.percent("lstm", "knapsack", 70) > 500)


def lstm_states(f):
    working = 100 * f.steps["lstm"]["working_set_bytes"] / f.steps["lstm"]["plain_peak_bytes"]
    floor = [f.smallest("lstm", p) for p in ("dtr", "sublinear", "rotor", "pofo", "knapsack", "coop", "lru")]
    return (f"The loss needs {working:.0f} % of the peak by itself, and parameters and states lie beside it, which replays cannot touch: without moves the smallest budgets are {span(floor)} %. Policies that move states too go down to {f.smallest('lstm', 'belady'):.0f} % (`tide`, `belady`, `sentinel`). `vdnn` and "
            f"`vdnn_pp` move inputs of layers only and refuse anything below {span([f.smallest('lstm', p) for p in ('vdnn', 'vdnn_pp')])} %; `zero_offload` moves nothing but states and gradients, and plans 90 % at {f.percent('lstm', 'zero_offload', 90):.1f} %.",
            min(floor) > 60 and f.smallest("lstm", "belady") < 45 and min(f.smallest("lstm", p) for p in ("vdnn", "vdnn_pp")) > 90)


# Transformers.

def gpt_replays_agree(f):
    names = ("dtr", "dtr_megengine", "coop", "lru", "random", "rotor", "sublinear")
    alike = several(f, "gpt", names, 70)
    return (f"Blocks are all alike, and at 70 % nearly every policy that only replays comes to the same ({span(alike, 1)} %). `pofo` and `capuchin` move a little beside it ({f.percent('gpt', 'pofo', 70):.1f} and {f.percent('gpt', 'capuchin', 70):.1f} %); "
            f"`tide` comes to {f.percent('gpt', 'tide', 70):.1f} % with copies of {f.plans['gpt', 'tide', 70]['bytes_to_host'] / 2**30:.1f} GiB that hide, and few replays.",
            max(alike) - min(alike) < 3 and len(alike) == len(names) and f.percent("gpt", "tide", 70) < 10)


def gpt_states(f):
    working = 100 * f.steps["gpt"]["working_set_bytes"] / f.steps["gpt"]["plain_peak_bytes"]
    floor = [f.smallest("gpt", p) for p in ("dtr", "dtr_megengine", "coop", "lru", "random", "rotor", "sublinear", "knapsack")]
    return (f"The loss needs {working:.0f} % of the peak by itself, and parameters and states lie beside it: policies which only replay end at {span(floor)} %. `belady` and `sentinel` reach {f.smallest('gpt', 'belady'):.0f} %, at {f.percent('gpt', 'belady', 50):.0f} % and more of added time at 50 %; `capuchin`, which replays and moves, "
            f"{f.smallest('gpt', 'capuchin'):.0f} %, and `tide` adds {f.percent('gpt', 'tide', 50):.0f} % at 50 %.",
            min(floor) > 59 and f.percent("gpt", "belady", 50) > 200 and f.percent("gpt", "tide", 50) < 30)


def gpt_selective(f):
    return (f"`selective` was made for attention that keeps its scores. Fused kernels keep none: it saves little here ({f.percent('gpt', 'selective', 90):.1f} % at 90 %) and refuses less than {f.smallest('gpt', 'selective'):.0f} %. `zero_offload` takes states and gradients away "
            f"({f.smallest('gpt', 'zero_offload'):.0f} % is its least) and leaves the activations.",
            f.smallest("gpt", "selective") > 85 and f.percent("gpt", "zero_offload", 70) is None)


def gpt_measured(f):
    half = {p: f.measured("gpt2-medium", p, 50) for p in ("tide", "rotor", "sublinear", "pofo", "dtr", "capuchin", "knapsack")}
    segments = ("sublinear", "pofo", "rotor")
    text = (f"Measured on GPT-2 medium at 50 %: `tide` {half['tide']:.2f}, then segments that end with blocks ({', '.join(f'`{p}` {half[p]:.2f}' for p in segments)}), `dtr` ({half['dtr']:.2f}), `capuchin` ({half['capuchin']:.2f}) and "
            f"`knapsack` ({half['knapsack']:.2f}). At 70 % all of these take {span([f.measured('gpt2-medium', p, 70) for p in half], 2)}.")
    holds = half["tide"] == min(half.values()) and sorted(half, key=half.get)[1:4] == list(segments) and max(half[p] for p in segments) < half["dtr"]
    tight = {p: f.measured("gpt2-medium", p, 35) for p in ("tide", "belady", "dtr")}
    if None in tight.values():
        return text, holds
    return (f"{text} At 35 % weights, gradients and states alone take more than the budget: plans that only move (`belady` {tight['belady']:.1f}, `tide` {tight['tide']:.1f}) "
            f"take half as long as the online rule, which is left where a policy refuses (`dtr` {tight['dtr']:.1f}).",
            holds and max(tight["belady"], tight["tide"]) < 0.6 * tight["dtr"])


KINDS = (
    Kind("Linear nets", "VGG-16: a chain of convolutions and three large linear layers.", (("vgg16", "vgg16"),),
         (vgg_is_hungry, vgg_replays, vgg_moves, vgg_measured)),
    Kind("Branching nets", "ResNet-50 with short skips, DenseNet-121 with many, U-Net with long ones.",
         (("resnet50", "resnet50"), ("densenet121", "densenet121"), ("unet", "")),
         (branching_weighs_values, branching_hides_copies, branching_skips, branching_knapsack, branching_measured)),
    Kind("Recurrent nets", "An LSTM, simulated only: 4,734 small ops in a step.", (("lstm", ""),), (lstm_drops_the_dead, lstm_hides, lstm_replays, lstm_states)),
    Kind("Transformers", "GPT-2 small, simulated; the measured columns are of GPT-2 medium.", (("gpt", "gpt2-medium"),),
         (gpt_replays_agree, gpt_states, gpt_selective, gpt_measured)),
)
