# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
#
# lowtide_disk: what the spill file is built on. xxHash is only a header. liburing is linked as an
# archive, so that what is built here also starts where there is none; without it at build time, or
# where the kernel does not let us use it, threads read and write.
#
# lowtide_fault_test: runs a test while libfiu makes reads and writes fail.

find_package(Threads REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_path(LIBURING_INCLUDE_DIR liburing.h)
find_library(LIBURING_LIBRARY NAMES liburing.a)
mark_as_advanced(XXHASH_INCLUDE_DIR LIBURING_INCLUDE_DIR LIBURING_LIBRARY)

add_library(lowtide_disk INTERFACE)
target_include_directories(lowtide_disk SYSTEM INTERFACE "${XXHASH_INCLUDE_DIR}")
target_link_libraries(lowtide_disk INTERFACE Threads::Threads)
if(LIBURING_INCLUDE_DIR AND LIBURING_LIBRARY)
  target_compile_definitions(lowtide_disk INTERFACE LOWTIDE_HAS_URING)
  target_include_directories(lowtide_disk SYSTEM INTERFACE "${LIBURING_INCLUDE_DIR}")
  target_link_libraries(lowtide_disk INTERFACE "${LIBURING_LIBRARY}")
else()
  message(STATUS "liburing was not found: spill files are read and written by threads")
endif()

# lowtide_fault_test(<test program> FILTER <one test> LABEL <label>)
# The test runs a second time with one pread and pwrite in twenty failing, and LT_EXPECT_FAULTS set.
# Skipped, and says so, without fiu-run; not there under sanitizers, which want to be loaded first.
function(lowtide_fault_test program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILTER;LABEL" "")
  if(NOT TARGET ${program} OR LOWTIDE_SANITIZE)
    return()
  endif()
  find_program(FIU_RUN_PROGRAM fiu-run)
  mark_as_advanced(FIU_RUN_PROGRAM)
  if(FIU_RUN_PROGRAM)
    set(points)
    foreach(call pwrite pread)
      list(APPEND points -c "enable_random name=posix/io/rw/${call},probability=0.05")
    endforeach()
    add_test(NAME ${program}.faults COMMAND "${FIU_RUN_PROGRAM}" -x ${points}
                                            $<TARGET_FILE:${program}> --gtest_filter=${arg_FILTER})
  else()
    add_test(NAME ${program}.faults
             COMMAND "${CMAKE_COMMAND}" -E echo "skipped: no fiu-run here (package fiu-utils)")
  endif()
  # That one test has run, and not none because its name is another.
  set_tests_properties(
    ${program}.faults
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT 600 ENVIRONMENT LT_EXPECT_FAULTS=1
               PASS_REGULAR_EXPRESSION "PASSED  . 1 test" SKIP_REGULAR_EXPRESSION "^skipped:")
endfunction()
