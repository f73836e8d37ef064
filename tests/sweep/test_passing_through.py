# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What dispatches to Python or has no plain storage passes through a session unharmed."""

import unittest

import torch
from torch import nn
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

import session
from samples import bits_in, seed

MEANS = {"recompute": session.RECOMPUTE, "host": session.HOST, "mixed": session.MIXED}


def network():
    return nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Dropout(0.3), nn.Linear(8, 4))


class NameLog(TorchDispatchMode):
    """Notes the ops that it sees."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        self.names.append(str(function))
        return function(*arguments, **(keywords or {}))


class SameInSession(unittest.TestCase):
    """Tests that run a body plainly and in sessions that evict everything."""

    def assert_same(self, body):
        seed()
        expected = bits_in(body())
        for name, means in MEANS.items():
            with self.subTest(means=name):
                seed()
                with session.Session(means) as open_session:
                    found = body()
                    open_session.end_step()
                self.assertEqual(expected, bits_in(found))


class Subclasses(SameInSession):
    def test_two_tensor_trains(self):
        def body():
            x = TwoTensor(torch.randn(6, 6), torch.randn(6, 6)).requires_grad_()
            w = torch.randn(6, 6, requires_grad=True)
            y = (x @ w).relu()
            (y * y).sum().backward()
            return y.a, y.b, x.grad.a, x.grad.b, w.grad.a, w.grad.b
        self.assert_same(body)

    def test_two_tensor_is_changed_in_place(self):
        def body():
            x = TwoTensor(torch.randn(5), torch.randn(5))
            x.mul_(3).add_(1)
            view = x[1:4]
            view.sub_(2)
            return x.a, x.b, view.a, view.b
        self.assert_same(body)

    def test_parameters_and_buffers(self):
        def body():
            model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4))
            model(torch.randn(7, 5)).square().sum().backward()
            return [parameter.grad for parameter in model.parameters()], list(model.buffers())
        self.assert_same(body)

    def test_jagged_tensor_trains(self):
        def body():
            parts = [torch.randn(n, 6) for n in (2, 5, 3)]
            jagged = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)
            layer = nn.Linear(6, 4)
            out = torch.nn.functional.gelu(layer(jagged)) * 2
            out.values().square().sum().backward()
            return out.values(), layer.weight.grad, jagged.grad.values()
        self.assert_same(body)

    def test_strided_nested_tensor(self):
        def body():
            nested = torch.nested.nested_tensor([torch.randn(2, 6), torch.randn(4, 6)])
            return torch.nested.to_padded_tensor(nn.Linear(6, 3)(nested), 0.0)
        self.assert_same(body)


class Modes(SameInSession):
    def test_mode_sees_the_same_ops(self):
        def body():
            model, x = network(), torch.randn(3, 6)
            with NameLog() as log:
                loss = model(x).square().sum()
                loss.backward()
            return log.names, loss, [parameter.grad for parameter in model.parameters()]
        self.assert_same(body)

    def test_session_opened_inside_a_mode(self):
        def body():
            model, x = network(), torch.randn(3, 6)
            return model(x).square().sum(), [parameter for parameter in model.parameters()]
        seed()
        expected = bits_in(body())
        for name, means in MEANS.items():
            with self.subTest(means=name):
                seed()
                with NameLog(), session.Session(means):
                    found = body()
                self.assertEqual(expected, bits_in(found))

    def test_fake_tensors(self):
        def body():
            from torch._subclasses.fake_tensor import FakeTensorMode
            real = torch.randn(4, 6)
            with FakeTensorMode() as mode:
                out = network()(mode.from_tensor(real))
                out.sum().backward()
            return str(out.shape), str(out.device), real * 2
        self.assert_same(body)

    def test_counting_flops(self):
        def body():
            from torch.utils.flop_counter import FlopCounterMode
            model = network()
            with FlopCounterMode(display=False) as counter:
                out = model(torch.randn(3, 6))
                out.sum().backward()
            return counter.get_total_flops(), out
        self.assert_same(body)

    def test_tracing_with_make_fx(self):
        def body():
            from torch.fx.experimental.proxy_tensor import make_fx
            def function(x):
                return (x @ x).relu().sum(0)
            x = torch.randn(4, 4)
            return make_fx(function)(x)(x), make_fx(function, tracing_mode="fake")(x)(x)
        self.assert_same(body)

    def test_default_device(self):
        def body():
            with torch.device("cpu"):
                x = torch.randn(4)
                return x * 2, torch.arange(5).float().sin()
        self.assert_same(body)


class OtherLayouts(SameInSession):
    def test_meta_tensors(self):
        def body():
            x = torch.randn(4, 4)
            meta = torch.empty(4, 4, device="meta")
            out = meta @ meta
            return str(out.shape), str(out.device), x + 1, str(x.to("meta").relu().shape)
        self.assert_same(body)

    def test_module_moved_off_meta(self):
        def body():
            with torch.device("meta"):
                model = nn.Linear(4, 3)
            model.to_empty(device="cpu")
            nn.init.normal_(model.weight)
            nn.init.zeros_(model.bias)
            return model(torch.ones(2, 4))
        self.assert_same(body)

    def test_sparse_coo_trains(self):
        def body():
            indices = torch.tensor([[0, 1, 1, 3], [2, 0, 0, 1]])
            sparse = torch.sparse_coo_tensor(indices, torch.randn(4), (4, 3)).coalesce()
            dense = torch.randn(3, 5, requires_grad=True)
            out = torch.sparse.mm(sparse.requires_grad_(), dense)
            out.square().sum().backward()
            return out, dense.grad, sparse.grad.coalesce(), sparse.detach().to_dense() * 2
        self.assert_same(body)

    def test_sparse_gradients_of_an_embedding(self):
        def body():
            embedding = nn.Embedding(10, 4, sparse=True)
            optimizer = torch.optim.SparseAdam(embedding.parameters(), lr=0.1)
            for _ in range(3):
                optimizer.zero_grad()
                embedding(torch.tensor([1, 4, 4, 7])).square().sum().backward()
                optimizer.step()
            return embedding.weight
        self.assert_same(body)

    def test_sparse_csr(self):
        def body():
            sparse = torch.randn(5, 4).relu().to_sparse_csr()
            dense = torch.randn(4, 3)
            return sparse @ dense, sparse.to_dense(), sparse.values() * 2, sparse * 3
        self.assert_same(body)

    def test_views_of_complex_numbers(self):
        def body():
            x = torch.randn(4, 4, dtype=torch.complex64, requires_grad=True)
            out = (x.conj() @ x).imag.neg() + torch.view_as_real(x).sum()
            out.sum().backward()
            return out, x.grad
        self.assert_same(body)

    def test_quantized_tensors(self):
        def body():
            x = torch.randn(4, 4)
            packed = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)
            return packed.dequantize(), packed.int_repr(), packed.reshape(16).dequantize()
        self.assert_same(body)


class Transforms(SameInSession):
    @staticmethod
    def loss(weight, x):
        return (x @ weight).tanh().square().sum()

    def test_vmap_of_grad(self):
        def body():
            weight, x = torch.randn(5, 3), torch.randn(7, 5)
            return torch.func.vmap(torch.func.grad(self.loss), in_dims=(None, 0))(weight, x)
        self.assert_same(body)

    def test_forward_and_reverse_derivatives(self):
        def body():
            weight, x = torch.randn(3, 2), torch.randn(4, 3)
            function = lambda each: self.loss(each, x)
            return (torch.func.jvp(function, (weight,), (torch.ones_like(weight),)),
                    torch.func.vjp(function, weight)[1](torch.ones(())),
                    torch.func.hessian(function)(weight),
                    torch.func.jacfwd(lambda each: each.sin() * 2)(x))
        self.assert_same(body)

    def test_random_numbers_in_vmap(self):
        def body():
            function = lambda x: nn.functional.dropout(x, 0.5) + torch.randn(3)
            return torch.func.vmap(function, randomness="different")(torch.randn(4, 3))
        self.assert_same(body)

    def test_functional_call_of_stacked_models(self):
        def body():
            models = [nn.Linear(4, 3) for _ in range(3)]
            parameters, buffers = torch.func.stack_module_state(models)
            call = lambda p, b, x: torch.func.functional_call(models[0], (p, b), (x,))
            return torch.func.vmap(call, in_dims=(0, 0, None))(parameters, buffers,
                                                               torch.randn(2, 4))
        self.assert_same(body)

    def test_functionalize(self):
        def body():
            def function(x):
                y = x.clone()
                y[0].add_(1)
                return y.mul_(2)
            return torch.func.functionalize(function)(torch.randn(3, 3))
        self.assert_same(body)


class Checkpoints(SameInSession):
    def test_both_kinds_with_dropout(self):
        for reentrant in (False, True):
            def body(reentrant=reentrant):
                model, x = network(), torch.randn(3, 6, requires_grad=True)
                out = checkpoint(model, x, use_reentrant=reentrant)
                out.square().sum().backward()
                return out, x.grad, [parameter.grad for parameter in model.parameters()]
            self.assert_same(body)

    def test_selective(self):
        def body():
            from torch.utils.checkpoint import create_selective_checkpoint_contexts
            saved = [torch.ops.aten.mm.default, torch.ops.aten.addmm.default]
            model, x = network(), torch.randn(3, 6, requires_grad=True)
            contexts = lambda: create_selective_checkpoint_contexts(saved)
            out = checkpoint(model, x, use_reentrant=False, context_fn=contexts)
            out.square().sum().backward()
            return out, x.grad
        self.assert_same(body)

    def test_saved_tensor_hooks(self):
        def body():
            x = torch.randn(4, 4, requires_grad=True)
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
                out = (x.exp() * x).sum()
            out.backward()
            return out, x.grad
        self.assert_same(body)

    def test_autograd_function(self):
        class Cube(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x ** 3

            @staticmethod
            def backward(ctx, gradient):
                return gradient * 3 * ctx.saved_tensors[0] ** 2

        def body():
            x = torch.randn(5, requires_grad=True)
            Cube.apply(x).sum().backward()
            return x.grad
        self.assert_same(body)


if __name__ == "__main__":
    unittest.main()
