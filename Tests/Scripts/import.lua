-- Items from files and to files: CSV, JSON, property lists, archives.
local tmp = app.container.tmp .. "/"
local function write(name, text) assert(fs.write(tmp .. name, text)) return tmp .. name end
local function tell(count, err)
  if count then print(count) else print(err.code, err.message:sub(1, #tmp) == tmp and err.message:sub(#tmp + 1) or err.message) end
end
local function names()
  local list = {}
  for _, item in items:each() do list[#list + 1] = item.name end
  return table.concat(list, " ")
end

-- CSV: a header, typed fields of the domain, custom ones of the kind that their columns show.
local csv = write("a.csv", 'name,valueInDollars,dateCreated,room\n"Lamp, red",12,2001-02-03,Study\nBear,,,\n')
tell(items:import(csv))
-- expect: 2
local lamp = items[1]
print(lamp.name, lamp.valueInDollars, lamp.dateCreated, lamp.room, items[2].valueInDollars, items[2].room, items[2].serialNumber)
-- expect: Lamp, red	12	2001-02-03 00:00:00 +0000	Study	0	nil	nil

-- Columns get other names, or are left out.
local renamed = write("b.csv", "Title;Price;Notes\nClock;7;old\n")
tell(items:import(renamed, { delimiter = ";", map = { Title = "name", Price = "valueInDollars", Notes = false } }))
-- expect: 1
print(items[3].name, items[3].valueInDollars, #items[3]:fields())
-- expect: Clock	7	0
tell(items:import(renamed, { delimiter = ";", map = { Titel = "name" } }))
-- expect: unreadableFile	b.csv has no column 'Titel' to be renamed; did you mean Title?
tell(items:import(renamed, { delimiter = ";", map = { name = "Title" } }))
-- expect: unreadableFile	b.csv has no column 'name' to be renamed; it has 'Title': a map goes from the file's names to the items'
tell(items:import(renamed, { delimiter = ";", map = { remarks = "comment" } }))
-- expect: unreadableFile	b.csv has no column 'remarks' to be renamed; it has Notes, Price, Title

-- One row that is not an item, and nothing is taken; the error names the row, the header counted.
tell(items:import(write("c.csv", "name,valueInDollars\nA,1\nB,two\n")))
-- expect: invalidRow	c.csv, row 3: valueInDollars takes an integer: "two" is not one
tell(items:import(write("d.csv", "itemKey,name\nsame,A\nsame,B\n")))
-- expect: invalidRow	d.csv, row 3: an item with the itemKey same is in the store already
tell(items:import(write("e.csv", "name,dateCreated\nA,yesterday\n")))
-- expect: invalidRow	e.csv, row 2: dateCreated takes a date in ISO 8601: "yesterday" is not one
tell(items:import(write("f.csv", "name\nA,too,many\n")))
-- expect: invalidRow	f.csv, row 2: 3 cells, and the header has 1 name; lines above the header are left out by skip = 1, comments by comment = "#"
tell(items:import(write("g.csv", 'name\n"open\n')))
-- expect: invalidRow	g.csv, row 2: line 2: the text ends in a quoted cell; its closing quote is missing
tell(items:import(write("h.csv", "name\n\xff\n"), { encoding = "utf-8" }))
-- expect: invalidRow	h.csv, row 2: column 'name' has bytes that are not UTF-8: give its encoding, such as encoding = "windows-1252"
print(names(), #items)
-- expect: Lamp, red Bear Clock	3
-- Columns that no field can be are errors of the file, with what renames them; of records they are the rows'.
tell(items:import(write("i.csv", "name,copy\nA,1\n")))
-- expect: unreadableFile	i.csv: column 'copy': Item.copy is a method and cannot be a field: give map = { ["copy"] = "copy_2" }
for _, name in ipairs{ "image", "images" } do
  tell(items:import(write("i.csv", "name," .. name .. "\nA,x\n"), { onError = "skip" }))
  tell(items:import(write("i.json", '[{"name":"A","' .. name .. '":"x"}]')))
  tell(items:import(write("i.csv", "name,Foto\nA,x\n"), { map = { Foto = name } }))
  tell(items:import(write("i.csv", "name\nA\n"), { transform = function(row) row[name] = "x" return row end }))
end
-- expect: unreadableFile	i.csv: column 'image': Item.image is the item's picture and cannot be a field: give map = { ["image"] = "picture" }
-- expect: invalidRow	i.json, row 1: column 'image': Item.image is the item's picture and cannot be a field: give map = { ["image"] = "picture" }
-- expect: unreadableFile	i.csv: column 'Foto': Item.image is the item's picture and cannot be a field: give map = { ["Foto"] = "picture" }
-- expect: invalidRow	i.csv, row 2: field 'image': Item.image is the item's picture and cannot be a field
-- expect: unreadableFile	i.csv: column 'images': Item.images are the item's pictures and cannot be a field: give map = { ["images"] = "pictures" }
-- expect: invalidRow	i.json, row 1: column 'images': Item.images are the item's pictures and cannot be a field: give map = { ["images"] = "pictures" }
-- expect: unreadableFile	i.csv: column 'Foto': Item.images are the item's pictures and cannot be a field: give map = { ["Foto"] = "pictures" }
-- expect: invalidRow	i.csv, row 2: field 'images': Item.images are the item's pictures and cannot be a field
print(select(2, items:import(write("i.json", '[{"name":"A","image":"x"}]'), { onError = "skip", dryRun = true })))
-- expect: 0 created, 0 updated, 0 unchanged, 1 rejected
tell(items:import(write("i.csv", "name,d\nA,2024-13-01\n"), { types = { d = "date(d.M.yyyy)" } }))
-- expect: invalidRow	i.csv, row 2: d takes a date as d.M.yyyy: "2024-13-01" is not one

-- An import is one transaction, told once, undone at once.
items:on("didChangeMany", { id = "many" }, function(event) print("many", event.inserted, event.removed) end)
items:on("didInsert", { id = "one" }, function() print("never") end)
tell(items:import(csv))
-- expect: many	2	0
-- expect: 2
print(items:undo(), #items)
-- expect: many	0	2
-- expect: true	3
app:off("many")
app:off("one")
print(pcall(items.transaction, items, function()
  items:import(csv)
  error("no")
end))
-- expect: false	import.lua:84: no
print(#items)
-- expect: 3

-- A handler that refuses one refuses all.
items:on("willInsert", { id = "no bears" }, function(event) if event.item.name == "Bear" then event:veto("no bears") end end)
tell(items:import(csv))
-- expect: invalidRow	a.csv, row 3: the change was refused: no bears
app:off("no bears")

-- JSON and property lists: arrays of records.
tell(items:import(write("a.json", '[{"name":"J","valueInDollars":3,"tags":["a","b"],"gone":null,"dateCreated":"2001-01-01T00:00:00Z"}]')))
-- expect: 1
print(items[4].name, items[4].tags[2], items[4].gone, items[4].dateCreated)
-- expect: J	b	nil	2001-01-01 00:00:00 +0000
tell(items:import(write("b.json", '[{"name":"ok"},{"name":true}]')))
-- expect: invalidRow	b.json, row 2: name takes a string: true is not one
tell(items:import(write("c.json", "true")))
-- expect: unreadableFile	c.json: objects, or an array of them, are expected, and this is true
local _, err = items:import(write("d.json", "[{"))
print(err.code, err.path == tmp .. "d.json")
-- expect: unreadableFile	true

-- Out and in again, in each format.
items[4].weight = 2.5
items[4].when = date("1999-12-31T23:59:59.5Z")
items[4].raw = data("\0\1")
for _, item in items:each() do item.dateCreated = date("2001-02-03") end
local all = {}
for _, item in items:each() do all[#all + 1] = tostring(item) .. item.itemKey end
for _, name in ipairs{ "out.csv", "out.json", "out.plist", "out.archive" } do
  print(name, items:export(tmp .. name))
  local count = #items
  items:transaction(function()
    items:query():remove()
    assert(items:import(tmp .. name))
    local same = #items == count
    for position, item in items:each() do same = same and tostring(item) .. item.itemKey == all[position] end
    print(same, type(items[4].tags), items[4].weight, items[4].when, items[4].raw)
  end)
  items:undo()
end
-- expect: out.csv	4
-- expect log: out.csv: weight real; when date; other columns are text
-- expect: true	string	2.5	1999-12-31 23:59:59.5 +0000	AAE=
-- expect: out.json	4
-- expect: true	table	2.5	1999-12-31T23:59:59.5Z	AAE=
-- expect log: out.plist: 1 date lost its fraction of a second, which XML does not have; the binary form and JSON do
-- expect: out.plist	4
-- expect: true	table	2.5	1999-12-31 23:59:59 +0000	<2 bytes: 0001>
-- expect: out.archive	4
-- expect: true	table	2.5	1999-12-31 23:59:59.5 +0000	<2 bytes: 0001>
print(items:export(tmp .. "some.csv", { map = { name = "Title", itemKey = false, dateCreated = false, raw = false, tags = false, when = false } }))
-- expect: 4
io.write((fs.read(tmp .. "some.csv"):gsub("\r", "")))
-- expect: Title,serialNumber,valueInDollars,room,weight
-- expect: "Lamp, red",,12,Study,
-- expect: Bear,,0,,
-- expect: Clock,,7,,
-- expect: J,,3,,2.5

-- What is refused, and what the world refuses.
print(select(2, pcall(items.import, items, "a.xyz")))
-- expect: bad argument #1 'path' to 'items:import' (the extension of 'a.xyz' names no format: give options.format, csv, tsv, json, jsonl, plist, archive, sqlite, xlsx or ods)
print(pcall(items.export, items, tmp .. "x.csv", { map = { nmae = "Title" } }))
-- expect: false	no item has a field nmae: did you mean name?
print(pcall(items.import, items, csv, { fromat = "csv" }))
-- expect: false	bad argument #2 'options' to 'items:import' (unknown option 'fromat'; did you mean 'format'?)
print(pcall(items.import, items, csv, { columns = {} }))
-- expect: false	bad argument #2 'options' to 'items:import' (unknown option 'columns'; there are 'format', 'map', 'key', 'update', 'types', 'transform', 'onError', 'rejects', 'encoding', 'table', 'dryRun', 'delimiter', 'progress', 'skip', 'comment', 'header', 'null', 'decimal', 'date', 'sheet', 'path', 'pictures', 'by', 'profile')
local none, missing = items:import(tmp .. "nothing.csv")
print(none, missing.domain, missing.code)
-- expect: nil	NSPOSIXErrorDomain	2
tell(items:import(write("not.archive", "text")))
-- expect: unreadableFile	not.archive is not an archive of items: this is neither a binary nor an XML property list (at byte 0)
