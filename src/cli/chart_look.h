// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>

#include "cli/canvas.h"
#include "lowtide/trace.h"

// What the picture of a step's memory is drawn with.

namespace lowtide::cli {

// How a kind of storage looks.
struct KindLook {
  StorageKind kind;
  int colour;
  const char* texture;
  const char* letter;
};

// From the bottom of the stack to its top: what stays for the whole step lies below what comes and
// goes.
inline constexpr std::array<KindLook, kStorageKinds> kKindLooks{{
    {StorageKind::kParameter, 25, "█", "P"},
    {StorageKind::kState, 67, "▓", "S"},
    {StorageKind::kGradient, 173, "▒", "G"},
    {StorageKind::kInput, 102, "≡", "I"},
    {StorageKind::kActivation, 71, "░", "a"},
    {StorageKind::kTemporary, 179, "▚", "t"},
    {StorageKind::kWorkspace, 132, "×", "w"},
}};

inline constexpr int kBudgetColour = 167;
inline constexpr int kPlainPeakColour = 245;

struct ChartGlyphs {
  const char* budget;
  const char* plain_peak;
  const char* peak;
  const char* axis;
  const char* axis_mark;
  const char* corner;
  const char* floor;
  const char* floor_mark;
  const char* phase_start;
  const char* phase_change;
  const char* phase_line;
  const char* phase_end;
};
inline constexpr ChartGlyphs kUnicodeGlyphs{"╌", "┈", "▼", "│", "┤", "└",
                                            "─", "┬", "├", "┼", "─", "┤"};
inline constexpr ChartGlyphs kAsciiGlyphs{"-", ".", "v", "|", "+", "+",
                                          "-", "+", "|", "|", "-", "|"};

inline const ChartGlyphs& glyphs_for(const Style& style) {
  return style.unicode ? kUnicodeGlyphs : kAsciiGlyphs;
}

// Columns left of the picture, for labels.
inline constexpr int kLabelColumns = 10;

// A label and the blank after it, flush right in those columns.
std::string margin(const std::string& label);

}  // namespace lowtide::cli
