# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
#
# The few verbs people type. Each first sets up what it needs, which is quick when it is there.

.DEFAULT_GOAL := help
.PHONY: help demo test test-asan test-tsan test-newest bench format lint clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

demo: ## train a small net plainly and at 40 % of the memory, and show a plan
	@tools/setup build torch
	@tools/build release lowtide lowtide-torch lowtide_demo
	@tools/demo

test: ## what CI runs: checks, tests, tests under sanitizers, bounded fuzzing
	@tools/setup build test torch
	@tools/check_all

test-asan: ## all tests under AddressSanitizer and UndefinedBehaviorSanitizer; CI has the half without torch
	@tools/setup build torch
	@tools/build asan
	@tools/ctest asan

test-tsan: ## the tests under ThreadSanitizer
	@tools/setup build torch
	@tools/build tsan
	@tools/ctest tsan

test-newest: ## the tests of the running half with the newest torch, in .venv-newest
	@tools/setup build torch-newest
	@LOWTIDE_TORCH_DIR=.venv-newest python3 -B -m unittest tools/tests/test_delegating_allocator.py
	@tools/build newest torch_tests
	@tools/ctest newest

bench: ## the micro benchmarks
	@tools/setup build
	@tools/build release -DLOWTIDE_TORCH=OFF lowtide benchmarks
	@if [ -x bench/run ]; then bench/run; else echo "bench/run: no benchmarks yet"; fi

format: ## lay out all sources with clang-format
	@tools/setup format
	@tools/format

lint: ## clang-tidy over src/
	@tools/setup build lint torch
	@tools/lint

clean: ## remove everything that was built; what was installed into .venv stays
	rm -rf build
