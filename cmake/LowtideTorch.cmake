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

# _lowtide_precompile(<target> <executable or library> <header>...)
# Makes <target> use a header that is precompiled once for all callers of one kind. Code for
# programs and for libraries differs in one flag (-fPIE, -fPIC), so g++ wants a header for each.
function(_lowtide_precompile target kind)
  set(owner lowtide_torch_headers_${kind})
  if(NOT TARGET ${owner})
    set(empty "${PROJECT_BINARY_DIR}/cmake/${owner}.cpp")
    file(CONFIGURE OUTPUT "${empty}" CONTENT "" @ONLY)
    add_library(${owner} OBJECT "${empty}")
    if(kind STREQUAL "library")
      set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    target_link_libraries(${owner} PRIVATE LibTorch::torch)
    if(kind STREQUAL "executable")
      target_link_libraries(${owner} PRIVATE GTest::gmock)
    endif()
    target_precompile_headers(${owner} PRIVATE ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# For a library: the headers of the dispatcher and of tensors.
function(lowtide_torch_library_flags target)
  _lowtide_precompile(${target} library <ATen/ATen.h> <ATen/core/dispatch/Dispatcher.h>
                      <torch/library.h>)
endfunction()

# For a test program: modules and optimizers too. Target torch_tests builds all of them.
function(lowtide_torch_test_flags target)
  _lowtide_precompile(${target} executable <torch/torch.h> <gtest/gtest.h>)
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
  _lowtide_precompile(lowtide_torch_test_support executable <torch/torch.h> <gtest/gtest.h>)
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
