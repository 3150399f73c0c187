-- A field of any declared kind comes back from every format that an export writes.
local kinds = {
  d = "data", a = "array", m = "dictionary", s = "string", i = "integer", r = "real", n = "number", b = "boolean",
  t = "date", y = { kind = "date", format = "day" }, p = { kind = "real", format = "money" }, x = "any",
}
assert(items:declare(kinds))
local values = {
  d = data("\0\1abc"), a = { 1, "two", { 3 }, {} }, m = { w = 1, h = { z = "q" } }, s = "007", i = 3, r = 1.0, n = 2,
  b = true, t = date("2024-01-31 10:00:00"), y = date("2024-02-29"), p = 12.5, x = "any",
}
local function clear() while #items > 0 do items:removeItem(items[1]) end end
for _, format in ipairs{ "csv", "tsv", "json", "jsonl", "plist", "sqlite" } do
  local path = app.container.tmp .. "/all." .. format
  clear()
  local item = items:createItem{ name = "N", itemKey = "k", dateCreated = date(0) }
  for name, value in pairs(values) do item[name] = value end
  local before = json.encode(item)
  assert(items:export(path))
  -- Nothing is another value, and an item that lacks them gets all.
  local _, same = items:import(path, { key = "itemKey" })
  clear()
  items:import(path, { key = "itemKey" })
  print(format, same.unchanged, json.encode(items[1]) == before)
end
-- expect: csv	1	true
-- expect: tsv	1	true
-- expect: json	1	true
-- expect: jsonl	1	true
-- expect: plist	1	true
-- expect: sqlite	1	true

-- A text that is not of the declared kind is refused with the row, and kept by rejects alone.
local path, rest = app.container.tmp .. "/bad.csv", app.container.tmp .. "/rest.csv"
clear()
assert(fs.write(path, "name,d,a\nA,AAFh,[1]\nB,%%,[1]\nC,AAFh,[1\nD,AAFh,{}\n"))
print(items:import(path), #items)
-- expect: nil	0
local _, report = items:import(path, { rejects = rest })
print(report.created, report.rejected, items[1].d == data("\0\1a"), items[1].a[1])
-- expect: 1	3	true	1
io.write((fs.read(rest):gsub("\r", "")))
-- expect: name,d,a,error
-- expect: B,%%,[1],"d is declared as data: ""%%"" is not one; give it another value, or declare it anew"
-- expect: C,AAFh,[1,"a is declared as an array: ""[1"" is not one; give it another value, or declare it anew"
-- expect: D,AAFh,{},"a is declared as an array: ""{}"" is not one; give it another value, or declare it anew"
print(pcall(items.import, items, path, { rejects = rest, onError = "stop" }))
-- expect: false	bad argument #2 'options' to 'items:import' (option 'rejects' is for rows that are left out: onError "stop" leaves none out)
-- expect log: all.csv: p real (2 decimals); other columns are text
-- expect log: all.csv: p real (2 decimals); other columns are text
-- expect log: all.tsv: p real (2 decimals); other columns are text
-- expect log: all.tsv: p real (2 decimals); other columns are text
