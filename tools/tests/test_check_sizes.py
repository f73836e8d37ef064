# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_sizes  # noqa: E402

LICENCE = "".join(f"// {line}\n" for line in check_sizes.SPDX)
BODY = "  f();\n"


def functions(text):
    return list(check_sizes.cpp_functions(text))


def check(path, text):
    return list(check_sizes.check_text(path, text, set()))


class CppFunctionsTest(unittest.TestCase):
    # What introduces a body of three lines -> the name that is reported.
    HEADS = [
        ("void f() {", "f"),
        ("int Session::step(const Plan& plan) const noexcept {", "Session::step"),
        ("template <class T>\nauto f(T t) -> std::vector<T> {", "f"),
        ("Pool::Pool(Bytes bytes) : bytes_{bytes}, free_(0) {", "Pool::Pool"),
        ("Pool::Pool(Bytes bytes)\n    : free_(0), bytes_{bytes} {", "Pool::Pool"),
        ("void f(Options options = {}) {", "f"),
        ("TEST(Plan, HoldsWhatIsRead) {", "TEST(Plan, HoldsWhatIsRead)"),
        ("RC_GTEST_PROP(Plan, RoundTrips, (int seed)) {", "RC_GTEST_PROP(Plan, RoundTrips, (int seed)"),
        ("bool operator==(const Op& a, const Op& b) {", "operator=="),
        ("struct Op make_op() {", "make_op"),
        ("void f() LT_REQUIRES(mutex_) {", "f"),
    ]

    def test_finds_functions_with_all_their_lines(self):
        for head, name in self.HEADS:
            with self.subTest(head=head):
                text = "int before;\n" + head + "\n" + BODY * 3 + "}\nint after;\n"
                self.assertEqual(functions(text), [(name, 2, head.count("\n") + 5)])

    def test_finds_methods_in_classes_in_namespaces(self):
        text = ("namespace lowtide {\nnamespace {\nclass A final : public B<int> {\n public:\n"
                "  A() = default;\n  void g() override {\n    if (x) {\n      h({1, 2});\n    }\n  }\n"
                " private:\n  std::map<int, int> a_ = {};\n};\n}  // namespace\n}  // namespace lowtide\n")
        self.assertEqual(functions(text), [("g", 6, 5)])

    def test_tables_classes_and_enums_are_no_functions(self):
        rows = '    {"a", 1, [](int x) { return x; }},\n' * 80
        for text in ("const Row kRows[] = {\n" + rows + "};\n",
                     "const std::vector<Row> kRows{\n" + rows + "};\n",
                     "namespace a {\n" + "int x;\n" * 80 + "}\n",
                     "struct A {\n" + "  int x = 0;\n" * 80 + "};\n",
                     "enum class A : int {\n" + "  kB,\n" * 80 + "};\n"):
            with self.subTest(text=text[:30]):
                self.assertEqual([f for f in functions(text) if f[2] > 60], [])

    def test_braces_in_comments_and_literals_do_not_count(self):
        text = ("void f() {\n  // }\n  g('{', \"}\\\"}\", 1'000);\n  /* } */\n"
                '  h(R"(\n}}}\n)");\n#define LT_X }\n}\nvoid k() {\n}\n')
        self.assertEqual([(name, lines) for name, _, lines in functions(text)], [("f", 9), ("k", 2)])


class CheckTextTest(unittest.TestCase):
    def test_refuses_a_long_function_with_its_place(self):
        text = LICENCE + "void f() {\n" + BODY * 59 + "}\n"
        self.assertEqual(check("src/a.cpp", text),
                         ["src/a.cpp:3: f has 61 lines, at most 60 are allowed"])

    def test_accepts_a_function_of_sixty_lines(self):
        self.assertEqual(check("src/a.cpp", LICENCE + "void f() {\n" + BODY * 58 + "}\n"), [])

    def test_refuses_a_long_python_function(self):
        text = LICENCE.replace("//", "#") + "def f():\n" + "    g()\n" * 60
        self.assertIn("f has 61 lines", check("tools/a.py", text)[0])

    def test_refuses_a_long_file(self):
        self.assertIn("600 are allowed", check("src/a.h", LICENCE + "int x;\n" * 599)[0])

    def test_a_reason_allows_it(self):
        used = set()
        with mock.patch.dict(check_sizes.LONG_FOR_A_REASON, {"src/a.cpp:f": "one switch"}):
            text = LICENCE + "void f() {\n" + BODY * 59 + "}\n"
            self.assertEqual(list(check_sizes.check_text("src/a.cpp", text, used)), [])
        self.assertEqual(used, {"src/a.cpp:f"})

    def test_wants_the_licence_lines(self):
        hashes = LICENCE.replace("//", "#")
        self.assertIn("SPDX", check("src/a.cpp", "int x;\n")[0])
        self.assertIn("SPDX", check("src/a.cpp", hashes)[0])
        self.assertIn("SPDX", check("tools/a", "#!/bin/sh\n")[0])
        self.assertEqual(check("tools/a", "#!/bin/sh\n" + hashes), [])
        self.assertEqual(check("CMakeLists.txt", hashes), [])
        self.assertEqual(check("README.md", "# Title\n"), [])

    def test_refuses_blanks_at_line_ends_and_machine_paths(self):
        self.assertEqual(check("a.md", "a\nb \n"), ["a.md:2: blanks at the end of the line"])
        for top in ("home", "root", "work", "Users"):
            self.assertIn("a path of one machine", check("a.md", f"see /{top}/someone/file\n")[0])

    def test_accepts_paths_that_every_machine_has(self):
        for text in ("/usr/lib", "/tmp/x", "data/work/x", "see https://example.org/home/x", "./work/x"):
            self.assertEqual(check("a.md", text + "\n"), [])


class TreeTest(unittest.TestCase):
    def test_reads_what_git_would_track_and_reports_stale_reasons(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            subprocess.run(["git", "init", "-q"], cwd=root, check=True)
            (root / ".gitignore").write_text("skipped.md\n")
            (root / "skipped.md").write_text("a \n")
            (root / "read.md").write_text("a \n")
            (root / "binary").write_bytes(b"a \n\0")
            with mock.patch.dict(check_sizes.LONG_FOR_A_REASON, {"src/gone.cpp": "was long"}):
                messages, file_count = check_sizes.check_tree(root)
        self.assertEqual(file_count, 2)
        self.assertEqual(len(messages), 2)
        self.assertTrue(messages[0].startswith("read.md:1: "))
        self.assertIn("src/gone.cpp is not too long", messages[1])


if __name__ == "__main__":
    unittest.main()
