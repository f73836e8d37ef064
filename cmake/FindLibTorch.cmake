# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
#
# Finds the libtorch inside a Python package of torch (or an unpacked libtorch archive).
#
# torch's own find_package(Torch) wants a CUDA toolkit as soon as the wheel was built with CUDA,
# which the usual wheel is, even to build for the processor only. What is needed are headers and
# shared libraries, and the wheels have all of them.
#
# Looked for in this order: the folder LOWTIDE_TORCH_DIR (CMake variable, then environment), which is
# that of the package or of a virtual environment with it; the .venv of the source folder; the
# `python3` of the system.
#
# Defines
#   LibTorch_FOUND, LibTorch_VERSION, LibTorch_DIR_FOUND (the folder of the package),
#   LibTorch_LIBRARY_DIRS (where a program finds the libraries when it runs)
#   LibTorch_CUDA_FOUND, LibTorch_CUDA_INCLUDE_DIR
#   LibTorch_CUDA_MISSING   torch is for GPUs, but there are no headers of CUDA
#   LibTorch::torch   headers, libtorch_cpu and libc10
#   LibTorch::cuda    the same, libtorch_cuda, libc10_cuda and the CUDA runtime; only if all are
#                     there with CUDA's headers: those of the wheels (nvidia-cuda-crt and -cccl
#                     too), else those of a toolkit, whose folders are LibTorch_TOOLKIT_DIRS. Not
#                     looked for if LOWTIDE_CUDA is off.
# libtorch.so itself is not linked: it only names the other two, and thereby loads CUDA's libraries
# into programs that do not want them.

set(LOWTIDE_TORCH_DIR "" CACHE PATH "Folder of the Python package torch, if not that of .venv")

# Sets ${out} to the folder of the torch package that a Python would import, without importing it.
function(_libtorch_ask_python out)
  find_program(_libtorch_python NAMES python3 NO_CACHE)
  set(${out} "" PARENT_SCOPE)
  if(_libtorch_python)
    set(ask "import importlib.util as u; s = u.find_spec('torch'); print(s.origin if s else '')")
    execute_process(COMMAND "${_libtorch_python}" -c "${ask}" OUTPUT_VARIABLE origin
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(origin)
      cmake_path(GET origin PARENT_PATH origin)
      set(${out} "${origin}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# Sets ${out} to the folder of the torch package in a virtual environment, or to "".
function(_libtorch_look_in_environment out folder)
  file(GLOB found "${folder}/lib/python3*/site-packages/torch")
  if(found)
    list(GET found 0 found)
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Sets ${out} to the folder to use; a folder that was named counts even if there is nothing in it.
function(_libtorch_find_package out)
  set(named "${LOWTIDE_TORCH_DIR}")
  if(NOT named)
    set(named "$ENV{LOWTIDE_TORCH_DIR}")
  endif()
  if(named)
    _libtorch_look_in_environment(found "${named}")
    if(NOT found)
      set(found "${named}")
    endif()
  else()
    _libtorch_look_in_environment(found "${CMAKE_SOURCE_DIR}/.venv")
    if(NOT found)
      _libtorch_ask_python(found)
    endif()
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Sets ${out} to the first of the folders that holds all that CUDA's runtime header includes.
function(_libtorch_find_cuda_headers out)
  set(${out} "" PARENT_SCOPE)
  foreach(folder IN LISTS ARGN)
    if(EXISTS "${folder}/cuda_runtime_api.h" AND EXISTS "${folder}/crt/host_defines.h"
       AND (EXISTS "${folder}/nv/target" OR EXISTS "${folder}/cccl/nv/target"))
      set(${out} "${folder}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Keeps a library although no symbol of it may be asked for: its static objects register kernels.
function(_libtorch_keep out library)
  set(${out} "-Wl,--push-state,--no-as-needed,${library},--pop-state" PARENT_SCOPE)
endfunction()

_libtorch_find_package(LibTorch_DIR_FOUND)
set(_libtorch_lib "${LibTorch_DIR_FOUND}/lib")
cmake_path(GET LibTorch_DIR_FOUND PARENT_PATH _libtorch_beside)
set(LibTorch_VERSION "")
foreach(_header IN ITEMS torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(NOT LibTorch_VERSION AND EXISTS "${LibTorch_DIR_FOUND}/include/${_header}")
    file(READ "${LibTorch_DIR_FOUND}/include/${_header}" _text)
    if(_text MATCHES "TORCH_VERSION[ \\\n]+\"([0-9.]+)")
      set(LibTorch_VERSION "${CMAKE_MATCH_1}")
    endif()
  endif()
endforeach()
set(LibTorch_LIBRARY "")
set(LibTorch_LIBRARY_DIRS "${_libtorch_lib}")
if(EXISTS "${_libtorch_lib}/libtorch_cpu.so" AND EXISTS "${_libtorch_lib}/libc10.so")
  set(LibTorch_LIBRARY "${_libtorch_lib}/libtorch_cpu.so")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LibTorch
  REQUIRED_VARS LibTorch_LIBRARY
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "looked in '${LibTorch_DIR_FOUND}'. Run `tools/setup torch`, or name the \
folder of a torch package with LOWTIDE_TORCH_DIR.")

if(LibTorch_FOUND AND NOT TARGET LibTorch::torch)
  # CUDA's libraries lie beside torch in the wheels. torch's libraries find them by their own
  # rpath when they run; the linker has to be told.
  file(GLOB _wheel_libs LIST_DIRECTORIES true "${_libtorch_beside}/nvidia/*/lib")
  list(TRANSFORM _wheel_libs PREPEND "-Wl,-rpath-link," OUTPUT_VARIABLE _rpath_links)

  add_library(LibTorch::c10 SHARED IMPORTED)
  set_target_properties(
    LibTorch::c10
    PROPERTIES IMPORTED_LOCATION "${_libtorch_lib}/libc10.so"
               INTERFACE_INCLUDE_DIRECTORIES
               "${LibTorch_DIR_FOUND}/include;${LibTorch_DIR_FOUND}/include/torch/csrc/api/include")
  add_library(LibTorch::torch INTERFACE IMPORTED)
  _libtorch_keep(_kept "${LibTorch_LIBRARY}")
  set_target_properties(LibTorch::torch PROPERTIES INTERFACE_LINK_LIBRARIES "${_kept};LibTorch::c10"
                                                   INTERFACE_LINK_OPTIONS "${_rpath_links}")
endif()

set(LibTorch_CUDA_FOUND FALSE)
set(LibTorch_CUDA_MISSING FALSE)
set(_libtorch_wants_cuda ${LibTorch_FOUND})
if(DEFINED LOWTIDE_CUDA AND NOT LOWTIDE_CUDA)
  set(_libtorch_wants_cuda FALSE)
endif()
if(_libtorch_wants_cuda AND EXISTS "${_libtorch_lib}/libtorch_cuda.so"
   AND EXISTS "${_libtorch_lib}/libc10_cuda.so")
  file(GLOB _include "${_libtorch_beside}/nvidia/cu[0-9]*/include")
  if(NOT DEFINED LibTorch_TOOLKIT_DIRS)
    file(GLOB LibTorch_TOOLKIT_DIRS "/usr/local/cuda" "/usr/local/cuda-*")
  endif()
  list(TRANSFORM LibTorch_TOOLKIT_DIRS APPEND "/include" OUTPUT_VARIABLE _toolkits)
  if(DEFINED ENV{CUDA_HOME})
    list(PREPEND _toolkits "$ENV{CUDA_HOME}/include")
  endif()
  _libtorch_find_cuda_headers(LibTorch_CUDA_INCLUDE_DIR ${_include} ${_toolkits})
  # The very file that torch's libraries load, since a process should have one runtime.
  file(GLOB _runtimes "${_libtorch_beside}/nvidia/*/lib/libcudart.so.*"
       "${_libtorch_lib}/libcudart*.so.*" "${LibTorch_CUDA_INCLUDE_DIR}/../lib64/libcudart.so.*")
  if(LibTorch_CUDA_INCLUDE_DIR AND _runtimes)
    set(LibTorch_CUDA_FOUND TRUE)
    list(GET _runtimes 0 _runtime)
    cmake_path(GET _runtime PARENT_PATH _runtime_folder)
    list(APPEND LibTorch_LIBRARY_DIRS "${_runtime_folder}")
  else()
    set(LibTorch_CUDA_MISSING TRUE)
    message(STATUS "LibTorch: no headers of CUDA (PyPI packages nvidia-cuda-crt, -cccl, or a toolkit): "
                   "building for the processor only")
  endif()
endif()

if(LibTorch_CUDA_FOUND AND NOT TARGET LibTorch::cuda)
  set(_cuda_includes "${LibTorch_CUDA_INCLUDE_DIR}")
  if(NOT EXISTS "${LibTorch_CUDA_INCLUDE_DIR}/nv/target")
    list(APPEND _cuda_includes "${LibTorch_CUDA_INCLUDE_DIR}/cccl")
  endif()
  add_library(LibTorch::c10_cuda SHARED IMPORTED)
  set_target_properties(
    LibTorch::c10_cuda PROPERTIES IMPORTED_LOCATION "${_libtorch_lib}/libc10_cuda.so"
                                  INTERFACE_INCLUDE_DIRECTORIES "${_cuda_includes}")
  add_library(LibTorch::cudart SHARED IMPORTED)
  set_target_properties(LibTorch::cudart PROPERTIES IMPORTED_LOCATION "${_runtime}")
  add_library(LibTorch::cuda INTERFACE IMPORTED)
  _libtorch_keep(_kept "${_libtorch_lib}/libtorch_cuda.so")
  set_target_properties(
    LibTorch::cuda PROPERTIES INTERFACE_LINK_LIBRARIES
                              "LibTorch::torch;${_kept};LibTorch::c10_cuda;LibTorch::cudart")
endif()
