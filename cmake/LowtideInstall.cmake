# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
#
# What `cmake --install` puts in place: the public headers, the programs, one shared library, and the
# files that make find_package(lowtide) give lowtide::session.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# lowtide_shared_library(<folder>...)
# liblowtide.so: the folders and all they build on, whole. One shared library and not several static
# ones, because a process must have one hook in torch's dispatcher, however many parts link it.
function(lowtide_shared_library)
  _lowtide_library_names(libraries ${ARGN})
  set(empty "${PROJECT_BINARY_DIR}/cmake/lowtide_shared.cpp")
  file(CONFIGURE OUTPUT "${empty}" CONTENT "" @ONLY)
  get_property(archives GLOBAL PROPERTY LOWTIDE_ARCHIVES)
  list(JOIN archives "," archives)
  add_library(lowtide_shared SHARED "${empty}")
  target_link_libraries(lowtide_shared PRIVATE ${libraries} PUBLIC LibTorch::torch)
  if(LibTorch_CUDA_FOUND)
    target_link_libraries(lowtide_shared PUBLIC LibTorch::cuda)
  endif()
  target_compile_features(lowtide_shared INTERFACE cxx_std_20)
  target_include_directories(lowtide_shared
                             INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  set_target_properties(
    lowtide_shared
    PROPERTIES LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${archives}"
               OUTPUT_NAME lowtide
               EXPORT_NAME session
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}
               INSTALL_RPATH "${LibTorch_LIBRARY_DIRS}")
endfunction()

# lowtide_install(): to be called after lowtide_shared_library() and after the programs.
function(lowtide_install)
  set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/lowtide")
  set(generated "${PROJECT_BINARY_DIR}/cmake")
  install(TARGETS lowtide_shared EXPORT lowtideTargets)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/lowtide" TYPE INCLUDE)
  if(TARGET lowtide)
    install(TARGETS lowtide)
  endif()
  if(TARGET lowtide-torch)
    # Nobody types it; `lowtide` looks for it there.
    set_target_properties(lowtide-torch PROPERTIES INSTALL_RPATH "${LibTorch_LIBRARY_DIRS}")
    install(TARGETS lowtide-torch DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/lowtide")
  endif()
  install(EXPORT lowtideTargets NAMESPACE lowtide:: DESTINATION "${package_folder}")
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/lowtideConfig.cmake.in"
                                "${generated}/lowtideConfig.cmake"
                                INSTALL_DESTINATION "${package_folder}")
  write_basic_package_version_file("${generated}/lowtideConfigVersion.cmake"
                                   COMPATIBILITY SameMinorVersion)
  install(FILES "${generated}/lowtideConfig.cmake" "${generated}/lowtideConfigVersion.cmake"
                "${PROJECT_SOURCE_DIR}/cmake/FindLibTorch.cmake"
          DESTINATION "${package_folder}")
endfunction()

# lowtide_install_package(): what a wheel of the Python package consists of. To be called after
# lowtide_install().
function(lowtide_install_package)
  if(LibTorch_CUDA_MISSING)
    # pip hides what a build says, and whoever has a GPU would find it without a cap.
    message(FATAL_ERROR "lowtide: this torch is for GPUs, but there are no headers of CUDA to build a \
package for them: install nvidia-cuda-crt and nvidia-cuda-cccl beside torch, or a CUDA toolkit. For the \
processor only: pip install . --config-settings=cmake.define.LOWTIDE_CUDA=OFF")
  endif()
  set(package lowtide)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/" DESTINATION . COMPONENT python
          PATTERN __pycache__ EXCLUDE)
  install(TARGETS lowtide_shared LIBRARY DESTINATION ${package}/lib COMPONENT python
          NAMELINK_SKIP)
  install(TARGETS lowtide RUNTIME DESTINATION ${package}/bin COMPONENT python)
  install(TARGETS lowtide-torch RUNTIME DESTINATION ${package}/libexec/lowtide COMPONENT python)
  # torch and CUDA's libraries lie beside the package, wherever that is.
  set(beside "$ORIGIN/../../torch/lib")
  file(GLOB cuda RELATIVE "${LibTorch_DIR_FOUND}/.." "${LibTorch_DIR_FOUND}/../nvidia/cu*/lib")
  foreach(folder IN LISTS cuda)
    list(APPEND beside "$ORIGIN/../../${folder}")
  endforeach()
  list(TRANSFORM beside REPLACE "/../../" "/../../../" OUTPUT_VARIABLE deeper)
  set_target_properties(lowtide_shared PROPERTIES INSTALL_RPATH "${beside}")
  set_target_properties(lowtide-torch PROPERTIES INSTALL_RPATH "${deeper}")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" minor "${LibTorch_VERSION}")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/built_with_torch.txt" CONTENT "${minor}\n")
  install(FILES "${PROJECT_BINARY_DIR}/built_with_torch.txt" DESTINATION ${package}
          COMPONENT python)
endfunction()

# lowtide_example_tests(<folder>)
# A test for each <folder>/*/CMakeLists.txt: installs Lowtide to a folder of the build tree, builds
# the example against that as a user would, and runs its program, which bears the folder's name. To
# be called after lowtide_torch_tests().
function(lowtide_example_tests folder)
  if(NOT LOWTIDE_TESTS OR LOWTIDE_SANITIZE)
    return() # A program would have to be built with the sanitizers too.
  endif()
  file(GLOB examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*/CMakeLists.txt")
  if(NOT examples)
    return()
  endif()
  # What is installed has to be built, also if it is only for the tests.
  add_dependencies(torch_tests lowtide_shared lowtide lowtide-torch)
  set(prefix "${PROJECT_BINARY_DIR}/installed")
  add_test(NAME install COMMAND "${CMAKE_COMMAND}" --install "${PROJECT_BINARY_DIR}" --prefix
                                "${prefix}")
  set_tests_properties(install PROPERTIES FIXTURES_SETUP installed LABELS torch-slow)
  foreach(example IN LISTS examples)
    cmake_path(GET example PARENT_PATH source)
    cmake_path(GET source FILENAME name)
    add_test(
      NAME ${folder}.${name}
      COMMAND
        "${CMAKE_CTEST_COMMAND}" --build-and-test "${source}"
        "${PROJECT_BINARY_DIR}/${folder}/${name}" --build-generator "${CMAKE_GENERATOR}"
        --build-options "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
        "-DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}" --test-command ${name})
    set_tests_properties(${folder}.${name} PROPERTIES FIXTURES_REQUIRED installed LABELS torch-slow
                                                      TIMEOUT 600)
  endforeach()
endfunction()
