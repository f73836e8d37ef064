# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Step time over memory budget as an SVG, readable on light and on dark pages."""

import html
import math

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 40, 50
# Told apart by people who see fewer colours, too.
COLOURS = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#d55e00")


def ticks(most, count=5):
    """Round numbers from 0 to the most."""
    raw = most / count
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    return [step * i for i in range(int(most / step) + 1)]


class _Axes:
    def __init__(self, curves):
        points = [point for curve in curves.values() for point in curve]
        self.most_x = 1.05 * max(x for x, _ in points)
        self.most_y = 1.1 * max(y for _, y in points)

    def x(self, value):
        return LEFT + value / self.most_x * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return HEIGHT - BOTTOM - value / self.most_y * (HEIGHT - TOP - BOTTOM)


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(words)}</text>'


def page(title, height):
    """The begin of a picture."""
    return [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="12">',
            "<style>text{fill:#333}.grid{stroke:#ccc;fill:none}.page{fill:#fff}.mark{stroke:#333}"
            "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.page{fill:#111}"
            ".mark{stroke:#ddd}}</style>", f'<rect class="page" width="{WIDTH}" height="{height}"/>',
            text(WIDTH / 2, 22, title, "middle", ' font-size="15"')]


def _grid(axes):
    parts = []
    for value in ticks(axes.most_x):
        parts.append(f'<path class="grid" d="M{axes.x(value):.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(text(axes.x(value), HEIGHT - BOTTOM + 18, f"{value:g}"))
    for value in ticks(axes.most_y):
        parts.append(f'<path class="grid" d="M{LEFT} {axes.y(value):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(text(LEFT - 8, axes.y(value) + 4, f"{value:g}", "end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "budget, MiB"))
    parts.append(text(16, HEIGHT / 2, "ms a step", "middle",
                       f' transform="rotate(-90 16 {HEIGHT / 2})"'))
    return parts


def _curve(axes, index, name, points):
    colour = COLOURS[index % len(COLOURS)]
    places = [(axes.x(x), axes.y(y)) for x, y in sorted(points)]
    parts = [f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
             + " ".join(f"{x:.1f},{y:.1f}" for x, y in places) + '"/>']
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    y = TOP + 20 * index + 8
    parts.append(f'<path d="M{WIDTH - RIGHT + 12} {y}h20" stroke="{colour}" stroke-width="2"/>')
    parts.append(text(WIDTH - RIGHT + 38, y + 4, name, "start"))
    return parts


def price_plot(title, curves):
    """`curves`: (MiB, ms) by name. A curve ends where smaller budgets cannot be kept."""
    axes = _Axes(curves)
    parts = [*page(title, HEIGHT), *_grid(axes)]
    for index, (name, points) in enumerate(curves.items()):
        parts += _curve(axes, index, name, points)
    return "\n".join([*parts, "</svg>"]) + "\n"
