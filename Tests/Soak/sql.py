#!/usr/bin/env python3
"""Every function of SQL with large, hostile values: how long after its time limit each is stopped, and how much memory it
takes, with both limits at once. The table is Tests/Hostile/sql-functions.tsv.

sql.py BINARY [--short]
"""
import os, sys

import limits

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Hostile/sql-functions.tsv")
LATE = 0.5    # seconds beyond the time limit
GROWTH = 3.0  # times the limit of memory, beside what an idle process has: four times in all

TEXTS = {
    "each": "with recursive n(i) as (select 1 union all select i + 1 from n) select count({}) from n cross join t cross join b cross join d cross join j cross join o cross join p",
    "all": "with recursive n(i) as (select 1 union all select i + 1 from n) select {} from n cross join t cross join b cross join d cross join j cross join o cross join p",
    "window": "with recursive n(i) as (select 1 union all select i + 1 from n limit 200) "
              "select {} over (order by i rows 3 preceding) from n cross join t cross join d",
    "query": "{}", "closed": "{}",
}


def quoted(text):
    return "[==[" + text + "]==]"


def table():
    with open(TABLE, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]


trial = limits.begin(sys.argv)
rows = table()
database = os.path.join(trial.folder, "values.sqlite")
setup = "".join(f"assert(db:execute({quoted(text)})) " for _, kind, text in rows if kind == "setup")
said, _, _ = trial.session(
    f"local db = assert(sqlite.open('{database}')) {setup} db:close()", ["--allow-write", trial.folder])
if not said.startswith("0 "):
    raise SystemExit(f"the values were not made: {said}")
with_functions = (
    f"local db = assert(sqlite.open('{database}', {{ readOnly = true }})) "
    "for row in db:rows('select distinct name from pragma_function_list') do io.stderr:write(row.name, '\\n') end")
names = {name for name, _, _ in rows}
missing = [name for name in trial.lines(with_functions) if name not in names]
if missing:
    raise SystemExit(f"functions without a row: {', '.join(missing)}")
have = set(trial.lines(with_functions))
print(f"time limit {limits.TIME_LIMIT:.0f} s, memory limit {limits.MEMORY_LIMIT} MB; an idle session takes "
      f"{trial.start:.2f} s and {trial.base:.0f} MB")
print(f"{'seconds late':>12} {'x memory':>9}  function")
for name, kind, text in rows:
    if kind == "setup" or name not in have:
        continue
    script = (
        f"local db = assert(sqlite.open('{database}', {{ readOnly = true }})) "
        f"for row in db:rows({quoted(TEXTS[kind].format(text))}) do end")
    trial.clear()
    said, seconds, memory = trial.session(
        script, ["--time-limit", f"{limits.TIME_LIMIT}", "--memory-limit", f"{limits.MEMORY_LIMIT}"])
    late, growth = seconds - trial.start - limits.TIME_LIMIT, (memory - trial.base) / limits.MEMORY_LIMIT
    marks = [mark for mark, is_so in (
        ("LATE", late > (10 if trial.is_short else LATE)), ("TOO MUCH MEMORY", growth > GROWTH),
        (f"ended {said}", said.startswith("-") or said == "hangs"),
        ("NOT REFUSED", kind == "closed" and "is closed to statements" not in said)) if is_so]
    print(f"{late:12.2f} {growth:9.2f}  {name}  {text[:60]}  {' '.join(marks)}  {said[-90:]}", flush=True)
    if marks:
        trial.failures.append(f"{name}: {text[:60]}: {' '.join(marks)}")
trial.end()
