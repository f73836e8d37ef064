# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What programs do with tensors beside training: each on a tensor that is away, and right."""

import concurrent.futures
import copy
import ctypes
import gc
import hashlib
import io
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy
import torch
from torch.utils.data import DataLoader, TensorDataset

import lowtide
import training

SHAPE = (512, 512)


def values(seed=3):
    return torch.randn(SHAPE, generator=torch.Generator().manual_seed(seed))


class ThreadOfItsOwn(threading.Thread):
    """A thread whose class says what it does."""

    def __init__(self, body):
        super().__init__()
        self.body = body

    def run(self):
        self.body()


class DLTensor(ctypes.Structure):
    """DLPack's description of a tensor."""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("dtype", ctypes.c_uint8 * 4), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class DLPackFunctions(ctypes.Structure):
    """DLPack's table of functions, by which libraries in C take tensors."""
    _fields_ = [("version", ctypes.c_uint32 * 2), ("previous", ctypes.c_void_p),
                ("allocate", ctypes.c_void_p), ("managed_from_object", ctypes.c_void_p),
                ("managed_to_object", ctypes.c_void_p),
                ("tensor_from_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object,
                                                         ctypes.POINTER(DLTensor))),
                ("stream", ctypes.c_void_p)]


def array_by_dlpack(tensor):
    """The memory as such a library uses it: by the table if the class has one, else by __dlpack__."""
    capsule = getattr(type(tensor), "__dlpack_c_exchange_api__", None)
    if capsule is None:
        return numpy.from_dlpack(tensor)
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))
    table = DLPackFunctions.from_address(pointer_of(capsule, b"dlpack_exchange_api"))
    found = DLTensor()
    if table.tensor_from_object(tensor, ctypes.byref(found)) != 0:
        raise RuntimeError("the table of functions refused the tensor")
    memory = (ctypes.c_float * tensor.numel()).from_address(found.data)
    return numpy.frombuffer(memory, numpy.float32).reshape(tensor.shape)


def is_away(tensor):
    try:
        # Not through what is wrapped.
        torch._C.TensorBase.data_ptr(tensor)
    except RuntimeError as error:
        if "evicted" not in str(error):
            raise
        return True
    return False


class Away(unittest.TestCase):
    """Each test has a tensor whose bytes are not there, because everything is evicted at once."""
    means = "host"

    def setUp(self):
        self.wanted = values()
        # Its thread is older than the budget.
        self.pool = concurrent.futures.ThreadPoolExecutor(1)
        self.pool.submit(int).result()
        self.addCleanup(self.pool.shutdown)
        self.budget = lowtide.budget("1GiB", device="cpu", means=self.means, evict_everything=True)
        self.budget.__enter__()
        # Not as it was drawn, which nobody could do again.
        self.tensor = values() * 1
        # An op after which it is away.
        self.tensor.add_(0)
        self.assertTrue(self.is_away())

    def tearDown(self):
        self.budget.__exit__(None, None, None)

    def is_away(self):
        return is_away(self.tensor)

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

    def test_what_was_computed_before_a_write_by_numpy_stays(self):
        before = self.tensor * 2
        before.add_(0)
        array = self.tensor.numpy()
        after = self.tensor * 3
        after.add_(0)
        self.work_elsewhere()
        array[:] = 0
        self.assertTrue(torch.equal(before, 2 * self.wanted))
        self.assertTrue(torch.equal(after, 3 * self.wanted))
        self.assertEqual(self.tensor.abs().max().item(), 0)

    def test_what_is_written_by_hand_stays(self):
        with lowtide.hold(self.tensor):
            before = self.tensor * 3
            before.add_(0)
            ctypes.memset(torch._C.TensorBase.data_ptr(self.tensor), 0, self.tensor.nbytes)
        self.work_elsewhere()
        self.assertEqual(self.tensor.add_(0).abs().max().item(), 0)
        self.assertTrue(torch.equal(before, 3 * self.wanted))

    def test_what_is_written_to_a_storage_stays(self):
        tripled = self.tensor * 3
        tripled.add_(0)
        storage = self.tensor.untyped_storage()
        for index in range(4):
            storage[index] = 0
        self.work_elsewhere()
        self.assertEqual(self.tensor.add_(0)[0, 0].item(), 0)
        self.assertEqual(self.tensor[0, 1].item(), self.wanted[0, 1].item())
        self.assertTrue(torch.equal(tripled, 3 * self.wanted))

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

    def test_libraries_in_c_that_know_dlpack(self):
        with lowtide.hold(self.tensor):
            array = array_by_dlpack(self.tensor)
        self.tensor.mul_(2)
        self.work_elsewhere()
        self.assertFalse(self.is_away())
        numpy.testing.assert_array_equal(array, 2 * self.wanted.numpy())

    def test_functions_in_python_over_all_elements(self):
        self.tensor.apply_(lambda x: -x)
        self.work_elsewhere()
        self.assertTrue(torch.equal(self.tensor, -self.wanted))
        other = values(4) * 1
        other.add_(0)
        self.tensor.map_(other, lambda mine, its: its)
        self.work_elsewhere()
        self.assertTrue(torch.equal(self.tensor, values(4)))
        third = values(5) * 1
        third.add_(0)
        self.tensor.map2_(other, third, lambda mine, its, last: last)
        self.work_elsewhere()
        self.assertTrue(torch.equal(self.tensor, values(5)))

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

    def test_storages_that_get_another_size(self):
        storage = self.tensor.untyped_storage()
        size = storage.nbytes()
        storage.resize_(2 * size)
        self.work_elsewhere()
        self.assertTrue(torch.equal(self.tensor, self.wanted))
        storage.resize_(0)
        self.work_elsewhere()
        storage.resize_(size)
        self.tensor.copy_(self.wanted)
        self.work_elsewhere()
        self.assertTrue(torch.equal(self.tensor, self.wanted))

    def test_tensors_that_are_put_onto_a_storage(self):
        part = torch.empty(0).set_(self.tensor.untyped_storage(), 512, (2, 512), (512, 1))
        part.mul_(2)
        self.work_elsewhere()
        wanted = self.wanted.clone()
        wanted[1:3] *= 2
        self.assertTrue(torch.equal(self.tensor, wanted))
        self.tensor.add_(0)
        typed = self.tensor.storage()
        self.assertEqual(typed[5], wanted[0, 5].item())
        self.assertTrue(torch.equal(torch.empty(0).set_(typed), wanted.view(-1)))

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

        def body():
            found.append(torch.equal(self.tensor, self.wanted))

        for thread in (threading.Thread(target=body), ThreadOfItsOwn(body), threading.Timer(0, body)):
            with self.subTest(type(thread).__name__):
                found.clear()
                thread.start()
                thread.join()
                self.assertEqual(found, [True])

    def test_what_an_executor_does_is_managed(self):
        for pool in (self.pool, concurrent.futures.ThreadPoolExecutor(1)):
            result = pool.submit(lambda: torch.equal(self.tensor, self.wanted))
            self.assertTrue(result.result())
            pool.shutdown()

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

    def test_modes_over_functions_pass(self):
        class Counting(torch.overrides.TorchFunctionMode):
            names = []

            def __torch_function__(self, func, types, args=(), kwargs=None):
                self.names.append(func.__name__)
                return func(*args, **(kwargs or {}))

        with Counting() as counting, torch.device("cpu"):
            self.assertEqual((self.tensor + 1).tolist(), (self.wanted + 1).tolist())
            numpy.testing.assert_array_equal(self.tensor.numpy(), self.wanted.numpy())
            self.assertTrue(torch.equal(copy.deepcopy(self.tensor), self.wanted))
            self.tensor.apply_(lambda x: -x)
            address = self.tensor.data_ptr()
        self.work_elsewhere()
        self.assertEqual(self.tensor.data_ptr(), address)
        self.assertTrue(torch.equal(self.tensor, -self.wanted))
        for name in ("add", "numpy", "apply_", "data_ptr"):
            self.assertIn(name, counting.names)

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

    def test_a_forked_process_may_leave_the_budget(self):
        process = os.fork()
        if process == 0:
            status = 1
            try:
                self.budget.__exit__(None, None, None)
                with lowtide.budget("1GiB", device="cpu"):
                    status = 0
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(process, 0)[1], 0)
        self.work_elsewhere()
        self.assertTrue(torch.equal(self.tensor, self.wanted))

    def test_loaders_with_workers(self):
        loader = DataLoader(TensorDataset(self.tensor), batch_size=256, num_workers=2)
        with lowtide.hold(self.tensor):
            parts = [part for part, in loader]
        self.assertGreater(parts[0].nbytes, 64 << 10)
        self.work_elsewhere()
        self.assertTrue(torch.equal(torch.cat(parts), self.wanted))

    def test_a_forked_process_cannot_read_what_is_away(self):
        with self.assertRaisesRegex(RuntimeError, "evicted"):
            list(DataLoader(TensorDataset(self.tensor), batch_size=256, num_workers=1))


class AwayOrDropped(Away):
    means = "mixed"


class Dropped(Away):
    means = "recompute"

    def test_hold_keeps_it_only_while_it_is_asked_to(self):
        with lowtide.hold(self.tensor):
            self.work_elsewhere()
        # What was open to writes nobody can compute again, and nothing may be moved here.
        self.tensor.add_(0)
        self.assertFalse(self.is_away())


class Scenarios(unittest.TestCase):
    """Each gives the same plainly and where everything is evicted after each op."""

    def check(self, scenario):
        torch.manual_seed(5)
        plain = training.bits(scenario())
        for means in ("host", "mixed", "recompute"):
            with self.subTest(means=means):
                torch.manual_seed(5)
                with lowtide.budget("1GiB", device="cpu", means=means, evict_everything=True):
                    managed = training.bits(scenario())
                self.assertIsNone(training.first_difference(plain, managed))

    def test_tensors_that_consist_of_tensors(self):
        from torch.testing._internal.two_tensor import TwoTensor

        def scenario():
            weight = TwoTensor(values(1), values(2)).requires_grad_()
            loss = (weight @ values(3)).relu().square().mean()
            loss.backward()
            return [loss.a, loss.b, weight.grad.a, weight.grad.b]

        self.check(scenario)

    def test_nested_tensors(self):
        def scenario():
            parts = [torch.randn(length, 512, requires_grad=True) for length in (100, 200, 300)]
            nested = torch.nested.as_nested_tensor(parts, layout=torch.jagged)
            result = torch.nn.functional.gelu(nested @ values())
            result.values().square().sum().backward()
            return [result.values(), *(part.grad for part in parts)]

        self.check(scenario)

    def test_states_of_generators(self):
        def scenario():
            generator = torch.Generator().manual_seed(3)
            states = torch.get_rng_state(), generator.get_state()
            first = torch.randn(SHAPE), torch.randn(SHAPE, generator=generator)
            torch.set_rng_state(states[0])
            generator.set_state(states[1])
            return [*first, torch.randn(SHAPE), torch.randn(SHAPE, generator=generator)]

        self.check(scenario)

    def test_sparse_tensors(self):
        def scenario():
            indices = torch.randint(0, 300, (2, 30000))
            entries = torch.randn(30000, requires_grad=True)
            sparse = torch.sparse_coo_tensor(indices, entries, (512, 512)).coalesce()
            result = torch.sparse.mm(sparse, values())
            result.square().sum().backward()
            return [sparse.indices(), sparse.values(), result, entries.grad]

        self.check(scenario)

    def test_lengths_that_an_op_reads_as_it_is_composed(self):
        def scenario():
            scores = torch.randn(50, 16, 200, requires_grad=True)
            loss = torch.nn.functional.ctc_loss(
                scores.log_softmax(2), torch.randint(1, 200, (16, 20)),
                torch.full((16,), 50), torch.randint(5, 20, (16,)))
            loss.backward()
            return [loss, scores.grad]

        self.check(scenario)

    def test_places_to_split_at(self):
        def split(places):
            return torch.tensor_split(torch.randn(10000, 32), torch.arange(1, places))

        self.check(lambda: split(1000))
        # More of them than what is never evicted: torch reads them itself, before any op.
        with lowtide.budget("1GiB", device="cpu", means="host", evict_everything=True):
            with self.assertRaisesRegex(RuntimeError, "evicted"):
                split(9999)

    def test_packed_sequences(self):
        def scenario():
            layer = torch.nn.LSTM(64, 128, num_layers=2)
            layer.flatten_parameters()
            padded = torch.randn(40, 64, 64, requires_grad=True)
            packed = torch.nn.utils.rnn.pack_padded_sequence(
                padded, torch.randint(1, 40, (64,)), enforce_sorted=False)
            result, _ = torch.nn.utils.rnn.pad_packed_sequence(layer(packed)[0])
            result.square().sum().backward()
            return [result, padded.grad, *(weight.grad for weight in layer.parameters())]

        self.check(scenario)


# Reads what was saved, and tells what it read by its bytes.
READER = """
import hashlib, sys
import torch
state = torch.load(sys.argv[1])["state_dict"]
assert "lowtide" not in sys.modules
digest = hashlib.sha256(b"".join(state[name].numpy().tobytes() for name in sorted(state)))
print(digest.hexdigest())
"""


def read_elsewhere(path):
    """What a process without Lowtide finds in a file, by digest."""
    environment = {name: value for name, value in os.environ.items()
                   if name != "PYTHONPATH" and not name.startswith("LOWTIDE")}
    result = subprocess.run([sys.executable, "-c", READER, str(path)], capture_output=True,
                            text=True, env=environment, check=False)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return result.stdout.strip()


def digest_of(state):
    return hashlib.sha256(b"".join(state[name].numpy().tobytes()
                                   for name in sorted(state))).hexdigest()


class Checkpoints(unittest.TestCase):
    def test_of_what_is_away_can_be_read_without_lowtide(self):
        torch.manual_seed(1)
        model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(3)])
        optimizer = torch.optim.AdamW(model.parameters())
        with tempfile.TemporaryDirectory() as folder:
            for zipped in (True, False):
                path = pathlib.Path(folder) / f"{zipped}.pt"
                with lowtide.budget("1GiB", device="cpu", means="host", evict_everything=True):
                    model(torch.randn(64, 256)).sum().backward()
                    optimizer.step()
                    torch.save({"state_dict": model.state_dict(),
                                "optimizer": optimizer.state_dict()}, path,
                               _use_new_zipfile_serialization=zipped)
                self.assertEqual(read_elsewhere(path), digest_of(model.state_dict()))


class WrittenByPython(unittest.TestCase):
    def test_what_was_dropped_is_computed_from_what_was_there_before(self):
        wanted = 3 * values()
        with lowtide.budget("8MiB", device="cpu", means="recompute", step_aside=False):
            tensor = values() * 1
            tripled = tensor * 3
            # Used again and again, so it stays while other things go.
            fillers = []
            while not is_away(tripled):
                self.assertLess(len(fillers), 16)
                fillers.append(values(len(fillers)) * 2)
                tensor.sum()
            self.assertFalse(is_away(tensor))
            tensor.apply_(lambda x: 0)
            self.assertTrue(torch.equal(tripled, wanted))
            self.assertEqual(tensor.abs().max().item(), 0)


if __name__ == "__main__":
    unittest.main()
