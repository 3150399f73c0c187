#!/usr/bin/env python3
"""Draws what the store's operations cost as the number of items grows: an SVG on standard output.

    curve.py raw.tsv

Both axes are logarithmic: a cost that grows with the number of items is a line that rises by a decade a decade.
"""
import math
import statistics
import sys
from collections import defaultdict

ROWS = [("W1", "create all", "#1b6ca8"), ("W7", "save all", "#c0392b"), ("W4b", "sort all by name", "#27864a"),
        ("W3", "filtered count", "#8e44ad"), ("W9", "open, look one up", "#d08700"),
        ("W4a", "top ten by index", "#555555"), ("W10p50", "commit one change", "#0d9aa5")]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 440, 70, 20, 180, 50


def main():
    samples = defaultdict(list)
    for line in open(sys.argv[1]):
        peer, row, n, _, value = line.split("\t")[:5]
        if peer == "cubby-process":
            samples[row, int(n)].append(float(value))
    sizes = sorted({n for _, n in samples})
    points = {row: [(n, statistics.median(samples[row, n])) for n in sizes if samples[row, n]] for row, _, _ in ROWS}
    values = [v for list in points.values() for _, v in list if v > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])
    x = lambda n: LEFT + (math.log10(n) - first) / max(last - first, 1e-9) * (WIDTH - LEFT - RIGHT)
    y = lambda v: TOP + (high - math.log10(v)) / (high - low) * (HEIGHT - TOP - BOTTOM)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (
        WIDTH, HEIGHT), '<rect width="%d" height="%d" fill="white"/>' % (WIDTH, HEIGHT)]
    names = {-6: "1 µs", -5: "10 µs", -4: "100 µs", -3: "1 ms", -2: "10 ms", -1: "100 ms", 0: "1 s", 1: "10 s", 2: "100 s"}
    for power in range(low, high + 1):
        at = y(10.0 ** power)
        out.append('<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>' % (LEFT, at, WIDTH - RIGHT, at))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%s</text>' % (LEFT - 8, at + 4, names.get(power, "1e%d s" % power)))
    for n in sizes:
        out.append('<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/>' % (x(n), TOP, x(n), HEIGHT - BOTTOM))
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (x(n), HEIGHT - BOTTOM + 18, format(n, ",")))
    out.append('<text x="%.1f" y="%d" text-anchor="middle">items</text>' % ((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10))
    labels = []
    for row, name, color in ROWS:
        if not points[row]:
            continue
        path = " ".join("%.1f,%.1f" % (x(n), y(v)) for n, v in points[row])
        out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (path, color))
        for n, v in points[row]:
            out.append('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (x(n), y(v), color))
        labels.append([y(points[row][-1][1]), name, color])
    labels.sort()
    for i in range(1, len(labels)):                 # labels that would lie on each other move down
        labels[i][0] = max(labels[i][0], labels[i - 1][0] + 15)
    for at, name, color in labels:
        out.append('<text x="%d" y="%.1f" fill="%s">%s</text>' % (WIDTH - RIGHT + 10, at + 4, color, name))
    print("\n".join(out + ["</svg>"]))


main()
