# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Modules of a user's own with decomposed layers: what they compute, how they are saved, trained and
put together again."""

import copy
import functools
import io
import json
import pathlib
import pickle
import tempfile
import unittest
import warnings

import torch

import lowtide
import training
from lowtide.layers import DecomposedConv2d, DecomposedLinear


# Most of these nets are as they were initialised.
decompose = functools.partial(lowtide.decompose, untrained=True)


class Net(torch.nn.Module):
    """Kernels, strides, paddings and dilations of all sorts."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 16, 3, padding=1)
        self.blocks = torch.nn.Sequential(
            torch.nn.Conv2d(16, 24, (3, 2), stride=(2, 1), dilation=(1, 2)), torch.nn.ReLU(),
            torch.nn.Conv2d(24, 20, 1, stride=2, bias=False), torch.nn.BatchNorm2d(20),
            torch.nn.Conv2d(20, 20, (3, 4), padding="same", padding_mode="reflect"),
            torch.nn.Conv2d(20, 18, 3, padding="same", dilation=2))
        self.head = torch.nn.Linear(18, 10)

    def forward(self, x):
        return self.head(self.blocks(self.conv(x).relu()).mean((2, 3)))


FULL_RANK = {"conv": "tucker2 3x16", "blocks.0": "tucker2 16x24", "blocks.2": "svd 20",
             "blocks.4": "tucker2 20x20", "blocks.5": "tucker2 20x18 reconstructed", "head": "svd 10"}


def make_net(dtype=torch.float64):
    torch.manual_seed(1)
    return Net().to(dtype).eval()


def pictures(dtype=torch.float64):
    return torch.randn(4, 3, 17, 16, generator=torch.Generator().manual_seed(2), dtype=dtype)


def distance(one, other):
    return ((one - other).norm() / other.norm()).item()


def smooth(outputs, inputs, *kernel):
    """A weight whose singular values fall off as a trained layer's do."""
    generator = torch.Generator().manual_seed(3)
    basis = torch.randn(outputs, outputs, generator=generator, dtype=torch.float64)
    decay = torch.arange(1, outputs + 1, dtype=torch.float64) ** -1.5
    rest = torch.randn(outputs, inputs, *kernel, generator=generator, dtype=torch.float64)
    return torch.tensordot(basis * decay, rest, 1)


class WhatIsComputed(unittest.TestCase):
    def test_at_full_rank_the_module_gives_the_same(self):
        net = make_net()
        expected = net(pictures())
        report = decompose(net, FULL_RANK)
        self.assertEqual(report.forms, FULL_RANK)
        self.assertLess(max(layer.relative_error for layer in report.layers), 1e-12)
        self.assertLess(distance(net(pictures()), expected), 1e-12)

    def test_every_form_computes_what_its_merged_weight_does(self):
        for name, forms in {"conv": ("tucker2 2x5", "cp3 7", "cp4 7"),
                            "blocks.0": ("tucker2 5x9", "cp3 9", "cp4 9", "cp4 9 reconstructed"),
                            "blocks.2": ("svd 7", "svd 7 reconstructed"),
                            "blocks.4": ("tucker2 6x6", "cp3 11", "cp4 11", "cp3 11 reconstructed"),
                            "blocks.5": ("tucker2 6x6", "cp3 11", "cp4 11"),
                            "head": ("svd 3", "svd 3 reconstructed")}.items():
            for form in forms:
                with self.subTest(name, form=form):
                    net = make_net()
                    dense = net.get_submodule(name).weight.detach().clone()
                    expected = net(pictures())
                    layer, = decompose(net, {name: form}).layers
                    with_factors = net(pictures())
                    self.assertGreater(distance(with_factors, expected), 1e-6)
                    self.assertEqual(lowtide.merge(net), 1)
                    merged = net.get_submodule(name).weight
                    self.assertAlmostEqual(distance(merged, dense), layer.relative_error, places=9)
                    self.assertLess(distance(net(pictures()), with_factors), 1e-12)

    def test_errors_are_the_exact_ones(self):
        linear = torch.nn.Linear(20, 30, dtype=torch.float64)
        linear.weight.data = smooth(30, 20)
        values = torch.linalg.svdvals(linear.weight.detach())
        layer, = decompose(linear, rank=6).layers
        lost = (values[6:].square().sum() / values.square().sum()).sqrt().item()
        self.assertAlmostEqual(layer.relative_error, lost, places=12)

        conv = torch.nn.Conv2d(12, 16, 3, dtype=torch.float64)
        conv.weight.data = smooth(16, 12, 3, 3)
        norm = conv.weight.detach().norm()
        layer, = decompose(conv, {"": "tucker2 5x6"}).layers
        # The outer factors have orthonormal columns, so the core has what is kept.
        lost = (1 - (conv.weight_core.norm() / norm) ** 2).sqrt().item()
        self.assertAlmostEqual(layer.relative_error, lost, places=9)

    def test_the_weight_can_be_read_and_trained_through(self):
        linear = torch.nn.Linear(20, 30)
        decompose(linear, rank=6)
        x = torch.randn(5, 20)
        torch.nn.functional.linear(x, linear.weight, linear.bias).square().sum().backward()
        by_weight = [factor.grad.clone() for factor in linear.factors()]
        linear.zero_grad()
        linear(x).square().sum().backward()
        for factor, expected in zip(linear.factors(), by_weight):
            self.assertLess(distance(factor.grad, expected), 1e-5)


class Rules(unittest.TestCase):
    def test_ranks_by_share_energy_noise_and_number(self):
        weight = smooth(64, 48)
        for rank, expected in (("compression=0.5", "svd 13"), ("energy=0.01", None), (12, "svd 12")):
            linear = torch.nn.Linear(48, 64, dtype=torch.float64)
            linear.weight.data = weight.clone()
            layer, = decompose(linear, rank=rank).layers
            if expected:
                self.assertEqual(layer.form, expected)
            else:
                self.assertLessEqual(layer.relative_error, 0.1 + 1e-9)
            self.assertEqual(layer.parameters_after, sum(p.numel() for p in linear.factors()))
            self.assertLess(layer.parameters_after, layer.parameters_before)
        planted = torch.randn(64, 5, dtype=torch.float64) @ torch.randn(5, 48, dtype=torch.float64)
        linear = torch.nn.Linear(48, 64, dtype=torch.float64)
        linear.weight.data = planted + 0.1 * torch.randn(64, 48, dtype=torch.float64)
        self.assertEqual(decompose(linear, rank="evbmf").forms, {"": "svd 5"})

    def test_methods_and_reconstruction_for_a_whole_module(self):
        for method, conv in (("auto", "tucker2"), ("tucker2", "tucker2"), ("cp3", "cp3"),
                             ("cp4", "cp4")):
            net = make_net()
            report = decompose(net, method=method, reconstructed=True)
            self.assertTrue(report.forms["blocks.0"].startswith(conv), report)
            self.assertTrue(report.forms["blocks.2"].startswith("svd"), report)
            for form in report.forms.values():
                self.assertTrue(form.endswith(" reconstructed"))
        report = decompose(make_net(), method="svd")
        reasons = {layer.name: layer.reason for layer in report.layers}
        self.assertRegex(reasons["blocks.0"], "svd is for linear and 1x1 layers.*use tucker2 or cp3")
        self.assertEqual(set(report.forms), {"blocks.2", "head"})


class WhatStaysDense(unittest.TestCase):
    def test_says_why(self):
        class Odd(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.grouped = torch.nn.Conv2d(8, 8, 3, groups=2)
                self.tied, self.embedding = torch.nn.Linear(16, 32), torch.nn.Embedding(32, 16)
                self.tied.weight = self.embedding.weight
                self.once = torch.nn.Linear(16, 16)
                self.again = self.once
                self.normed = torch.nn.utils.weight_norm(torch.nn.Linear(16, 16))
                self.own = type("Own", (torch.nn.Linear,), {})(16, 16)
                self.along = torch.nn.Conv1d(8, 8, 3)
                self.tiny = torch.nn.Linear(1, 3)
                self.zeros = torch.nn.Linear(16, 16)
                torch.nn.init.zeros_(self.zeros.weight)
                self.plain = torch.nn.Linear(16, 16)
        odd = Odd()
        state = {name: value.clone() for name, value in odd.state_dict().items()}
        report = decompose(odd)
        reasons = {layer.name: layer.reason for layer in report.layers}
        for name, expected in {"grouped": r"grouped convolution \(2 groups\)", "tied": "shared",
                               "once": "shared", "own": "is a Own", "embedding": "is a Embedding",
                               "along": "is a Conv1d", "tiny": "svd 1 has 4 parameters",
                               "zeros": "all zeros", "plain": "^$"}.items():
            with self.subTest(name):
                self.assertRegex(reasons[name], expected)
        self.assertNotIn("normed", report.forms)
        self.assertEqual(set(report.forms), {"plain"})
        for name, value in odd.state_dict().items():
            if not name.startswith("plain"):
                self.assertTrue(torch.equal(value, state[name]), name)

    def test_layers_that_could_not_be_the_same_afterwards_stay(self):
        net = torch.nn.Module()
        net.tied, net.back = torch.nn.Linear(16, 32, bias=False), torch.nn.Linear(32, 16, bias=False)
        # Another object of the same memory, as in an autoencoder.
        net.back.weight = torch.nn.Parameter(net.tied.weight.t())
        net.lazy = torch.nn.LazyLinear(8)
        net.hooked = torch.nn.Linear(16, 16)
        net.hooked.weight.register_hook(lambda gradient: None)
        net.after = torch.nn.Linear(16, 16)
        net.after.weight.register_post_accumulate_grad_hook(lambda parameter: None)
        net.eighths = torch.nn.Linear(16, 16).requires_grad_(False)
        net.eighths.weight.data = net.eighths.weight.data.to(torch.float8_e4m3fn)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            net.empty = torch.nn.Linear(0, 5)
        net.plain = torch.nn.Linear(16, 16)
        report = decompose(net)
        self.assertEqual(list(report.forms), ["plain"])
        reasons = {layer.name: layer.reason for layer in report.layers}
        for name, expected in {"tied": "shared", "back": "shared", "hooked": "its weight has hooks",
                               "after": "its weight has hooks", "lazy": "no sizes yet: use the module once",
                               "eighths": "float8_e4m3fn", "empty": "no elements"}.items():
            with self.subTest(name):
                self.assertIn(expected, reasons[name])
        self.assertEqual(net.tied.weight.data_ptr(), net.back.weight.data_ptr())
        net.lazy(torch.ones(2, 16))
        self.assertEqual(list(decompose(net, ["lazy"], rank=2).forms), ["lazy"])

    def test_sparse_parameters_stay_and_stop_nobody(self):
        for layout in (torch.sparse_coo, torch.sparse_csr):
            with self.subTest(layout=layout), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                net = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Linear(16, 16))
                net.table = torch.nn.Parameter(torch.eye(8).to_sparse(layout=layout))
                net[1].weight = torch.nn.Parameter(torch.eye(16).to_sparse(layout=layout))
                report = decompose(net)
                self.assertEqual(list(report.forms), ["0"])
                self.assertEqual(report.layers[1].reason, "its weight is sparse or nested")
                state = net.state_dict()
                fresh = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Linear(16, 16))
                fresh.table = torch.nn.Parameter((2 * torch.eye(8)).to_sparse(layout=layout))
                fresh[1].weight = torch.nn.Parameter((2 * torch.eye(16)).to_sparse(layout=layout))
                self.assertEqual(lowtide.load_decomposed(fresh, state), report.forms)

    def test_what_a_user_registered_is_not_written_over(self):
        for add in (lambda layer: layer.register_parameter("weight_out", torch.nn.Parameter(torch.ones(3))),
                    lambda layer: layer.register_buffer("weight_in", torch.ones(3)),
                    lambda layer: setattr(layer, "form", "mine")):
            linear = torch.nn.Linear(20, 30)
            add(linear)
            before = copy.deepcopy(linear.state_dict())
            with self.assertRaisesRegex(ValueError, "it has a '(weight_in|weight_out|form)' of its own"):
                decompose(linear, {"": "svd 4"})
            self.assertIs(type(linear), torch.nn.Linear)
            self.assertIsNone(training.first_difference(before, linear.state_dict()))

    def test_frozen_layers_stay_frozen(self):
        linear = torch.nn.Linear(32, 32).requires_grad_(False)
        decompose(linear)
        self.assertFalse(any(p.requires_grad for p in linear.parameters()))
        lowtide.merge(linear)
        self.assertFalse(linear.weight.requires_grad)


class BadInput(unittest.TestCase):
    def check(self, error, pattern, *arguments, **options):
        net = make_net()
        before = copy.deepcopy(net.state_dict())
        with self.assertRaisesRegex(error, pattern):
            decompose(net, *arguments, **options)
        self.assertIsNone(training.first_difference(before, net.state_dict()))

    def test_is_refused_with_what_would_work_and_nothing_changes(self):
        self.check(ValueError, "not 0; the nearest is 1", rank=0)
        self.check(ValueError, "not -4; the nearest is 1", rank=-4)
        self.check(ValueError, "'head': .*11 .*from 1 to 10; the nearest is 10", ["head"], rank=11)
        self.check(ValueError, "'head': svd 10 has 280 parameters, and the dense weight 180",
                   ["head"], rank=10)
        self.check(ValueError, "the nearest is 16", {"head": "svd 3", "conv": "tucker2 3x17"})
        self.check(ValueError, "(?s)no layer can be decomposed so.*the nearest is", rank=1000)
        self.check(ValueError, "no layer 'hed'; did you mean 'head'", ["hed"])
        self.check(ValueError, "no layer 'blocks.1'", ["blocks.1"])
        self.check(ValueError, "'head': tucker2 is for convolutions; use svd", {"head": "tucker2 2x2"})
        self.check(ValueError, "unknown form 'tucker'; did you mean 'tucker2'", method="tucker")
        self.check(ValueError, "unknown rank rule 'energie'", rank="energie=0.1")
        self.check(ValueError, "compression must be between 0 and 1", rank="compression=1.5")
        self.check(ValueError, "total= is for all layers together", rank="total=0.5")
        self.check(ValueError, "leave method, rank and reconstructed out", {"head": "svd 3"}, rank=2)
        self.check(TypeError, "a rank is a whole number", rank=(3, 4))
        self.check(TypeError, "a list of names", "head")
        for form in (None, 3, "".encode()):
            self.check(TypeError, "layer 'head': a form is a text such as 'svd 32'", {"head": form})

    def test_weights_that_are_not_finite_are_refused_by_name(self):
        net = make_net()
        net.blocks[2].weight.data[3, 4] = float("nan")
        for layers in (None, ["head", "blocks.2"], {"blocks.2": "svd 3"}):
            with self.assertRaisesRegex(ValueError, "'blocks.2': the weight has values that are not "
                                                    "finite"):
                decompose(net, layers)
        self.assertIs(type(net.head), torch.nn.Linear)

    def test_twice_is_refused(self):
        net = make_net()
        decompose(net, ["head"], rank=3)
        with self.assertRaisesRegex(ValueError, "'head': it is decomposed already"):
            decompose(net, ["head"], rank=3)
        report = decompose(net)
        self.assertEqual(str(report).splitlines()[-1], "head: svd 3: it is decomposed already")
        self.assertEqual(net.head.form, "svd 3")
        # All that are decomposed, so that a fresh module can become the same.
        self.assertEqual(report.forms, {name: layer.form for name, layer in net.named_modules()
                                        if hasattr(layer, "form")})

    def test_other_parameters_of_a_layer_stay_whatever_they_are_called(self):
        linear = torch.nn.Linear(20, 30)
        scale = torch.nn.Parameter(torch.ones(30))
        linear.register_parameter("weight_scale", scale)
        decompose(linear, {"": "svd 4"})
        self.assertEqual(["weight_in", "weight_out", "bias", "weight_scale"],
                         [name for name, _ in linear.named_parameters()])
        lowtide.merge(linear)
        self.assertEqual(["weight", "bias", "weight_scale"],
                         [name for name, _ in linear.named_parameters()])
        self.assertIs(scale, linear.weight_scale)

    def test_a_decomposed_layer_is_not_initialised_as_a_dense_one(self):
        linear = torch.nn.Linear(32, 32)
        decompose(linear)
        with self.assertRaisesRegex(RuntimeError, "lowtide.merge"):
            linear.reset_parameters()


class Untrained(unittest.TestCase):
    def test_weights_as_they_are_initialised_stay_dense_unless_they_are_asked_for(self):
        torch.manual_seed(1)
        net = torch.nn.Sequential(torch.nn.Linear(64, 48), torch.nn.Linear(48, 64))
        net[0].weight.data = smooth(48, 64).float()
        with self.assertRaisesRegex(ValueError, "'1': its weight looks untrained.*untrained=True"):
            lowtide.decompose(net, ["0", "1"])
        self.assertNotIsInstance(net[0], DecomposedLinear)
        report = lowtide.decompose(net)
        self.assertEqual(list(report.forms), ["0"])
        self.assertIn("looks untrained", report.layers[1].reason)
        # At full rank nothing is lost.
        lowtide.decompose(net, {"1": "svd 48"})
        lowtide.merge(net)
        self.assertEqual(list(lowtide.decompose(net, untrained=True).forms), ["0", "1"])


class States(unittest.TestCase):
    def setUp(self):
        self.net = make_net()
        self.forms = decompose(self.net).forms

    def check_same(self, other):
        self.assertTrue(torch.equal(other(pictures()), self.net(pictures())))

    def other_net(self):
        torch.manual_seed(99)
        return Net().double().eval()

    def test_factors_have_readable_names_in_the_weights_place(self):
        self.assertEqual(list(self.net.state_dict())[:4],
                         ["conv.weight_in", "conv.weight_core", "conv.weight_out", "conv.bias"])
        self.assertIsInstance(self.net.conv, DecomposedConv2d)
        self.assertIsInstance(self.net.conv, torch.nn.Conv2d)
        self.assertIsInstance(self.net.head, DecomposedLinear)
        self.assertIn("form=svd", repr(self.net.head))
        lowtide.merge(self.net)
        self.assertEqual(list(self.net.state_dict()), list(make_net().state_dict()))
        self.assertEqual(repr(self.net), repr(make_net()))

    def test_copies_and_pickles_are_the_same(self):
        self.check_same(copy.deepcopy(self.net))
        self.check_same(pickle.loads(pickle.dumps(self.net)))
        file = io.BytesIO()
        torch.save(self.net, file)
        file.seek(0)
        self.check_same(torch.load(file, weights_only=False))

    def test_a_state_goes_into_a_freshly_decomposed_module(self):
        other = self.other_net()
        decompose(other, self.forms)
        other.load_state_dict(self.net.state_dict())
        self.check_same(other)

    def test_a_saved_state_is_loaded_into_a_dense_module_or_one_of_other_forms(self):
        file = io.BytesIO()
        torch.save(self.net.state_dict(), file)
        for prepare in (lambda net: None, lambda net: decompose(net, method="cp3", rank=4)):
            file.seek(0)
            other = self.other_net()
            prepare(other)
            self.assertEqual(lowtide.load_decomposed(other, torch.load(file)), self.forms)
            self.check_same(other)

    def test_a_dense_state_is_decomposed_on_its_way_in(self):
        other = self.other_net()
        decompose(other, self.forms)
        other.load_state_dict(make_net().state_dict())
        self.check_same(other)
        wrong = make_net().state_dict() | {"head.weight": torch.zeros(3, 3)}
        with self.assertRaisesRegex(RuntimeError, r"head.weight is for a layer of the sizes \(3, 3\)"):
            other.load_state_dict(wrong)
        before = other.head.weight.detach().clone()
        wrong = make_net().state_dict() | {"head.weight": torch.zeros(10, 18)}
        with self.assertRaisesRegex(RuntimeError, "head.weight: the weight is all zeros") as raised:
            other.load_state_dict(wrong)
        self.assertNotIn("Missing key", str(raised.exception))
        self.assertTrue(torch.equal(other.head.weight, before))

    def test_what_does_not_fit_is_not_loaded(self):
        state = self.net.state_dict()
        for change, pattern in (
                (lambda s: s.update({"had.weight_in": s["head.weight_in"]}), "did you mean 'head'"),
                (lambda s: s.update({"head.weight_in": torch.zeros(2, 17)}), "do not go with"),
                (lambda s: s.pop("conv.weight_core"), "do not go with"),
                (lambda s: s.pop("head.bias"), "Missing key.*head.bias"),
                (lambda s: s.update({"more.weight": torch.ones(1)}), "Unexpected key.*more.weight"),
                (lambda s: s.update({"blocks.3.bias": torch.ones(3)}), "size mismatch for blocks.3.bias")):
            broken = dict(state)
            change(broken)
            for prepare in (lambda net: None, lambda net: decompose(net, method="cp3", rank=4)):
                other = self.other_net()
                prepare(other)
                before, expected = copy.deepcopy(other.state_dict()), other(pictures())
                with self.assertRaisesRegex((ValueError, RuntimeError), f"(?s){pattern}"):
                    lowtide.load_decomposed(other, broken)
                self.assertIsNone(training.first_difference(before, other.state_dict()))
                self.assertTrue(torch.equal(other(pictures()), expected))

    def test_a_file_of_the_program_is_loaded_with_the_forms_that_it_names(self):
        forms = self.forms | {"head": self.forms["head"] + " reconstructed"}
        header, data = {"__metadata__": {f"form/{name}": form for name, form in forms.items()}}, b""
        for name, tensor in self.net.state_dict().items():
            content = tensor.contiguous().numpy().tobytes()
            kind = {torch.float64: "F64", torch.int64: "I64"}[tensor.dtype]
            header[name] = {"dtype": kind, "shape": list(tensor.shape),
                            "data_offsets": [len(data), len(data) + len(content)]}
            data += content
        text = json.dumps(header).encode()
        other = self.other_net()
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "weights.safetensors"
            file.write_bytes(len(text).to_bytes(8, "little") + text + data)
            self.assertEqual(lowtide.load_decomposed(other, file), forms)
        self.assertTrue(other.head.is_reconstructed)
        for name, value in other.state_dict().items():
            self.assertTrue(torch.equal(value, self.net.state_dict()[name]), name)

    def test_a_file_that_is_none_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for content in (b"", b"\x05\0\0\0\0\0\0\0hello", b"\xff" * 100,
                            b'\x40\0\0\0\0\0\0\0{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}'):
                file = pathlib.Path(folder) / "weights.safetensors"
                file.write_bytes(content)
                with self.assertRaisesRegex(ValueError, "not a whole safetensors file"):
                    lowtide.load_decomposed(make_net(), file)


class Training(unittest.TestCase):
    def test_factors_train_with_the_same_bits_inside_a_budget(self):
        torch.manual_seed(1)
        net = torch.nn.Sequential(*[layer for _ in range(5) for layer in
                                    (torch.nn.Conv2d(16, 16, 3, padding=1), torch.nn.BatchNorm2d(16),
                                     torch.nn.ReLU())],
                                  torch.nn.Flatten(), torch.nn.Linear(16 * 64, 32))
        for options in ({}, {"method": "cp4"}, {"reconstructed": True}):
            decomposed = copy.deepcopy(net)
            self.assertEqual(len(decompose(decomposed, **options).forms), 6)
            training.check_identity(self, decomposed, lambda: torch.randn(16, 16, 8, 8), 0.6,
                                    make_optimizer=torch.optim.AdamW, floor_bytes=1024)

    def test_factors_learn(self):
        net = make_net().train()
        decompose(net)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
        losses = []
        for _ in range(20):
            optimizer.zero_grad()
            loss = net(pictures()).square().mean()
            loss.backward()
            self.assertTrue(all(p.grad is not None for p in net.parameters()))
            optimizer.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], 0.8 * losses[0])

    def test_weights_that_are_away_are_decomposed_and_merged(self):
        plain = make_net()
        decompose(plain)
        with lowtide.budget("1GiB", device="cpu", evict_everything=True, floor_bytes=0):
            net = make_net()
            decompose(net)
            state = {name: value.clone() for name, value in net.state_dict().items()}
            lowtide.merge(net)
        self.assertIsNone(training.first_difference(dict(plain.state_dict()), state))
        lowtide.merge(plain)
        self.assertTrue(torch.equal(net(pictures()), plain(pictures())))

    def test_decomposed_layers_compile(self):
        net = make_net()
        decompose(net)
        compiled = torch.compile(net, backend="aot_eager")
        self.assertLess(distance(compiled(pictures()), net(pictures())), 1e-12)


class Models(unittest.TestCase):
    def test_a_torchvision_resnet(self):
        import torchvision
        torch.manual_seed(1)
        model = torchvision.models.resnet18(weights=None, num_classes=10)
        # Without the largest, which take most of the time.
        names = [name for name, layer in model.named_modules()
                 if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear)) and "layer4" not in name]
        before = sum(p.numel() for p in model.parameters())
        report = decompose(model, names, rank="compression=0.25")
        self.assertEqual(len(report.forms), 16)
        saved = sum(layer.parameters_before - layer.parameters_after for layer in report.layers)
        self.assertEqual(sum(p.numel() for p in model.parameters()), before - saved)
        self.assertGreater(saved, 0.7 * sum(layer.parameters_before for layer in report.layers))
        training.check_identity(self, model, lambda: torch.randn(4, 3, 64, 64), 0.6, steps=2,
                                floor_bytes=4096)

    def test_a_gpt2_of_layers_with_turned_weights_and_a_tied_head(self):
        import transformers
        torch.manual_seed(1)
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
            n_layer=2, n_head=2, n_embd=32, vocab_size=64, n_positions=16)).eval()
        tokens = torch.arange(16).view(1, 16)
        expected, before = model(tokens).logits, copy.deepcopy(model.state_dict())
        report = decompose(copy.deepcopy(model))
        self.assertEqual(len(report.forms), 8)
        self.assertIn("lm_head: dense: its weight is shared", str(report))
        for form in ("svd 32", "svd 32 reconstructed"):
            other = copy.deepcopy(model)
            decompose(other, dict.fromkeys(report.forms, form))
            self.assertEqual(other.transformer.h[0].mlp.c_fc.weight_in.shape, (32, 32))
            self.assertEqual(other.transformer.h[0].mlp.c_fc.weight_out.shape, (128, 32))
            self.assertLess(distance(other(tokens).logits, expected), 1e-4)
            again = copy.deepcopy(model)
            lowtide.load_decomposed(again, other.state_dict())
            self.assertLess(distance(again(tokens).logits, expected), 1e-4)
            again.load_state_dict(before)
            lowtide.merge(again)
            self.assertEqual(list(again.state_dict()), list(before))
            for name, value in again.state_dict().items():
                self.assertLess(distance(value, before[name]) if value.any() else 0, 1e-4, name)
        decompose(model)
        training.check_identity(self, model, lambda: tokens.repeat(8, 1), 0.7,
                                loss_of=lambda output: output.logits.square().mean(),
                                floor_bytes=1024)

    def test_a_bert_of_linear_layers(self):
        import transformers
        torch.manual_seed(1)
        model = transformers.BertModel(transformers.BertConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
            vocab_size=64, max_position_embeddings=16)).eval()
        tokens = torch.arange(16).view(1, 16)
        expected = model(tokens).last_hidden_state
        exact = {layer.name: "svd 32" for layer in decompose(copy.deepcopy(model)).layers
                 if not layer.reason}
        self.assertEqual(len(exact), 13)
        decompose(model, exact)
        self.assertLess(distance(model(tokens).last_hidden_state, expected), 1e-4)


if __name__ == "__main__":
    unittest.main()
