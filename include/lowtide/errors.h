// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

namespace lowtide {

/// Root of everything Lowtide throws. The message states the fact first, values last.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller gave something that cannot be used: a malformed file, an unknown name.
class InvalidInput : public Error {
 public:
  using Error::Error;
};

/// Something we believe does not hold: a bug in Lowtide.
class InternalError : public Error {
 public:
  using Error::Error;
};

/// Memory ran out for certain.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// The accelerator or its driver failed.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// A file could not be read or written.
class IoError : public Error {
 public:
  using Error::Error;
};

}  // namespace lowtide
