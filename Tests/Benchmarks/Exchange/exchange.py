#!/usr/bin/env python3
"""Imports and exports of a museum's objects: Cubby beside sqlite3, DuckDB with two threads and pandas, in one run.

Usage: exchange.py CUBBY CSV TIMES. The collection TIMES times, ten fields a row, the key and the name of each its own."""
import csv
import os
import subprocess
import sys
import tempfile
import time

import duckdb
import pandas

cubby, source, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
here = os.path.dirname(os.path.abspath(__file__))
FIELDS = "medium creators department classification credit_line date_acquired width_in height_in".split()
NAMES = "accession_number name medium creators department classification credit acquired width height".split()


def write_rows(path):
    with open(source, newline="", encoding="utf-8") as file:
        base = list(csv.DictReader(file))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(NAMES)
        for copy in range(times):
            mark = "" if copy == 0 else " " + chr(97 + copy // 26) + chr(97 + copy % 26)
            for row in base:
                writer.writerow([row["accession_number"] + mark, row["title"] + mark] + [row[field] for field in FIELDS])
    return len(base) * times


def seconds(body):
    begin = time.perf_counter()
    body()
    return time.perf_counter() - begin


def steps(folder, step):
    with tempfile.TemporaryDirectory() as container:
        done = subprocess.run(
            [cubby, "--container", container + "/c", "--allow-write", folder, "run", here + "/exchange.lua", folder, step],
            capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return {name: float(value) for name, value in (line.split("\t") for line in done.stdout.splitlines())}


with tempfile.TemporaryDirectory() as folder:
    path = folder + "/rows.csv"
    count = write_rows(path)
    ours = {**steps(folder, "csv"), **steps(folder, "text"), **steps(folder, "sqlite")}
    duck = duckdb.connect()
    duck.execute("set threads=2")
    peers = {
        "sqlite3 .import": seconds(
            lambda: subprocess.run(["sqlite3", folder + "/peer.db", ".mode csv", f".import {path} t"], check=True)),
        "DuckDB read_csv": seconds(lambda: duck.execute(f"create table t as select * from read_csv('{path}')")),
        "pandas read_csv": seconds(lambda: pandas.read_csv(path)),
        "DuckDB copy": seconds(lambda: duck.execute(f"copy t to '{folder}/peer.jsonl' (format json)")),
    }
    print(f"{count} rows with ten fields, microseconds a row")
    for name, value in {**ours, **peers}.items():
        print(f"{name:18}{value / count * 1e6:8.2f}")
    print(f"import of CSV to DuckDB's: {ours['csv'] / peers['DuckDB read_csv']:.2f}, to sqlite3's: {ours['csv'] / peers['sqlite3 .import']:.2f}")
    print(f"JSON Lines to DuckDB's: {ours['jsonl'] / peers['DuckDB copy']:.2f}; import of SQLite to that of CSV: {ours['sqlite'] / ours['csv']:.2f}")
