-- Items and the items of queries go out.
local tmp = app.container.tmp .. "/"
items:createItem{ name = "Lamp \"old\"\n", valueInDollars = 9, itemKey = "k1", dateCreated = date("2001-02-03T04:05:06.123456Z"), width = 13.0, on = true, tags = { "a" } }
items:createItem{ name = "Bear", serialNumber = "1A", valueInDollars = 12, itemKey = "k2", dateCreated = date("2001-02-03"), raw = data("\0\1") }
local dear = items:query("valueInDollars > 5"):sorted("valueInDollars", "descending")

print(dear:export(tmp .. "a.jsonl"))
-- expect: 2
io.write(fs.read(tmp .. "a.jsonl"))
-- expect: {"name":"Bear","serialNumber":"1A","valueInDollars":12,"dateCreated":"2001-02-03T00:00:00Z","itemKey":"k2","raw":"AAE="}
-- expect: {"name":"Lamp \"old\"\n","valueInDollars":9,"dateCreated":"2001-02-03T04:05:06.123456Z","itemKey":"k1","on":true,"tags":["a"],"width":13.0}
print(dear:limit(1):export("-", { format = "jsonl", columns = { "valueInDollars", "name" }, map = { name = "Title" } }))
-- expect: {"valueInDollars":12,"Title":"Bear"}
-- expect: 1
print(items:export("/dev/stdout", { format = "jsonl", columns = { "itemKey", "width" } }))
-- expect: {"itemKey":"k1","width":13.0}
-- expect: {"itemKey":"k2"}
-- expect: 2
print(csv.write(tmp .. "q.csv", dear, { columns = { "name", "tags" }, delimiter = ";" }))
-- expect: true
print((fs.read(tmp .. "q.csv"):gsub("\r\n", "|"):gsub("\n", "<LF>")))
-- expect: name;tags|Bear;|"Lamp ""old""<LF>";"[""a""]"|
print(json.encode(items[2]))
-- expect: {"dateCreated":"2001-02-03T00:00:00Z","itemKey":"k2","name":"Bear","raw":"AAE=","serialNumber":"1A","valueInDollars":12}
print(#json.decode(json.encode(dear)), json.encode(items:query("valueInDollars > 100")))
-- expect: 2	[]
print(json.encode(items:query("valueInDollars == 12"), { pretty = true }) == "[\n  " .. json.encode(items[2], { pretty = true }):gsub("\n", "\n  ") .. "\n]")
-- expect: true
print(json.encode{ when = date("1999-12-31T23:59:59.5Z") })
-- expect: {"when":"1999-12-31T23:59:59.5Z"}

-- Out and in again changes nothing.
for _, name in ipairs{ "a.csv", "a.tsv", "a.json", "b.jsonl", "a.plist", "b.archive" } do
  assert(items:export(tmp .. name))
  local _, report = items:import(tmp .. name, { key = "itemKey", update = true })
  print(name, report)
end
-- A property list has no part of a second.
-- expect log: a.csv: width real; on boolean; other columns are text
-- expect: a.csv	0 created, 0 updated, 2 unchanged, 0 rejected
-- expect: a.tsv	0 created, 0 updated, 2 unchanged, 0 rejected
-- expect: a.json	0 created, 0 updated, 2 unchanged, 0 rejected
-- expect: b.jsonl	0 created, 0 updated, 2 unchanged, 0 rejected
-- expect log: a.plist: 1 date lost its fraction of a second, which XML does not have; the binary form and JSON do
-- expect: a.plist	0 created, 1 updated, 1 unchanged, 0 rejected
-- expect: b.archive	0 created, 0 updated, 2 unchanged, 0 rejected
-- An archive of a part.
print(dear:limit(1):export(tmp .. "c.archive", { columns = { "name" } }), archiver.open(tmp .. "c.archive") ~= nil)
-- expect: 1	true

-- What is refused.
print(pcall(dear.export, dear, tmp .. "x.csv", { columns = { "nmae" } }))
-- expect: false	no item has a field nmae: did you mean name?
print(fs.exists(tmp .. "x.csv"))
-- expect: false
print(select(2, pcall(dear.export, dear, "-")))
-- expect: bad argument #1 'path' to 'Query:export' (the extension of '-' names no format: give options.format, csv, tsv, json, jsonl, plist, archive or sqlite)
items[1].width = 1/0
print(pcall(json.encode, items[1]))
-- expect: true	nil	item 'Lamp "old"\n', itemKey k1, field width: JSON has no inf
print(select(2, dear:export(tmp .. "no/such/folder.csv")).code)
-- expect: 2

-- A character that XML does not have.
items[1].name = "a\1b"
print(items:export(tmp .. "foreign.plist") > 0)
-- expect: true
-- expect log: XML does not have the character U+0001, which is in “a\1b”
