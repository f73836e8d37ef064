# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
#
# What targets built on torch need besides LibTorch::torch: precompiled headers, since torch's take
# ten to twenty seconds in each source, and what sanitizers have to know about a libtorch that was
# built without them.

if(LOWTIDE_SANITIZE MATCHES "undefined")
  # Checks of dynamic types would ask for type information that torch's libraries do not export.
  set_property(TARGET LibTorch::c10 APPEND PROPERTY INTERFACE_COMPILE_OPTIONS -fno-sanitize=vptr)
endif()

# Code for programs and for libraries differs in one flag (-fPIE, -fPIC), so g++ wants precompiled
# headers for each.

# For a library: the headers of the dispatcher and of tensors.
function(lowtide_torch_library_flags target)
  lowtide_precompile(${target} lowtide_torch_headers_library PIC LINK LibTorch::torch
                     HEADERS <ATen/ATen.h> <ATen/core/dispatch/Dispatcher.h> <torch/library.h>)
endfunction()

# For the sources of a test program: modules and optimizers too.
function(_lowtide_precompile_torch_tests target)
  lowtide_precompile(${target} lowtide_torch_headers_executable LINK LibTorch::torch GTest::gmock
                     HEADERS <torch/torch.h> <gtest/gtest.h>)
endfunction()

# For a test program. Target torch_tests builds all of them.
function(lowtide_torch_test_flags target)
  _lowtide_precompile_torch_tests(${target})
  if(LOWTIDE_SANITIZE)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/sanitizer_defaults.cpp")
  endif()
  if(NOT TARGET torch_tests)
    add_custom_target(torch_tests)
  endif()
  add_dependencies(torch_tests ${target})
endfunction()

# lowtide_torch_tests(DEPS <folder>... [SLOW <name>...])
# The end-to-end tests: each tests/torch/<name>_test.cpp becomes a program, what else lies there and
# in tests/torch/programs is shared by all of them. A program is one test of ctest: its cases share
# a plain run to compare with, and each start of torch takes a while. Label torch, for those in SLOW
# torch-slow; with a libtorch for CUDA each is run a second time on the GPU, label gpu, and says so
# if there is none.
function(lowtide_torch_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "DEPS;SLOW")
  if(NOT LOWTIDE_TESTS)
    return()
  endif()
  set(directory "${PROJECT_SOURCE_DIR}/tests/torch")
  file(GLOB sources CONFIGURE_DEPENDS "${directory}/*.cpp" "${directory}/programs/*.cpp")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  _lowtide_library_names(deps ${arg_DEPS})

  add_library(lowtide_torch_test_support STATIC ${sources})
  target_include_directories(lowtide_torch_test_support PUBLIC "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(lowtide_torch_test_support PUBLIC ${deps} GTest::gmock)
  _lowtide_precompile_torch_tests(lowtide_torch_test_support)
  foreach(test IN LISTS tests)
    cmake_path(GET test STEM name)
    string(REGEX REPLACE "_test$" "" name "${name}")
    set(label torch)
    if(name IN_LIST arg_SLOW)
      set(label torch-slow)
    endif()
    set(program tests_torch_${name})
    add_executable(${program} "${test}")
    target_link_libraries(${program} PRIVATE lowtide_torch_test_support GTest::gtest_main)
    lowtide_torch_test_flags(${program})
    add_test(NAME ${program} COMMAND ${program})
    set_tests_properties(${program} PROPERTIES LABELS ${label} TIMEOUT 1200)
    if(LibTorch_CUDA_FOUND)
      add_test(NAME ${program}.gpu COMMAND ${program})
      set_tests_properties(${program}.gpu PROPERTIES LABELS gpu TIMEOUT 1200 ENVIRONMENT
                                                     LT_TEST_DEVICE=cuda)
    endif()
  endforeach()
endfunction()
