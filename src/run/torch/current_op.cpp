// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/current_op.h"

namespace lowtide::run {
namespace {

const std::string kNone;
thread_local const std::string* current = &kNone;

}  // namespace

const std::string& current_op() { return *current; }

CurrentOp::CurrentOp(const std::string& name) : before_(current) { current = &name; }
CurrentOp::~CurrentOp() { current = before_; }

}  // namespace lowtide::run
