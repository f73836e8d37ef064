# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What is tried with one sample of an op: run plainly, and in sessions that evict everything.

Sweeps, by name:
  host       all is moved to the host after each op, and back
  recompute  all that an op made is dropped after it, and computed again where it is used
  replay     what the op returned, used once more in the same session
  writes     which arguments the ops underneath change, and whether they move the random state
"""

import contextlib

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

import exceptions
import session
from samples import (bits_in, copied, is_differentiable, is_plain, samples_of, seed,
                     tensors_in)

# In place and with out=, an op differs from the function in its outputs only: few samples will do.
SAMPLES_OF_FORMS = 3

SWEEPS = ("host", "recompute", "replay", "writes")


class Skip(Exception):
    """The sample does not work without a session either."""


class Run:
    """What one run of a sample gave."""
    outputs = arguments = None
    gradients = again = ()
    random = None
    counts = {}


def call_function(op, arguments, keywords, _):
    return op(*arguments, **keywords)


def call_in_place(op, arguments, keywords, _):
    with torch.no_grad():
        return op.inplace_variant(*arguments, **keywords)


def call_with_out(op, arguments, keywords, outputs):
    with torch.no_grad():
        out = tree_map(lambda leaf: torch.empty_like(leaf, requires_grad=False), outputs)
        return op(*arguments, **keywords, out=out)


def call_with_wrong_out(op, arguments, keywords, outputs):
    """As above, but `out` is too small, so that the op gives it another size."""
    with torch.no_grad():
        out = tree_map(lambda leaf: torch.zeros(1, dtype=leaf.dtype)[:0], outputs)
        return op(*arguments, **keywords, out=out)


def forms_of(op):
    """The ways in which an op can be called, beside as a function."""
    if op.inplace_variant is not None:
        yield call_in_place
    if op.supports_out:
        yield call_with_out
        yield call_with_wrong_out


def differentiable(tree):
    return [leaf for leaf in tensors_in(tree) if leaf.requires_grad and is_plain(leaf)]


def gradients_of(run, cotangents):
    outputs, inputs = differentiable(run.outputs), differentiable(run.arguments)
    if not outputs or not inputs:
        return ()
    if cotangents is None:
        generator = torch.Generator().manual_seed(2)
        cotangents = [torch.randn(output.shape, dtype=output.dtype, generator=generator)
                      for output in outputs]
    run.cotangents = cotangents
    return torch.autograd.grad(outputs, inputs, [cotangent.clone() for cotangent in cotangents],
                               allow_unused=True)


def carry_out(op, form, sample, around=None, plain=None):
    """Runs the sample once, inside `around`; `plain` is a run as a function, for shapes."""
    seed()
    run = Run()
    with around or contextlib.nullcontext():
        arguments, keywords = copied(sample)
        run.arguments = (arguments, keywords)
        run.outputs = form(op, arguments, keywords, plain and plain.outputs)
        if form is call_function and is_differentiable(op):
            run.gradients = gradients_of(run, getattr(plain, "cotangents", None))
        run.again = [leaf.detach().clone() for leaf in tensors_in(run.outputs)]
        if isinstance(around, session.Session):
            run.counts = around.stats()
    run.random = torch.get_rng_state()
    return run


def differences(plain, other, with_contents):
    """Yields (sweep or None for the run's own, what differs)."""
    for what in ("outputs", "arguments", "gradients", "random"):
        expected = bits_in(getattr(plain, what), with_contents=with_contents)
        found = bits_in(getattr(other, what), with_contents=with_contents)
        for i, (one, two) in enumerate(zip(expected, found)):
            if one != two:
                yield None, f"{what}[{i}] differs"
        if len(expected) != len(found):
            yield None, f"{what}: {len(found)} and not {len(expected)}"
    if bits_in(plain.again, with_contents=with_contents) != bits_in(other.again,
                                                                    with_contents=with_contents):
        yield "replay", "a later use of the outputs differs"


def first_line(error):
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text[:200]}"


def compare_with_session(op, name, form, sample, means, plain, function, report):
    """Reports in what a run in a session differs from the plain one."""
    sweep = "host" if means == session.HOST else "recompute"
    report.at(sweep)
    try:
        run = carry_out(op, form, sample, session.Session(means), function)
        found = list(differences(plain, run, name not in exceptions.UNSTABLE))
    except Exception as error:  # Whatever it is, plain torch did not raise it.
        report.add(sweep, first_line(error))
        return
    report.counts.update(run.counts)
    for which, message in found:
        report.add(which if which and sweep == "recompute" else sweep, message)


def all_bytes(storage):
    # Of a copy: numpy() would keep the storage from being resized.
    return torch.empty(0, dtype=torch.uint8).set_(storage).clone().numpy().tobytes()


class WriteLog(TorchDispatchMode):
    """Notes which arguments the ops change, whatever their schemas say."""

    def __init__(self):
        super().__init__()
        self.findings = []
        self.reached = set()
        self.changed = set()
        self.hidden = set()

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        keywords = keywords or {}
        schema = function._schema
        given = [keywords.get(argument.name) if i >= len(arguments) else arguments[i]
                 for i, argument in enumerate(schema.arguments)]
        before = [self._contents(value) for value in given]
        random = torch.get_rng_state()
        result = function(*arguments, **keywords)
        self.reached.add((schema.name, schema.overload_name))
        if (not torch.equal(random, torch.get_rng_state())
                and torch.Tag.nondeterministic_seeded not in function.tags):
            self.findings.append(f"{function} moves the random state and has no tag for that")
        self._compare(schema, given, before)
        return result

    @staticmethod
    def _contents(value):
        """Of each storage among the tensors: its bytes."""
        return {tensor.untyped_storage()._cdata: all_bytes(tensor.untyped_storage())
                for tensor in tensors_in(value) if is_plain(tensor)}

    def _compare(self, schema, given, before):
        after = [self._contents(value) for value in given]
        effects = [session.effect(schema.name, schema.overload_name, i)
                   for i in range(len(given))]
        known = set()
        for i, contents in enumerate(before):
            if effects[i] != session.READS:
                known.update(contents)
            if effects[i] == session.HIDDEN_WRITE:
                self.hidden.add((schema.name, schema.overload_name, i))
        for i, contents in enumerate(before):
            changed = {key for key, old in contents.items() if after[i].get(key, old) != old}
            if changed:
                self.changed.add((schema.name, schema.overload_name, i))
            if changed - known:
                self.findings.append(f"{schema.name}.{schema.overload_name} writes argument "
                                     f"{schema.arguments[i].name} without saying so")


def look_for_writes(op, form, sample, function, log):
    try:
        carry_out(op, form, sample, log, function)
    except Exception as error:
        log.findings.append(first_line(error))


def sweep_sample(op, name, form, sample, function, report):
    """Runs all sweeps over one sample called in one form; the plain run, or Skip."""
    report.at("host")
    try:
        plain = carry_out(op, form, sample, None, function)
    except Exception as error:
        raise Skip(first_line(error)) from None
    function = function or plain
    for means in (session.HOST, session.RECOMPUTE):
        compare_with_session(op, name, form, sample, means, plain, function, report)
    report.at("writes")
    log = WriteLog()
    look_for_writes(op, form, sample, function, log)
    for message in dict.fromkeys(log.findings):
        report.add("writes", message)
    report.log(log)
    return plain


def sweep_operator(op, name, report):
    """Runs all sweeps over an op. `report` has at(), add(), log(), count() and skip()."""
    for i, sample in enumerate(samples_of(op)):
        function = None
        for form in (call_function, *forms_of(op)):
            if form is not call_function and (i >= SAMPLES_OF_FORMS or function is None):
                continue
            report.place = f"sample {i}, {form.__name__}"
            try:
                plain = sweep_sample(op, name, form, sample, function, report)
                function = function or plain
                report.count(form.__name__)
            except Skip as skip:
                report.skip(f"{report.place}: {skip}")
