# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Memory at the peak by kind, as bars side by side."""

from plot import COLOURS, WIDTH, page, text, ticks

LEFT, RIGHT, TOP, BAR, GAP = 170, 30, 62, 16, 6
# Kinds that are told apart, in their order; all others are together at the end.
KINDS = ("activation", "workspace", "temporary", "parameter", "gradient", "state")


def _by_kind(kinds):
    rest = sum(size for kind, size in kinds.items() if kind not in KINDS)
    return [(kind, kinds.get(kind, 0)) for kind in KINDS] + [("other", rest)]


def _colour(kind):
    return COLOURS[KINDS.index(kind)] if kind in KINDS else "#999999"


def _legend():
    parts = []
    for number, kind in enumerate((*KINDS, "other")):
        x = 40 + 95 * number
        parts.append(f'<rect x="{x}" y="36" width="12" height="12" fill="{_colour(kind)}"/>')
        parts.append(text(x + 17, 46, kind, "start"))
    return parts


def _bar(y, label, kinds, scale):
    parts, x = [text(LEFT - 8, y + 12, label, "end")], LEFT
    for kind, size in _by_kind(kinds):
        width = size * scale
        if width > 0:
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" '
                         f'fill="{_colour(kind)}"><title>{kind}: {size:.1f} MiB</title></rect>')
        x += width
    return [*parts, text(x + 5, y + 12, f"{sum(kinds.values()):.1f}", "start")]


def peak_plot(title, bars, budget):
    """`bars`: (label, MiB by kind, or words where there are none); `budget`: MiB, a line through all of
    them."""
    most = max(sum(kinds.values()) for _, kinds in bars if not isinstance(kinds, str))
    scale = (WIDTH - LEFT - RIGHT) / (1.15 * most)
    bottom = TOP + len(bars) * (BAR + GAP)
    parts = [*page(title, bottom + 46), *_legend()]
    for value in ticks(1.15 * most):
        x = LEFT + value * scale
        parts += [f'<path class="grid" d="M{x:.1f} {TOP - 4}V{bottom}"/>', text(x, bottom + 16, f"{value:g}")]
    for number, (label, kinds) in enumerate(bars):
        y = TOP + number * (BAR + GAP)
        parts += ([text(LEFT - 8, y + 12, label, "end"), text(LEFT + 5, y + 12, kinds, "start")]
                  if isinstance(kinds, str) else _bar(y, label, kinds, scale))
    x = LEFT + budget * scale
    parts += [f'<path class="mark" stroke-dasharray="5 3" d="M{x:.1f} {TOP - 4}V{bottom}"/>',
              text((LEFT + WIDTH - RIGHT) / 2, bottom + 36,
                   f"MiB at the peak; the line: the budget, {budget:.1f} MiB"), "</svg>"]
    return "\n".join(parts) + "\n"
