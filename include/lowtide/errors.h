// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
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
  OutOfMemory(const std::string& message, std::int64_t asked, std::int64_t held)
      : Error(message), asked_bytes(asked), held_bytes(held) {}

  /// What the op asked for, and what was held and could not be evicted then; 0 if not known.
  std::int64_t asked_bytes = 0;
  std::int64_t held_bytes = 0;
  /// At least so much is needed where that was asked for. The rest of the op, and later ops, may
  /// need more, so a budget of this size can be refused too, with a larger one.
  std::int64_t smallest_budget_bytes() const { return asked_bytes + held_bytes; }
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
