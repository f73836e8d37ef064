# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
#
# lowtide_onnx: what the reader of ONNX files is built on. protozero is only headers. A GPU machine
# may lack them: then everything but that reader is there, which says what to install.

find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp)
mark_as_advanced(PROTOZERO_INCLUDE_DIR)

add_library(lowtide_onnx INTERFACE)
if(PROTOZERO_INCLUDE_DIR)
  target_compile_definitions(lowtide_onnx INTERFACE LOWTIDE_HAS_PROTOZERO)
  target_include_directories(lowtide_onnx SYSTEM INTERFACE "${PROTOZERO_INCLUDE_DIR}")
else()
  message(STATUS "protozero was not found (libprotozero-dev): ONNX files cannot be read")
endif()
