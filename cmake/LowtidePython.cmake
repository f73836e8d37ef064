# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
#
# Tests in Python that run what is ours in the process of Python's torch.

# Sets ${out} to the Python that has the torch we build with, or to "" if that torch has none.
function(_lowtide_python_with_torch out)
  set(${out} "" PARENT_SCOPE)
  cmake_path(GET LibTorch_DIR_FOUND PARENT_PATH packages)
  cmake_path(SET environment NORMALIZE "${packages}/../../..")
  find_program(python NAMES python3 python HINTS "${environment}bin" NO_CACHE)
  if(NOT python)
    return()
  endif()
  # Importing torch would take seconds.
  set(ask "from importlib.util import find_spec as find
print(*(find(name).origin for name in ('torch', 'numpy', 'expecttest')))")
  execute_process(COMMAND "${python}" -c "${ask}" OUTPUT_VARIABLE found ERROR_QUIET)
  string(FIND "${found}" "${LibTorch_DIR_FOUND}/" position)
  if(position EQUAL 0)
    set(${out} "${python}" PARENT_SCOPE)
  endif()
endfunction()

# _lowtide_add_python_tests(<folder under tests/> <variable>=<value>...): a test for each test_*.py,
# with these variables in its environment.
function(_lowtide_add_python_tests folder)
  set(directory "${PROJECT_SOURCE_DIR}/tests/${folder}")
  _lowtide_python_with_torch(python)
  if(NOT python)
    message(STATUS "tests/${folder} is left out: it needs a Python with torch, numpy and expecttest")
    return()
  endif()
  file(GLOB scripts CONFIGURE_DEPENDS "${directory}/test_*.py")
  foreach(script IN LISTS scripts)
    cmake_path(GET script STEM stem)
    add_test(NAME tests_${folder}.${stem} COMMAND "${python}" -B -m unittest ${stem}
             WORKING_DIRECTORY "${directory}")
    set_tests_properties(tests_${folder}.${stem} PROPERTIES LABELS torch TIMEOUT 1200
                                                            ENVIRONMENT "${ARGN}")
  endforeach()
endfunction()

# lowtide_python_tests(<folder under tests/> LINK <target>)
# Each test_*.py of the folder is run by the Python that has torch, with the path of a library in the
# environment variable LT_SHIM: the folder's shim.cpp, over what is linked. Not under sanitizers,
# whose runtime would have to be in that Python. To be called after lowtide_torch_tests().
function(lowtide_python_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LINK" "")
  if(NOT LOWTIDE_TESTS OR LOWTIDE_SANITIZE)
    return()
  endif()
  set(directory "${PROJECT_SOURCE_DIR}/tests/${folder}")
  set(shim lowtide_${folder}_shim)
  add_library(${shim} SHARED "${directory}/shim.cpp")
  target_include_directories(${shim} PRIVATE "${PROJECT_SOURCE_DIR}/include"
                                             "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${shim} PRIVATE ${arg_LINK})
  add_dependencies(torch_tests ${shim})
  _lowtide_add_python_tests(${folder} "LT_SHIM=$<TARGET_FILE:${shim}>")
  # They have workers, or compute with all cores.
  get_property(tests DIRECTORY PROPERTY TESTS)
  list(FILTER tests INCLUDE REGEX "^tests_${folder}\\.test_")
  set_tests_properties(${tests} PROPERTIES PROCESSORS 2)
endfunction()

# lowtide_package_tests(<folder under tests/> SHARDS <count> OF <test>)
# The same for tests of the Python package, python/lowtide, over liblowtide.so. The named test takes
# long and is run in parts: LT_SHARD=2/4 in its environment has it do the second of four.
function(lowtide_package_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SHARDS;OF" "")
  if(NOT LOWTIDE_TESTS OR LOWTIDE_SANITIZE)
    return()
  endif()
  add_dependencies(torch_tests lowtide_shared)
  # Several run at a time, and threads that wait for each other on the same cores are slow.
  set(environment OMP_NUM_THREADS=1 "PYTHONPATH=${PROJECT_SOURCE_DIR}/python"
                  "LOWTIDE_LIBRARY=$<TARGET_FILE:lowtide_shared>")
  _lowtide_add_python_tests(${folder} ${environment})
  set(whole tests_${folder}.${arg_OF})
  if(NOT TEST ${whole})
    return()
  endif()
  get_test_property(${whole} WORKING_DIRECTORY directory)
  _lowtide_python_with_torch(python)
  set_tests_properties(${whole} PROPERTIES ENVIRONMENT "${environment};LT_SHARD=1/${arg_SHARDS}")
  foreach(shard RANGE 2 ${arg_SHARDS})
    add_test(NAME ${whole}.${shard} COMMAND "${python}" -B -m unittest ${arg_OF}
             WORKING_DIRECTORY "${directory}")
    set_tests_properties(
      ${whole}.${shard} PROPERTIES LABELS torch TIMEOUT 1200
                                   ENVIRONMENT "${environment};LT_SHARD=${shard}/${arg_SHARDS}")
  endforeach()
endfunction()
