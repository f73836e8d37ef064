# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What programs do with tensors beside training: each on a tensor that is away, and right."""

import copy
import gc
import io
import multiprocessing
import pickle
import threading
import unittest

import numpy
import torch
from torch.utils.data import DataLoader, TensorDataset

import lowtide

SHAPE = (512, 512)


def values(seed=3):
    return torch.randn(SHAPE, generator=torch.Generator().manual_seed(seed))


class Away(unittest.TestCase):
    """Each test has a tensor whose bytes are on the host, because everything is evicted at once."""

    def setUp(self):
        self.wanted = values()
        self.budget = lowtide.budget("1GiB", device="cpu", means="host", evict_everything=True)
        self.budget.__enter__()
        self.tensor = values()
        # An op after which it is away.
        self.tensor.add_(0)
        self.assertTrue(self.is_away())

    def tearDown(self):
        self.budget.__exit__(None, None, None)

    def is_away(self):
        try:
            # Not through what is wrapped.
            torch._C.TensorBase.data_ptr(self.tensor)
        except RuntimeError as error:
            self.assertIn("evicted", str(error))
            return True
        return False

    def work_elsewhere(self):
        """Ops that evict whatever may be evicted."""
        for seed in range(3):
            values(seed).mul_(2)

    def test_numpy_shares_its_memory_for_good(self):
        array = self.tensor.numpy()
        self.work_elsewhere()
        numpy.testing.assert_array_equal(array, self.wanted.numpy())
        array[0, 0] = 42
        self.work_elsewhere()
        self.assertEqual(self.tensor[0, 0].item(), 42)
        self.tensor[0, 1] = 43
        self.work_elsewhere()
        self.assertEqual(array[0, 1], 43)

    def test_asarray(self):
        numpy.testing.assert_array_equal(numpy.asarray(self.tensor), self.wanted.numpy())

    def test_dlpack(self):
        other = torch.from_dlpack(self.tensor)
        self.work_elsewhere()
        self.assertTrue(torch.equal(other, self.wanted))
        array = numpy.from_dlpack(self.tensor)
        self.work_elsewhere()
        numpy.testing.assert_array_equal(array, self.wanted.numpy())

    def test_to_dlpack(self):
        capsule = torch.utils.dlpack.to_dlpack(self.tensor)
        self.work_elsewhere()
        self.assertTrue(torch.equal(torch.utils.dlpack.from_dlpack(capsule), self.wanted))

    def test_tolist_item_and_print(self):
        self.assertEqual(self.tensor.tolist(), self.wanted.tolist())
        self.assertEqual(self.tensor[3, 4].item(), self.wanted[3, 4].item())
        self.assertEqual(str(self.tensor), str(self.wanted))

    def test_pickle(self):
        self.assertTrue(torch.equal(pickle.loads(pickle.dumps(self.tensor)), self.wanted))

    def test_deepcopy_and_copy(self):
        self.assertTrue(torch.equal(copy.deepcopy(self.tensor), self.wanted))
        self.assertTrue(torch.equal(copy.copy(self.tensor), self.wanted))

    def test_save_and_load(self):
        for zipped in (True, False):
            with self.subTest(zipped=zipped):
                file = io.BytesIO()
                torch.save({"weight": self.tensor}, file, _use_new_zipfile_serialization=zipped)
                file.seek(0)
                self.assertTrue(torch.equal(torch.load(file)["weight"], self.wanted))

    def test_storages(self):
        storage = self.tensor.untyped_storage()
        self.assertEqual(bytes(storage[:8]), self.wanted.numpy().tobytes()[:8])
        copied = torch.UntypedStorage(storage.nbytes())
        self.work_elsewhere()
        copied.copy_(storage)
        self.assertEqual(bytes(copied[:64]), self.wanted.numpy().tobytes()[:64])

    def test_questions_about_the_storage_are_answered(self):
        self.assertFalse(self.tensor.is_shared())
        self.assertFalse(self.tensor.is_pinned())
        self.assertTrue(self.tensor.is_set_to(self.tensor))

    def test_shared_memory(self):
        self.tensor.share_memory_()
        self.assertTrue(self.tensor.is_shared())
        self.work_elsewhere()
        self.assertTrue(torch.equal(self.tensor, self.wanted))

    def test_an_address_stays_good(self):
        address = self.tensor.data_ptr()
        self.work_elsewhere()
        self.assertEqual(self.tensor.data_ptr(), address)

    def test_hold_keeps_it_only_while_it_is_asked_to(self):
        with lowtide.hold(self.tensor):
            self.work_elsewhere()
            self.assertFalse(self.is_away())
        self.tensor.add_(0)
        self.assertTrue(self.is_away())

    def test_what_is_handed_out_is_not_kept_beyond_the_tensors_life(self):
        array = self.tensor.numpy()
        held = self.budget.stats()["held_bytes"]
        del array, self.tensor
        gc.collect()
        torch.zeros(1)
        self.assertLessEqual(self.budget.stats()["held_bytes"], held - self.wanted.nbytes)

    def test_threads_of_the_program_are_managed(self):
        found = []
        thread = threading.Thread(target=lambda: found.append(torch.equal(self.tensor, self.wanted)))
        thread.start()
        thread.join()
        self.assertEqual(found, [True])

    def test_subclasses_and_modes_pass(self):
        class Doubled(torch.Tensor):
            pass

        class Counting(torch.utils._python_dispatch.TorchDispatchMode):
            count = 0

            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                self.count += 1
                return func(*args, **(kwargs or {}))

        self.assertTrue(torch.equal(self.tensor.as_subclass(Doubled) * 2, self.wanted * 2))
        with Counting() as counting:
            self.assertTrue(torch.equal(self.tensor + 1, self.wanted + 1))
        self.assertGreater(counting.count, 0)

    def test_custom_functions_may_use_numpy(self):
        class Squared(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return torch.from_numpy(numpy.square(x.detach().numpy()))

            @staticmethod
            def backward(ctx, gradient):
                x, = ctx.saved_tensors
                return torch.from_numpy(gradient.numpy() * 2 * x.detach().numpy())

        leaf = self.tensor.clone().requires_grad_()
        Squared.apply(leaf).sum().backward()
        self.work_elsewhere()
        self.assertTrue(torch.equal(leaf.grad, 2 * self.wanted))

    def test_a_forked_process_is_left_alone(self):
        def child(connection):
            # A forked process has none of the threads that torch computes with.
            torch.set_num_threads(1)
            connection.send(float(torch.ones(300, 300).sum()))

        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(target=child, args=(theirs,))
        process.start()
        self.assertTrue(ours.poll(60))
        self.assertEqual(ours.recv(), 90000)
        process.join()
        self.assertEqual(process.exitcode, 0)

    def test_loaders_with_workers(self):
        inputs = torch.arange(64.0).reshape(16, 4)
        loader = DataLoader(TensorDataset(inputs), batch_size=4, num_workers=2)
        self.assertTrue(torch.equal(torch.cat([part for part, in loader]), inputs))


class AfterTheBudget(unittest.TestCase):
    def test_everything_is_back_and_torch_as_before(self):
        names = ("numpy", "data_ptr", "tolist", "__deepcopy__", "is_shared")
        before = [torch.Tensor.__dict__.get(name) for name in names]
        with lowtide.budget("1GiB", device="cpu", means="host", evict_everything=True):
            tensor = values().add_(0)
            self.assertNotEqual([torch.Tensor.__dict__.get(name) for name in names], before)
        self.assertEqual([torch.Tensor.__dict__.get(name) for name in names], before)
        numpy.testing.assert_array_equal(tensor.numpy(), values().numpy())


if __name__ == "__main__":
    unittest.main()
