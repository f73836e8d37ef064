# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Decompositions against TensorLy's: the error is no more than 1 % above that of theirs."""

import os
import unittest

import torch

try:
    import tensorly
    from tensorly import decomposition
except ModuleNotFoundError as error:
    tensorly = None
    print(f"skipped: {error}; tools/requirements-torch.txt says which is needed")

torch.ops.load_library(os.environ["LT_SHIM"])
torch.set_num_threads(1)

WITHIN = 1.01


def smooth_weight(outputs, inputs, height, width):
    """Random, but with singular values that fall off as a trained layer's do."""
    generator = torch.Generator().manual_seed(7)
    weight = torch.randn(outputs, inputs, height, width, generator=generator, dtype=torch.float64)
    for dimension in (0, 1):
        size = weight.shape[dimension]
        basis = torch.linalg.qr(torch.randn(size, size, generator=generator, dtype=torch.float64))[0]
        decay = torch.diag(torch.arange(1, size + 1, dtype=torch.float64) ** -0.7)
        weight = torch.tensordot(basis @ decay, weight, dims=([1], [dimension]))
        weight = weight.movedim(0, dimension)
    return weight.contiguous()


def error_of(approximation, weight):
    return ((approximation - weight).norm() / weight.norm()).item()


def ours(weight, method, *ranks):
    return error_of(torch.ops.lowtide_decompose.approximate(weight, method, list(ranks)), weight)


@unittest.skipIf(tensorly is None, "tensorly is missing")
class TensorLy(unittest.TestCase):
    def test_tucker2_is_as_close(self):
        for shape, ranks in (((24, 16, 3, 3), (6, 8)), ((16, 32, 5, 5), (12, 5)),
                             ((12, 12, 3, 1), (3, 3))):
            weight = smooth_weight(*shape)
            (core, factors), _ = decomposition.partial_tucker(
                weight.numpy(), rank=[ranks[1], ranks[0]], modes=[0, 1], init="svd", tol=1e-9,
                n_iter_max=100)
            theirs = tensorly.tenalg.multi_mode_dot(core, factors, modes=[0, 1])
            with self.subTest(shape):
                self.assertLess(ours(weight, "tucker2", *ranks),
                                WITHIN * error_of(torch.from_numpy(theirs), weight))

    def test_cp_is_as_close(self):
        for shape, rank in (((16, 12, 3, 3), 6), ((24, 16, 3, 3), 12), ((12, 20, 5, 5), 9)):
            weight = smooth_weight(*shape)
            for method, tensor in (("cp3", weight.flatten(2)), ("cp4", weight)):
                theirs = decomposition.parafac(tensor.numpy(), rank=rank, init="svd", tol=1e-9,
                                               n_iter_max=300, random_state=1)
                rebuilt = torch.from_numpy(tensorly.cp_to_tensor(theirs)).reshape(weight.shape)
                with self.subTest(shape, method=method):
                    self.assertLess(ours(weight, method, rank),
                                    WITHIN * error_of(rebuilt, weight))

    def test_svd_is_the_best_there_is(self):
        weight = smooth_weight(30, 20, 1, 1)
        values = torch.linalg.svdvals(weight.flatten(1))
        best = (values[5:].square().sum() / values.square().sum()).sqrt().item()
        self.assertAlmostEqual(ours(weight, "svd", 5), best, places=9)


if __name__ == "__main__":
    unittest.main()
