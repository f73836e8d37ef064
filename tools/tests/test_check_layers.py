# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_layers  # noqa: E402


def check(path, text):
    """The messages for a tree that holds one file."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, path)
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        return check_layers.check_tree(pathlib.Path(folder))[0]


class TableTest(unittest.TestCase):
    def test_has_no_cycle_and_names_only_known_folders(self):
        for folder, below in check_layers.ARROWS.items():
            for lower in below:
                self.assertNotIn(folder, check_layers.layers_below(lower))

    def test_policy_and_run_never_meet(self):
        for folder in check_layers.ARROWS:
            below = check_layers.layers_below(folder)
            if folder.startswith("run/"):
                self.assertNotIn("policy", below)
        self.assertFalse([f for f in check_layers.layers_below("policy") if f.startswith("run/")])

    def test_owners_and_restrictions_name_known_folders(self):
        self.assertLessEqual(set(check_layers.PUBLIC_OWNERS.values()), set(check_layers.ARROWS))
        for _, _, folders in check_layers.RESTRICTED:
            self.assertLessEqual(set(folders), set(check_layers.ARROWS))


class CheckTest(unittest.TestCase):
    ACCEPTED = [
        ("src/sim/a.cpp", '#include "base/log.h"'),
        ("src/sim/a.cpp", '#include "sim/a.h"'),
        ("src/sim/a.cpp", '#include "lowtide/trace.h"'),
        ("src/sim/a.cpp", "#include <lowtide/simulate.h>"),
        ("src/sim/a.cpp", "#include <nlohmann/json.hpp>\n#include <vector>"),
        ("src/policy/swap/a.cpp", '#include "policy/baseline/b.h"\n#include "solve/dp.h"'),
        ("src/policy/swap/a_test.cpp", "#include <gtest/gtest.h>"),
        ("src/session/a.cpp", '#include "policy/catalogue.h"\n#include "run/torch/gate.h"'),
        ("src/run/torch/a.cpp", "#include <c10/core/Storage.h>"),
        ("src/run/cuda/a.cpp", '#include <c10/cuda/CUDAStream.h>\n#include "run/torch/gate.h"'),
        ("src/run/engine/a.cpp", '#include "solve/union_find.h"\n#include "run/tier/tier.h"'),
        ("src/zoo/a.cpp", "#include <torch/nn.h>"),
        ("src/run/cuda/a.cpp", "#include <cuda_runtime_api.h>"),
        ("src/tune/a.cpp", "#include <nvrtc.h>"),
        ("include/lowtide/plan.h", '#include <cstdint>\n#include "lowtide/trace.h"'),
        ("include/lowtide/lowtide.h", "#include <stdint.h>"),
        ("src/sim/a.cpp", '// as in #include "policy/catalogue.h"'),
    ]
    REFUSED = [
        ("src/sim/a.cpp", '#include "policy/catalogue.h"',
         "src/sim may not include policy/catalogue.h; allowed: base, trace, cost, plan, sim"),
        ("src/sim/a.cpp", '#include "lowtide/policy.h"', "(of policy); allowed: base, trace"),
        ("src/policy/swap/a.cpp", '#include "run/engine/device.h"', "src/policy may not include"),
        ("src/run/engine/a.cpp", '#include "policy/catalogue.h"', "src/run/engine may not"),
        ("src/solve/a.cpp", '#include "trace/lifetimes.h"', "allowed: base, solve"),
        ("src/zoo/a.cpp", '#include "trace/text.h"', "allowed: base, zoo"),
        ("src/plan/a.cpp", "#include <ATen/ATen.h>", "torch headers only in: run/torch, run/cuda"),
        ("src/run/torch/a.cpp", '#include "run/cuda/device.h"', "src/run/torch may not include"),
        ("src/run/engine/a.cpp", "#include <ATen/ATen.h>", "torch headers only in"),
        ("src/run/torch/a.cpp", "#include <cuda_runtime.h>", "CUDA headers only in: run/cuda, tune"),
        ("src/run/engine/a.cpp", "#  include <cuda.h>", "CUDA headers only in"),
        ("src/sim/a.cpp", '#include "timeline.h"', "write the full path"),
        ("src/sim/a.cpp", '#include "lowtide/new.h"', "has no owner"),
        ("src/fresh/a.cpp", "", "not in the table"),
        ("include/lowtide/new.h", "", "has no owner"),
        ("include/lowtide/trace.h", '#include "lowtide/plan.h"', "may not include lowtide/plan.h"),
        ("include/lowtide/trace.h", '#include "trace/builder.h"', "is public and may not"),
        ("include/lowtide/trace.h", "#include <nlohmann/json.hpp>", "is public and may not"),
        ("include/lowtide/session.h", "#include <torch/torch.h>", "is public and may not"),
    ]

    def test_accepts(self):
        for path, text in self.ACCEPTED:
            with self.subTest(path=path, text=text):
                self.assertEqual(check(path, text), [])

    def test_refuses(self):
        for path, text, expected in self.REFUSED:
            with self.subTest(path=path, text=text):
                messages = check(path, text)
                self.assertEqual(len(messages), 1)
                self.assertIn(expected, messages[0])

    def test_message_names_file_and_line(self):
        message = check("src/sim/a.cpp", '#include <vector>\n\n#include "policy/x.h"\n')[0]
        self.assertTrue(message.startswith("src/sim/a.cpp:3: "), message)


if __name__ == "__main__":
    unittest.main()
