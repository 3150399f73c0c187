-- Parts of fields, files for a spreadsheet, numbers that are none, and tables beside others.
local tmp = app.container.tmp .. "/"
items:createItem{ name = "0042", itemKey = "k1", price = 12.5, n = 1/0, dims = { w = 2 }, dateCreated = date("2024-01-31") }
items:createItem{ name = "=1+1", itemKey = "k2", price = 1234.25, dateCreated = date("2024-01-31T10:00:00Z") }
local function export(options)
  options.columns = options.columns or { "name", "price", "dims.w", "dateCreated" }
  print(items:export(tmp .. "a.csv", options))
  io.write((fs.read(tmp .. "a.csv"):gsub("\r", ""):gsub("\u{FEFF}", "<mark>")))
end
export{ map = { ["dims.w"] = "width" } }
-- expect: 2
-- expect: name,price,width,dateCreated
-- expect: 0042,12.5,2,2024-01-31T00:00:00Z
-- expect: =1+1,1234.25,,2024-01-31T10:00:00Z
export{ ["for"] = "excel", delimiter = ";" }
-- expect: 2
-- expect: <mark>name;price;dims.w;dateCreated
-- expect: "=""0042""";12,5;2;2024-01-31
-- expect: "=""=1+1""";1234,25;;2024-01-31 10:00:00
export{ ["for"] = "excel", delimiter = ",", columns = { "price" } }
-- expect: 2
-- expect: <mark>price
-- expect: 12.5
-- expect: 1234.25
print(items:export(tmp .. "b.csv", { columns = { "n" } }))
-- expect: nil	item '0042', itemKey k1, field n: a cell of CSV has no inf: it would be read as a text: nan = "null" writes null (on the command line --nan null)
print(fs.exists(tmp .. "b.csv"))
-- expect: false
export{ columns = { "name", "n" }, nan = "null" }
-- expect log: 1 number NaN or infinite: written as null
-- expect: 2
-- expect: name,n
-- expect: 0042,
-- expect: =1+1,
print(items:export(tmp .. "n.jsonl", { columns = { "n" }, nan = "null" }), (fs.read(tmp .. "n.jsonl"):gsub("\n", "|")))
-- expect log: 1 number NaN or infinite: written as null
-- expect: 2	{"n":null}|{}|

-- A table goes beside those of others; without its name the file is replaced.
local function tables()
  local database = assert(sqlite.open(tmp .. "shop.sqlite", { readOnly = true }))
  local names = {}
  for row in database:rows("select name from sqlite_master order by name") do table.insert(names, row.name) end
  database:close()
  return table.concat(names, " ")
end
local database = assert(sqlite.open(tmp .. "shop.sqlite"))
database:execute("create table mine(x)")
database:close()
print(items:export(tmp .. "shop.sqlite", { table = "things", columns = { "name" } }), tables())
-- expect: 2	mine things
print(items:query("price < 100"):export(tmp .. "shop.sqlite", { table = "Things", columns = { "name" } }), tables())
-- expect log: a table of this name was there, with 2 rows: replaced
-- expect: 1	Things mine
print(items:export(tmp .. "shop.sqlite", { columns = { "name" } }), tables())
-- expect: 2	items

-- Options of another format are refused, not ignored.
print(tostring(select(2, pcall(items.export, items, tmp .. "a.csv", { table = "t" }))):match("%(.*"))
-- expect: (option 'table': for sqlite, and the format is csv)
print(tostring(select(2, pcall(items.export, items, tmp .. "a.jsonl", { ["for"] = "excel" }))):match("%(.*"))
-- expect: (option 'for': for csv and tsv, and the format is jsonl)
print(tostring(select(2, pcall(items.export, items, tmp .. "a.csv", { ["for"] = "word" }))):match("option 'for'"))
-- expect: option 'for'
