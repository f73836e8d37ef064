# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
#
# The few kinds of target there are. Folders are named by their path under src/ (`run/tier`); the
# library of a folder is lowtide_run_tier, alias lowtide::run_tier. A folder that is not there yet,
# or holds headers only, gets an INTERFACE library that passes its DEPS on, so configuring works at
# all times and nobody has to ask which folders exist.

include(GoogleTest)

# Turns folder names into the names of their libraries.
function(_lowtide_library_names out)
  list(TRANSFORM ARGN REPLACE "/" "_")
  list(TRANSFORM ARGN PREPEND "lowtide::")
  set(${out} ${ARGN} PARENT_SCOPE)
endfunction()

# Sets ${out} to whether one of the folders is built on torch, itself or through what it builds on.
function(_lowtide_uses_torch out)
  get_property(torch_folders GLOBAL PROPERTY LOWTIDE_TORCH_FOLDERS)
  set(${out} FALSE PARENT_SCOPE)
  foreach(folder IN LISTS ARGN)
    if(folder IN_LIST torch_folders)
      set(${out} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# lowtide_library(<folder> [RECURSE] [WHOLE] [DEPS <folder>...] [LINK <target>...])
# One static library from the *.cpp of src/<folder> (RECURSE: and below), without main.cpp, tests
# and benchmarks. The *_test.cpp beside them become one program, <library>_test, label unit, or
# torch if it is built on that; each *_bench.cpp becomes a benchmark. WHOLE: a program that links it
# gets all of it, also what nobody calls, such as objects that register themselves.
function(lowtide_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RECURSE;WHOLE" "" "DEPS;LINK")
  string(REPLACE "/" "_" name "${folder}")
  set(library "lowtide_${name}")
  _lowtide_library_names(deps ${arg_DEPS})

  set(glob GLOB)
  if(arg_RECURSE)
    set(glob GLOB_RECURSE)
  endif()
  file(${glob} sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp")
  set(tests ${sources})
  set(benchmarks ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER benchmarks INCLUDE REGEX "_bench\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|/main)\\.cpp$")

  set(label unit)
  _lowtide_uses_torch(uses_torch ${arg_DEPS})
  if(uses_torch OR "${arg_LINK}" MATCHES "LibTorch::")
    set_property(GLOBAL APPEND PROPERTY LOWTIDE_TORCH_FOLDERS ${folder})
    set(uses_torch TRUE)
    set(label torch)
  endif()

  set(archive ${library})
  if(arg_WHOLE AND sources)
    # Others link this one, which says how the archive is to be linked.
    set(archive ${library}_archive)
    add_library(${library} INTERFACE)
    target_link_libraries(${library} INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${archive}>")
  endif()
  if(sources)
    add_library(${archive} STATIC ${sources})
    set_property(GLOBAL APPEND PROPERTY LOWTIDE_ARCHIVES ${archive})
    # All of them go into the one shared library that is installed.
    set_target_properties(${archive} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    set(visibility PUBLIC)
    if(uses_torch)
      lowtide_torch_library_flags(${archive})
    endif()
  else()
    add_library(${archive} INTERFACE)
    set(visibility INTERFACE)
  endif()
  add_library(lowtide::${name} ALIAS ${library})
  target_include_directories(${archive} ${visibility} "${PROJECT_SOURCE_DIR}/include"
                                                      "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${archive} ${visibility} ${deps} ${arg_LINK})

  lowtide_test(${library}_test LABEL ${label} SOURCES ${tests} DEPS ${folder})
  foreach(source IN LISTS benchmarks)
    cmake_path(GET source STEM stem)
    lowtide_benchmark(${stem} SOURCE "${source}" DEPS ${folder})
  endforeach()
endfunction()

# lowtide_tell_source_dir(<source>...)
# Defines LT_SOURCE_DIR, where data is found, for those of the sources that ask for it: what does not
# depend on where the tree lies is compiled once for all clones (ccache).
function(lowtide_tell_source_dir)
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" uses REGEX "LT_SOURCE_DIR" LIMIT_COUNT 1)
    if(uses)
      set_source_files_properties("${source}" PROPERTIES COMPILE_DEFINITIONS
                                                         "LT_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
    endif()
  endforeach()
endfunction()

# lowtide_embed_data(<source> <folder under data/>...)
# Has the assembler find, from data/, the files that the source embeds, and has the source built
# again when one of them changes.
function(lowtide_embed_data source)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
  list(TRANSFORM ARGN APPEND "/*.gz")
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  set_source_files_properties(
    "${source}" PROPERTIES COMPILE_OPTIONS "-Wa,-I,${PROJECT_SOURCE_DIR}/data" OBJECT_DEPENDS
                           "${files}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# lowtide_embed_page(<source> <file>...)
# The same for scripts and styles of a page; the source also learns their hashes, by which a
# content-security policy knows them: LT_REPORT_JS_SHA256 for report.js.
function(lowtide_embed_page source)
  set(definitions)
  foreach(file IN LISTS ARGN)
    # Another file is another hash, so CMake runs again.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(SHA256 "${PROJECT_SOURCE_DIR}/${file}" hash)
    cmake_path(GET file FILENAME name)
    string(MAKE_C_IDENTIFIER "${name}" name)
    string(TOUPPER "${name}" name)
    list(APPEND definitions "LT_${name}_SHA256=\"${hash}\"")
  endforeach()
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE files)
  cmake_path(GET source PARENT_PATH folder)
  set_source_files_properties(
    "${source}" PROPERTIES COMPILE_OPTIONS "-Wa,-I,${PROJECT_SOURCE_DIR}/${folder}"
                           COMPILE_DEFINITIONS "${definitions}" OBJECT_DEPENDS "${files}")
endfunction()

# lowtide_program(<name> SOURCE <file> DEPS <folder>...)
function(lowtide_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE" "DEPS")
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${arg_SOURCE}")
    return()
  endif()
  _lowtide_library_names(deps ${arg_DEPS})
  add_executable(${name} "${arg_SOURCE}")
  target_link_libraries(${name} PRIVATE ${deps})
  _lowtide_uses_torch(uses_torch ${arg_DEPS})
  if(uses_torch AND LOWTIDE_SANITIZE)
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/sanitizer_defaults.cpp")
  endif()
endfunction()

# lowtide_precompile(<target> <owner> [PIC] LINK <target>... HEADERS <header>...)
# Makes <target> use headers that are precompiled once for all who name the same owner.
function(lowtide_precompile target owner)
  cmake_parse_arguments(PARSE_ARGV 2 arg "PIC" "" "LINK;HEADERS")
  if(NOT TARGET ${owner})
    set(empty "${PROJECT_BINARY_DIR}/cmake/${owner}.cpp")
    file(CONFIGURE OUTPUT "${empty}" CONTENT "" @ONLY)
    add_library(${owner} OBJECT "${empty}")
    set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE ${arg_PIC})
    target_link_libraries(${owner} PRIVATE ${arg_LINK})
    target_precompile_headers(${owner} PRIVATE ${arg_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# lowtide_test(<name> LABEL <label> SOURCES <file>... DEPS <folder>... [PROGRAM <target>])
# One GoogleTest program. Every test in it is a test of ctest; with torch, whose start takes a while,
# all of them are one. PROGRAM is built first, for tests that run it.
function(lowtide_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;PROGRAM" "SOURCES;DEPS")
  if(NOT LOWTIDE_TESTS OR NOT arg_SOURCES)
    return()
  endif()
  _lowtide_library_names(deps ${arg_DEPS})
  add_executable(${name} ${arg_SOURCES})
  lowtide_tell_source_dir(${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${deps} GTest::gmock GTest::gtest_main
                                        $<TARGET_NAME_IF_EXISTS:rapidcheck_gtest>)
  if(TARGET "${arg_PROGRAM}")
    add_dependencies(${name} ${arg_PROGRAM})
  endif()
  _lowtide_uses_torch(uses_torch ${arg_DEPS})
  if(uses_torch)
    lowtide_torch_test_flags(${name})
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT 600)
    return()
  endif()
  lowtide_precompile(${name} lowtide_test_headers LINK GTest::gmock HEADERS <gmock/gmock.h>
                     <gtest/gtest.h>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC bug 105651 again: what comes from a precompiled header does not count as a system's.
    target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
  # Listed by ctest and not while building: a build need not run what it built.
  gtest_discover_tests(
    ${name}
    TEST_PREFIX "${name}."
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 120
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT 600)
endfunction()

# lowtide_test_support(DEPS <folder>...)
# A library of what test folders share, from the *.cpp of tests/support; they include it as
# "support/<name>.h".
function(lowtide_test_support)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "DEPS")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cpp")
  if(NOT LOWTIDE_TESTS OR NOT sources)
    return()
  endif()
  _lowtide_library_names(deps ${arg_DEPS})
  add_library(lowtide_test_support STATIC ${sources})
  target_include_directories(lowtide_test_support PUBLIC "${PROJECT_SOURCE_DIR}/tests")
  lowtide_tell_source_dir(${sources})
  target_link_libraries(lowtide_test_support PUBLIC ${deps})
endfunction()

# lowtide_test_folder(<folder under tests/> LABEL <label> DEPS <folder>... [PROGRAM <target>])
# The *.cpp of the folder become one GoogleTest program; each test_*.py is run by Python's unittest
# with the path of PROGRAM in the environment variable LT_PROGRAM.
function(lowtide_test_folder folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;PROGRAM" "DEPS")
  set(directory "${PROJECT_SOURCE_DIR}/tests/${folder}")
  file(GLOB sources CONFIGURE_DEPENDS "${directory}/*.cpp")
  file(GLOB scripts CONFIGURE_DEPENDS "${directory}/test_*.py")
  lowtide_test(tests_${folder} LABEL ${arg_LABEL} SOURCES ${sources} DEPS ${arg_DEPS}
               PROGRAM "${arg_PROGRAM}")
  if(TARGET tests_${folder} AND TARGET lowtide_test_support)
    target_link_libraries(tests_${folder} PRIVATE lowtide_test_support)
  endif()
  if(NOT LOWTIDE_TESTS OR NOT scripts OR NOT TARGET "${arg_PROGRAM}")
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  foreach(script IN LISTS scripts)
    cmake_path(GET script STEM stem)
    add_test(NAME tests_${folder}.${stem} COMMAND Python3::Interpreter -B -m unittest ${stem}
             WORKING_DIRECTORY "${directory}")
    set_tests_properties(
      tests_${folder}.${stem}
      PROPERTIES LABELS ${arg_LABEL} TIMEOUT 600 ENVIRONMENT
                 "LT_PROGRAM=$<TARGET_FILE:${arg_PROGRAM}>")
  endforeach()
endfunction()

# lowtide_fuzzer(<name> SOURCE <file> [CORPUS <folder>] DEPS <folder>...)
# A libFuzzer program, one of those that target fuzzers builds, and a test that feeds it a bounded
# number of inputs from a fixed seed. The
# files of CORPUS are given as a list and not as a folder, since libFuzzer would write to a folder.
function(lowtide_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;CORPUS" "DEPS")
  if(NOT LOWTIDE_FUZZ)
    return()
  endif()
  _lowtide_library_names(deps ${arg_DEPS})
  add_executable(${name} "${arg_SOURCE}")
  target_link_libraries(${name} PRIVATE ${deps})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name})

  file(GLOB seeds CONFIGURE_DEPENDS "${arg_CORPUS}/*")
  set(seed_option "")
  if(seeds)
    list(JOIN seeds "," seeds)
    set(seed_list "${CMAKE_CURRENT_BINARY_DIR}/${name}.seeds")
    file(CONFIGURE OUTPUT "${seed_list}" CONTENT "@seeds@" @ONLY)
    set(seed_option "-seed_inputs=@${seed_list}")
  endif()
  add_test(NAME ${name} COMMAND ${name} -runs=20000 -max_len=4096 -seed=1 -rss_limit_mb=2048
                                -timeout=10 -artifact_prefix=${name}- ${seed_option})
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 900)
endfunction()

# lowtide_fuzz_folder(<folder> DEPS <folder>...)
# One target for each fuzz_*.cpp; its seeds are the files of <folder>/corpus/<target>.
function(lowtide_fuzz_folder folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/fuzz_*.cpp")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    set(corpus "${PROJECT_SOURCE_DIR}/${folder}/corpus/${stem}")
    lowtide_fuzzer(${stem} SOURCE "${source}" CORPUS "${corpus}" DEPS ${arg_DEPS})
  endforeach()
endfunction()

# lowtide_benchmark(<name> SOURCE <file> [WITH <file>...] DEPS <folder>...)
# A Google Benchmark program in <build>/bench, where bench/run finds it. The target `benchmarks`
# builds all of them.
function(lowtide_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE" "DEPS;WITH")
  if(NOT LOWTIDE_BENCH)
    return()
  endif()
  _lowtide_library_names(deps ${arg_DEPS})
  add_executable(${name} "${arg_SOURCE}" ${arg_WITH})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
  target_link_libraries(${name} PRIVATE ${deps} benchmark::benchmark_main)
  add_dependencies(benchmarks ${name})
endfunction()

# lowtide_benchmark_folder(<folder> DEPS <folder>...): one benchmark for each *_bench.cpp; what other
# sources the folder has belongs to all of them.
function(lowtide_benchmark_folder folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  set(shared ${sources})
  list(FILTER sources INCLUDE REGEX "_bench\\.cpp$")
  list(FILTER shared EXCLUDE REGEX "_bench\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    lowtide_benchmark(${stem} SOURCE "${source}" WITH ${shared} DEPS ${arg_DEPS})
  endforeach()
endfunction()

# lowtide_benchmark_program(<name> FOLDER <folder> DEPS <folder>... [LINK <target>...])
# One program from the *.cpp of the folder, in <build>/bench: a benchmark that does its own timing,
# so it is no part of what bench/run runs.
function(lowtide_benchmark_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "DEPS;LINK")
  if(NOT LOWTIDE_BENCH)
    return()
  endif()
  _lowtide_library_names(deps ${arg_DEPS})
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${arg_FOLDER}/*.cpp")
  add_executable(${name} ${sources})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
  target_link_libraries(${name} PRIVATE ${deps} ${arg_LINK})
endfunction()
