# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""FindLibTorch.cmake and what it needs for GPUs: with a folder laid out as the wheels are, whose
files are empty, and no toolkit to be found."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(finds CXX)
list(APPEND CMAKE_MODULE_PATH "{ROOT}/cmake")
set(LibTorch_TOOLKIT_DIRS "")
find_package(LibTorch 2.11 REQUIRED)
message(STATUS "for GPUs: ${{LibTorch_CUDA_FOUND}}, missing: ${{LibTorch_CUDA_MISSING}}")
include(LowtideInstall)
function(install)
endfunction()
function(set_target_properties)
endfunction()
lowtide_install_package()
"""
LIBRARIES = ("libtorch_cpu.so", "libc10.so")
GPU_LIBRARIES = ("libtorch_cuda.so", "libc10_cuda.so")


@unittest.skipUnless(shutil.which("cmake") and shutil.which("c++"), "needs cmake and a compiler")
class FindLibTorch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("source/CMakeLists.txt", PROJECT)
        self.write("site/torch/include/torch/headeronly/version.h", '#define TORCH_VERSION "2.11.0"')
        for name in LIBRARIES + GPU_LIBRARIES:
            self.write(f"site/torch/lib/{name}")
        self.write("site/nvidia/cu13/lib/libcudart.so.13")
        self.write("site/nvidia/cu13/include/cuda_runtime_api.h")

    def write(self, name, text=""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def configure(self, *options):
        command = ["cmake", "-S", self.folder / "source", "-B", self.folder / "build",
                   f"-DLOWTIDE_TORCH_DIR={self.folder / 'site/torch'}", *options]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin"}, check=False)
        return done.returncode == 0, re.sub(r"\s+", " ", done.stdout + done.stderr)

    def test_with_the_headers_of_the_wheels_a_package_is_for_gpus(self):
        self.write("site/nvidia/cu13/include/crt/host_defines.h")
        self.write("site/nvidia/cu13/include/cccl/nv/target")
        passed, text = self.configure()
        self.assertTrue(passed, text)
        self.assertIn("for GPUs: TRUE, missing: FALSE", text)

    def test_without_them_there_is_no_package(self):
        passed, text = self.configure()
        self.assertFalse(passed, text)
        self.assertIn("for GPUs: FALSE, missing: TRUE", text)
        self.assertIn("install nvidia-cuda-crt and nvidia-cuda-cccl", text)

    def test_but_one_for_the_processor_if_that_is_asked_for(self):
        passed, text = self.configure("-DLOWTIDE_CUDA=OFF")
        self.assertTrue(passed, text)
        self.assertIn("for GPUs: FALSE, missing: FALSE", text)

    def test_nor_are_they_missing_where_torch_has_no_gpus(self):
        for name in GPU_LIBRARIES:
            (self.folder / "site/torch/lib" / name).unlink()
        passed, text = self.configure()
        self.assertTrue(passed, text)
        self.assertIn("for GPUs: FALSE, missing: FALSE", text)


class BuildRequirements(unittest.TestCase):
    def test_the_package_is_built_with_the_headers_that_developers_have(self):
        pins = re.findall(r"^(nvidia-cuda-[a-z]+==\S+)", (
            ROOT / "tools/requirements-torch.txt").read_text(), re.MULTILINE)
        self.assertEqual(len(pins), 2)
        required = (ROOT / "pyproject.toml").read_text().partition("requires = [")[2].partition("]")[0]
        for pin in pins:
            self.assertIn(f'"{pin}"', required)


if __name__ == "__main__":
    unittest.main()
