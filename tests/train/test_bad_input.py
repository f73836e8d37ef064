# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What training does with bad input: exit code, one line, and nothing lost."""

import contextlib
import json
import os
import pathlib
import resource
import shutil
import subprocess
import time
import unittest

from training import (AS_ONE_OF_MANY, CHECKPOINT, DOES_NOT_FIT, DONE, FAILED, MODEL, PROGRAM, SMALL, SPILLING, USAGE,
                      TrainTest, permissions_can_be_tested)


class Usage(TrainTest):
    CASES = [
        (("train",), "MODEL is required"),
        (("train", "resnet5"), "unknown model 'resnet5'"),
        (("train", *SMALL, "--stepz", "3"), "unknown option '--stepz'; did you mean '--steps'?"),
        (("train", *SMALL, "--steps", "0"), "--steps"),
        (("train", *SMALL, "--steps", "3", "--epochs", "1"), "excludes"),
        (("train", *SMALL, "--batch", "many"), "--batch"),
        (("train", *SMALL, "--optimizer", "adagrad"), "--optimizer"),
        (("train", *SMALL, "--budget", "lots"), "not a size: 'lots'"),
        (("train", *SMALL, "--budget", "x%"), "not a share: 'x%'"),
        (("train", *SMALL, "--budget", "0"), "--budget: a budget of nothing cannot be kept: '0'"),
        (("verify", *SMALL, "--budget", "0%"), "--budget: a budget of nothing cannot be kept: '0%'"),
        (("max-batch", *MODEL, "--budget", "0"), "a budget of nothing"),
        (("decompose", *MODEL, "--budget", "0%"), "a budget of nothing"),
        (("train", *SMALL, "--budget", "-1"), "--budget: not a size: '-1'"),
        (("train", *SMALL, "--lr", "1e308"), "--lr: more than 1e+30: '1e308'"),
        (("train", *SMALL, "--batch", "0"), "--batch: not a whole number of at least 1: '0'"),
        (("train", *SMALL, "--epochs", "9999999999999999999"), "--epochs: not a whole number"),
        (("train", *SMALL, "--seed", "-1"), "--seed: not a whole number of at least 0: '-1'"),
        (("train", *SMALL, "--lr", "nan"), "--lr: not a number above 0: 'nan'"),
        (("train", *SMALL, "--lr", "0"), "--lr: not a number above 0: '0'"),
        (("train", *SMALL, "--warmup", "-3"), "--warmup: not a whole number of at least 0"),
        (("train", *SMALL, "--schedule", "cosin"), "did you mean 'cosine'?"),
        (("train", *SMALL, "--amp", "fp16"), "--amp: unknown 'fp16'; known are 'off' and 'bf16'"),
        (("train", *SMALL, "--evaluate-every", "0"), "--evaluate-every: not a whole number of at least 1"),
        (("train", *SMALL, "--budget", ""), "--budget: must not be empty"),
        (("train", *SMALL, "--checkpoint", ""), "--checkpoint: must not be empty"),
        (("train", *SMALL, "--data", ""), "--data: must not be empty"),
        (("train", *SMALL, "--tiers", "disk"), "--tiers: unknown 'disk'; known are 'none', 'host' and 'host,disk'"),
        (("train", *SMALL, "--tiers", "none", "--no-recompute"), "nothing could be evicted"),
        (("train", *SMALL, "--tiers", "host,disk"), "add --spill-dir"),
        (("train", *SMALL, "--tiers", "none", "--spill-dir", "."), "exclude each other"),
        (("train", *SMALL, "--tiers", "none", "--host-cap", "1GiB"), "exclude each other"),
        (("train", *SMALL, "--host-cap", "much"), "not a size: 'much'"),
        (("train", *SMALL, "--host-cap", "0"), "--host-cap of nothing"),
        (("train", *SMALL, "--host-cap", ""), "--host-cap: must not be empty"),
        (("train", *SMALL, "--auxiliary", "yes"), "--auxiliary: unknown 'yes'; known are 'on' and 'off'"),
        (("train", *SMALL, "--resume"), "--resume requires --checkpoint"),
        (("train", "small_resnet", "--device", "abacus"), "unknown device 'abacus'"),
        (("verify", *SMALL), "--budget is required"),
        (("models", "extra"), "unexpected argument 'extra'"),
    ]

    def test_names_the_fault_and_what_to_do(self):
        for arguments, message in self.CASES:
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.fail_with(USAGE, *arguments))


class Failures(TrainTest):
    def test_options_that_the_model_cannot_have(self):
        for options, message in ((("--heads", "3"), "has no use for the option 'heads'"),
                                 (("--auxiliary", "off"), "has no use for the option 'auxiliary'"),
                                 (("--vocabulary", "300"), "has no use for the option 'vocabulary'"),
                                 (("--channels", "0"), "option 'channels' of model 'small_resnet' must be at least 1"),
                                 (("--size", "9999999999"), "must be at most 1000000000"),
                                 (("--data", "/dev/zero"), "not a device"),
                                 (("--classes", "3"), "the data has 10 classes"),
                                 (("--policy", "nope"), "nope"),
                                 (("--policy", "ctdr"), "use 'lowtide decompose MODEL"),
                                 (("--budget", "1GiB", "--spill-dir", "nowhere"), "nowhere")):
            with self.subTest(options=options):
                self.assertIn(message, self.fail_with(FAILED, "train", *SMALL, "--steps", "1", *options))

    def test_model_that_the_machine_has_no_room_for(self):
        message = self.fail_with(DOES_NOT_FIT, "train", *MODEL, "--steps", "1", "--width", "99999999")
        self.assertIn("The machine has no room for", message)
        self.assertNotIn("frame #", message)

    def test_budget_that_is_far_too_small(self):
        for verb in ("train", "verify"):
            with self.subTest(verb=verb):
                done = self.run_program(verb, *SMALL, "--steps", "2", "--budget", "1%")
                self.assertEqual(DOES_NOT_FIT, done.returncode)
                named = done.stderr.splitlines()[-1].rsplit("--budget ", 1)[1]
                self.succeed(verb, *SMALL, "--steps", "2", "--budget", named)

    def test_batch_that_the_data_does_not_fill(self):
        self.assertIn("does not fill one batch of 9000",
                      self.fail_with(FAILED, "train", *MODEL, "--steps", "1", "--batch", "9000"))

    def test_data_that_is_missing_truncated_or_of_another_kind(self):
        (self.folder / "folder").mkdir()
        self.write("empty.txt", "")
        self.write("long.txt", "to be or not to be " * 100)
        self.write_pictures("cut")
        labels = self.folder / "cut" / "train-labels-idx1-ubyte"
        labels.write_bytes(labels.read_bytes()[:-1])
        (self.folder / "cut.gz").write_bytes(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x01")
        gpt = ("gpt", "--layers", "1", "--width", "8", "--heads", "1", "--context", "8", "--device", "cpu")
        for model, data, message in ((SMALL, "nowhere", "no such data: 'nowhere'"),
                                     (SMALL, "folder", "has no train-images-idx3-ubyte"),
                                     (SMALL, "cut", "the IDX file is cut short"),
                                     (SMALL, "x" * 5000, "File name too long"),
                                     (SMALL, "long.txt", "the model takes pictures"),
                                     (gpt, "empty.txt", "too short to train on"),
                                     (gpt, "cut.gz", "damaged"),
                                     (gpt, "fashion-mnist", "the model takes text")):
            with self.subTest(data=data):
                self.assertIn(message, self.fail_with(FAILED, "train", *model, "--steps", "1", "--data", data))

    def test_checkpoint_folders_that_cannot_be_used(self):
        self.write("file", "text")
        for folder in ("file", "file/below", "/proc/below"):
            with self.subTest(folder=folder):
                message = self.fail_with(FAILED, "train", *SMALL, "--steps", "1", "--checkpoint", folder)
                self.assertIn("checkpoint folder " + folder, message)
        self.assertEqual(self.read("file"), "text")

    @unittest.skipUnless(permissions_can_be_tested(), "root may read everywhere")
    def test_data_in_a_folder_without_permission(self):
        self.write_pictures("closed/set")
        (self.folder / "closed").chmod(0)
        self.addCleanup((self.folder / "closed").chmod, 0o700)
        for data in ("closed", "closed/set"):
            with self.subTest(data=data):
                message = self.fail_with(FAILED, "train", *SMALL, "--steps", "1", "--data", data,
                                         prefix=AS_ONE_OF_MANY)
                self.assertIn(f"cannot open {data}", message)
                self.assertIn("Permission denied", message)

    def test_device_that_is_not_there(self):
        if json.loads(self.succeed("doctor", "--json"))["gpus"]:
            self.skipTest("there is a GPU")
        for verb in ("train", "profile"):
            with self.subTest(verb=verb):
                self.assertIn("cuda", self.fail_with(FAILED, verb, "small_resnet", "--device", "cuda").lower())

    def test_disk_that_is_full_keeps_the_checkpoint_before(self):
        """A limit on the size of files stands for it: the same write fails, for another reason."""
        good = self.train("run", "--steps", "1")

        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(good) // 2, len(good) // 2))

        # Python ignores the signal that comes with the limit, and so does what it starts.
        done = self.run_program("train", *SMALL, "--steps", "2", "--checkpoint", "run", "--resume",
                                preexec_fn=limit_files, restore_signals=False)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertEqual(done.stderr.splitlines()[-1],
                         "lowtide: error: cannot write run/checkpoint.safetensors: File too large")
        self.assertEqual(self.checkpoint("run"), good)
        self.assertEqual([path.name for path in (self.folder / "run").iterdir()], [CHECKPOINT])

    def test_name_that_is_no_text(self):
        name = "t\udcff"  # the byte 0xff
        report = json.loads(self.succeed("train", *SMALL, "--steps", "1", "--checkpoint", name, "--json"))
        self.assertIn("t\ufffd", report["checkpoint"])
        self.write(name + ".txt", "to be or not to be " * 100)
        tiny = ("gpt", "--layers", "1", "--width", "8", "--heads", "1", "--context", "8", "--device", "cpu", "--batch",
                "4", "--data", name + ".txt", "--checkpoint", "run")
        self.succeed("train", *tiny, "--steps", "1")
        self.succeed("train", *tiny, "--steps", "2", "--resume")

    def test_closed_streams_leave_files_alone(self):
        """What is said where nobody listens must not go into the file that got its number."""
        whole = self.train("whole", "--steps", "3")
        for closing, code in ((">&-", FAILED), ("2>&-", DONE), ("<&-", DONE), (">&- 2>&- <&-", FAILED)):
            with self.subTest(closing=closing):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                words = " ".join(("train", *SMALL, "--steps", "3", "--checkpoint", "run", *SPILLING, "."))
                done = subprocess.run(["bash", "-c", f'"{PROGRAM}" {words} {closing}'], cwd=self.folder,
                                      capture_output=True, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(self.checkpoint("run"), whole)

    def test_closed_stream_does_not_become_the_spill_file(self):
        with subprocess.Popen([PROGRAM, "train", *SMALL, "--steps", "100000", *SPILLING, "."], cwd=self.folder,
                              stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2)) as process:
            folder = pathlib.Path(f"/proc/{process.pid}/fd")
            end = time.monotonic() + 60
            opened = {}
            while time.monotonic() < end and not any(target.startswith(str(self.folder)) for target in opened.values()):
                time.sleep(0.1)
                opened = {}
                for file in folder.iterdir():
                    with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                        opened[file.name] = os.readlink(file)
            process.kill()
        self.assertEqual(opened.get("2"), "/dev/null", opened)

    def test_reader_that_goes_away_is_no_failure(self):
        done = subprocess.run(["bash", "-c", f'"{PROGRAM}" models | head -1; echo ${{PIPESTATUS[0]}}'],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout.splitlines()[-1], done.stderr), ("0", ""))

    @unittest.skipUnless(permissions_can_be_tested(), "root may write everywhere")
    def test_checkpoint_folder_without_permission(self):
        (self.folder / "closed").mkdir(mode=0o500)
        for folder in ("closed", "closed/below"):
            with self.subTest(folder=folder):
                self.assertIn("Permission denied",
                              self.fail_with(FAILED, "train", *SMALL, "--steps", "1", "--checkpoint", folder,
                                             prefix=AS_ONE_OF_MANY))

    def test_folder_that_another_training_uses(self):
        with subprocess.Popen([PROGRAM, "train", *SMALL, "--steps", "100000", "--checkpoint", "run"],
                              cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            process.stderr.readline()
            message = self.fail_with(FAILED, "train", *SMALL, "--steps", "1", "--checkpoint", "run")
            process.kill()
        self.assertIn("another training is using", message)


class WrongCheckpoints(TrainTest):
    def setUp(self):
        super().setUp()
        self.good = self.train("run", "--steps", "1")

    def refused(self, *arguments):
        message = self.fail_with(FAILED, "train", *arguments, "--steps", "2", "--checkpoint", "run")
        self.assertEqual(self.checkpoint("run"), self.good, "the checkpoint was touched")
        return message

    def test_of_another_training(self):
        gpt = ("gpt", "--layers", "1", "--width", "8", "--heads", "1", "--context", "8", "--device", "cpu")
        for arguments, message in (((*gpt, "--resume"), "is of another model, 'small_resnet', not of 'gpt'"),
                                   ((*MODEL, "--batch", "32", "--width", "8", "--resume"), "its width is '4', not '8'"),
                                   ((*SMALL, "--optimizer", "adam", "--resume"), "its optimizer is 'sgd'"),
                                   ((*SMALL, "--seed", "2", "--resume"), "its seed is '1', not '2'"),
                                   (SMALL, "there is a checkpoint already; add --resume")):
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.refused(*arguments))

    def test_that_is_damaged(self):
        path = self.folder / "run" / "checkpoint.safetensors"
        whole = self.good
        for damaged in (b"", whole[:100], whole[:-1], whole[:2000] + b"?" + whole[2001:], b"hello" * 100):
            with self.subTest(size=len(damaged)):
                self.good = damaged
                path.write_bytes(damaged)
                self.assertIn("the checkpoint is damaged or cut short", self.refused(*SMALL, "--resume"))


class WithoutTorch(TrainTest):
    def test_says_what_is_missing(self):
        shutil.copy(PROGRAM, self.folder / "lowtide")
        done = subprocess.run([self.folder / "lowtide", "train", "resnet18"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("the program lowtide-torch was not built", done.stderr)
        done = subprocess.run([self.folder / "lowtide", "policies"], capture_output=True, check=False)
        self.assertEqual(done.returncode, DONE)
