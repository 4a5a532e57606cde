"""The growth table as a picture: time and memory over states, both axes logarithmic, as a small SVG."""

from collections.abc import Iterable
from math import log10
from typing import Any

WIDTH, HEIGHT, MARGIN = 640, 360, 56
STYLE = "font: 12px sans-serif; fill: #555"
LINES = (
    ("seconds", "seconds", "#1f6feb", 1.0, -10),
    ("peak_bytes", "peak memory, 100 MB", "#d1720a", 1e8, 28),
)
"""What is drawn: its name in a row, label, colour and unit, and how far the label stands below the end."""


def plot(rows: list[dict[str, Any]]) -> str:
    """A line for each measure; a line of slope one is linear growth."""
    sizes = [log10(row["states"]) for row in rows]
    measures = [[log10(row[name] / unit) for row in rows] for name, _, _, unit, _ in LINES]
    low, high = min(map(min, measures)), max(map(max, measures))

    def x(size: float) -> float:
        return MARGIN + (size - sizes[0]) / (sizes[-1] - sizes[0]) * (WIDTH - 2 * MARGIN)

    def y(value: float) -> float:
        return HEIGHT - MARGIN - (value - low) / (high - low) * (HEIGHT - 2 * MARGIN)

    parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for power in range(int(sizes[0]) + 1, int(sizes[-1]) + 1):
        parts += _tick(x(power), HEIGHT - MARGIN + 18, f"10^{power} states", "middle")
        parts.append(f'<path d="M{x(power):.0f} {MARGIN}V{HEIGHT - MARGIN}" stroke="#eee"/>')
    for power in range(int(low), int(high) + 1):
        parts += _tick(MARGIN - 8, y(power) + 4, f"{10.0**power:g}", "end")
        parts.append(f'<path d="M{MARGIN} {y(power):.0f}H{WIDTH - MARGIN}" stroke="#eee"/>')
    for (_, label, colour, _, below), values in zip(LINES, measures, strict=True):
        points = [(x(size), y(value)) for size, value in zip(sizes, values, strict=True)]
        parts += _line(points, colour)
        parts.append(
            f'<text x="{points[-1][0] - 6:.0f}" y="{points[-1][1] + below:.0f}" text-anchor="end" '
            f'style="font: 12px sans-serif; fill: {colour}">{label}</text>'
        )
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n' + "\n".join(parts) + "\n</svg>\n"


def _tick(x: float, y: float, text: str, anchor: str) -> Iterable[str]:
    yield f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" style="{STYLE}">{text}</text>'


def _line(points: list[tuple[float, float]], colour: str) -> Iterable[str]:
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points)
