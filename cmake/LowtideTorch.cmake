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
