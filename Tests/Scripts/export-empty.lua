-- An empty cell is no value: an export counts the empty texts and data, and its import leaves them as they are.
local path = app.container.tmp .. "/empty.csv"
items:createItem{ name = "E", s = "", d = data(""), t = "x" }
items:createItem{ name = "F", s = "y", t = "z" }
local E, F = items:query("name == 'E'"):first(), items:query("name == 'F'"):first()
items:export(path, { columns = { "name", "s", "d", "t" } })
local created, report = items:import(path, { key = "name", update = true })
print(report.updated, report.unchanged, E.s == "", E.d == data(""))
-- expect: 0	2	true	true
-- expect log: 2 empty values written as no value: a cell has no empty text and no empty data (JSON and an archive have)
fs.write(path, "name,s,t\nE,,\nF,,\n")
created, report = items:import(path, { key = "name", update = true })
print(report.updated, E.s, E.t, F.s, F.t)
-- expect: 2		nil	nil	nil

-- JSON has both forms.
fs.write(path .. ".json", '[{"name": "E", "s": null}]')
print(select(2, items:import(path .. ".json", { key = "name", update = true })).updated, E.s)
-- expect: 1	nil

-- A NUL, which the import refuses, is refused by the export.
items:createItem{ name = "N", itemKey = "n", s = "a\0b" }
print(select(2, items:export(path)))
-- expect: item 'N', itemKey n, field s: a cell of CSV cannot hold a NUL: JSON or an archive has it
print(items:export(path .. ".json") ~= nil)
-- expect: true
