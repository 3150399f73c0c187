#!/usr/bin/env python3
"""Turns the raw samples of the store's workload into a table: Cubby's medians, and their ratios to the peers'.

    ratios.py raw.tsv

A ratio divides the medians of one run; below 1 Cubby is faster. Databases are compared within a class of durability:
what survives kill -9 with `cubby-process`, what survives a power cut with `cubby-power`.
"""
import statistics
import sys
from collections import defaultdict

ROWS = ["W1", "C2D", "W2", "W3", "W4a", "W4b", "W5", "W6", "W7", "W8", "W9", "W9_scan", "W10p50", "W10p99"]
CLASSES = {
    "cubby-process": ["lua54-sqlite-normal", "tarantool-write", "redis-everysec", "py-sqlite-normal", "sqlite-c-normal",
                      "lmdb-c"],
    "cubby-power": ["lua54-sqlite-full", "tarantool-fsync", "redis-always", "py-sqlite-full", "sqlite-c-full", "lmdb-c"],
}
FLOORS = ["lua54-tsv", "luajit-tsv", "lua-host", "flat-c"]


def three(x):
    return "–" if x is None else "%.3g" % x if x < 100 else "%.0f" % x


def main():
    samples = defaultdict(list)
    sizes = []
    for line in open(sys.argv[1]):
        peer, row, n, _, value = line.split("\t")[:5]
        samples[peer, row, int(n)].append(float(value))
        if int(n) not in sizes:
            sizes.append(int(n))
    median = lambda peer, row, n: statistics.median(samples[peer, row, n]) if samples[peer, row, n] else None
    for n in sizes:
        for ours, peers in CLASSES.items():
            if not samples[ours, "W1", n]:
                continue
            print("### %s, N = %s\n" % (ours, format(n, ",")))
            print("| row | ms | best database | " + " | ".join(peers + FLOORS) + " |")
            print("|" + " --- |" * (3 + len(peers) + len(FLOORS)))
            for row in ROWS:
                mine = median(ours, row, n)
                if mine is None:
                    continue
                ratio = lambda peer: mine / median(peer, row, n) if median(peer, row, n) else None
                rated = [(ratio(p), p) for p in peers if ratio(p) is not None]
                best = "%s × %s" % (three(max(rated)[0]), max(rated)[1]) if rated else "–"
                print("| %s | %s | %s | %s |" % (
                    row, three(mine * 1000), best, " | ".join(three(ratio(p)) for p in peers + FLOORS)))
            memory = median(ours, "mem", n)
            print("\nMemory: %s bytes an item; on disk at the end: %s.\n" % (
                three(memory), three((median(ours, "size_end", n) or 0) / n)))


main()
