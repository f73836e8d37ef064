# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
#
# Flags for all our code. Third-party headers are found in system folders or through imported
# targets, both of which CMake marks SYSTEM, so no warning of theirs reaches us.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # SLOPPINESS is what ccache wants to be told, and g++ with -fpch-preprocess, before it caches what
  # is built with precompiled headers. With the others a clone in another folder finds what was built
  # in this one.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;\
CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_NOHASHDIR=1;${CCACHE_PROGRAM}")
endif()

# A warning is an error for the compilers that CI builds with. A newer compiler has new warnings,
# and those should not keep anyone from building: there they are only shown.
string(REGEX MATCH "^[0-9]+" compiler_major "${CMAKE_CXX_COMPILER_VERSION}")
set(checked_compilers GNU-12 Clang-14)
if("${CMAKE_CXX_COMPILER_ID}-${compiler_major}" IN_LIST checked_compilers)
  set(werror_default ON)
else()
  set(werror_default OFF)
endif()
option(LOWTIDE_WERROR "Treat warnings as errors" ${werror_default})

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                    -Wnon-virtual-dtor -Wold-style-cast)
if(LOWTIDE_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: a false alarm on `"text" + std::string` from -O2 on.
  add_compile_options(-Wno-restrict)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Our libraries may end up in a shared one; a function of theirs is inlined there all the same.
  add_compile_options(-fpch-preprocess -fno-semantic-interposition)
endif()

if(LOWTIDE_SANITIZE)
  # Stop at the first finding: a test that goes on after one would pass.
  add_compile_options(-fsanitize=${LOWTIDE_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  if(LOWTIDE_SANITIZE MATCHES "undefined")
    # Checks of every pointer that is followed: with them a source takes half as long again to
    # compile. Null ones end a program anyway, and addresses are AddressSanitizer's.
    add_compile_options(-fno-sanitize=null,alignment,object-size)
  endif()
  add_link_options(-fsanitize=${LOWTIDE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC's manual: instrumented code gives false alarms of this kind.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()

if(LOWTIDE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "LOWTIDE_FUZZ needs clang, which brings libFuzzer: use the preset `fuzz`.")
  endif()
  # The libraries need the coverage counters that guide the fuzzer; its main() comes at the link.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
