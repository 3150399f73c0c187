-- An import that can run again: keys, kinds, rows that are not items, encodings.
local tmp = app.container.tmp .. "/"
local function write(name, text) assert(fs.write(tmp .. name, text)) return tmp .. name end
local function tell(count, report)
  if count then return print(count, report) end
  print(report.code, report.message:sub(1, #tmp) == tmp and report.message:sub(#tmp + 1) or report.message)
end

-- Kinds: a column has one when all its cells are in one canonical style.
local csv = write("a.csv", [[
accession_number,name,year,width,height,price,code,on_view,acquired,seen
1.10,Lamp,1906,5.875,13,10.50,007,true,1906-10-17,2001-02-03T04:05:06Z
1.1,Bear,-3,13.0,2.5,3.25,8,false,,2001-02-03T04:05:06.25Z
2006.10,Bowl,0,0,1,2.00,9,true,2000-02-29,2001-02-03T04:05:06Z
]])
tell(items:import(csv, { key = "accession_number", update = true }))
-- expect log: a.csv: year integer; width, height real; price real (2 decimals); on_view boolean; acquired, seen date; other columns are text
-- expect: 3	3 created, 0 updated, 0 unchanged, 0 rejected
local lamp, bear = items[1], items[2]
print(math.type(lamp.year), lamp.year, bear.year, math.type(lamp.width), lamp.width, bear.width, items[3].width, lamp.height)
-- expect: integer	1906	-3	float	5.875	13.0	0.0	13.0
print(lamp.accession_number, bear.accession_number, lamp.price, lamp.code, lamp.on_view, bear.on_view)
-- expect: 1.10	1.1	10.5	007	true	false
print(lamp.acquired, bear.acquired, bear.seen == date("2001-02-03T04:05:06.25Z"))
-- expect: 1906-10-17	nil	true

-- The same file twice changes nothing, also for observers.
items:on("didChangeMany", { id = "many" }, function(event) print("many", event.inserted, event.updated) end)
tell(items:import(csv, { key = "accession_number", update = true }))
-- expect: 0	0 created, 0 updated, 3 unchanged, 0 rejected

-- Fields of the file replace, or existing items are left.
local newer = write("b.csv", [[
accession_number,name,year,acquired
1.10,Lamp,1907,
2006.10,Bowl,0,2000-02-29
3,New,1,
]])
tell(items:import(newer, { key = "accession_number" }))
-- expect: many	1	0
-- expect: 1	1 created, 0 updated, 2 unchanged, 0 rejected
print(lamp.year, lamp.acquired ~= nil)
-- expect: 1906	true
local count, report = items:import(newer, { key = "accession_number", update = true })
-- expect: many	0	2
print(count, report.created, report.updated, report.unchanged, report.rejected, report.total)
-- expect: 1	0	1	2	0	3
print(lamp.year, lamp.acquired, lamp.width, #items)
-- expect: 1907	nil	5.875	4
print(items:undo(), lamp.year)
-- expect: many	0	2
-- expect: true	1906
app:off("many")

-- A dry run counts, and changes nothing.
tell(items:import(newer, { key = "accession_number", update = true, dryRun = true }))
-- expect: 1	0 created, 1 updated, 2 unchanged, 0 rejected
print(lamp.year)
-- expect: 1906

-- Several fields are a key; itemKey is one.
local pairs_ = write("c.csv", "room,shelf,name\nA,1,x\nA,2,y\nB,1,z\n")
tell(items:import(pairs_, { key = { "room", "shelf" } }))
-- expect: 3	3 created, 0 updated, 0 unchanged, 0 rejected
tell(items:import(pairs_, { key = { "room", "shelf" }, update = true }))
-- expect: 0	0 created, 0 updated, 3 unchanged, 0 rejected
local keyed = write("d.csv", "itemKey,name,n\nk1,One,1\nk2,Two,2\n")
tell(items:import(keyed, { key = "itemKey" }))
-- expect: 2	2 created, 0 updated, 0 unchanged, 0 rejected
tell(items:import(write("e.csv", "itemKey,name\nk2,Zwei\n"), { key = "itemKey", update = true }))
-- expect: 1	0 created, 1 updated, 0 unchanged, 0 rejected
print(items:item("k2").name, items:item("k2").n)
-- expect: Zwei	2

-- Keys that identify nothing.
tell(items:import(write("f.csv", "id,name\n1,a\n1,b\n"), { key = "id" }))
-- expect: invalidRow	f.csv, row 3: an earlier row has the same id
tell(items:import(write("g.csv", "id,name\n,a\n"), { key = "id" }))
-- expect: 1	1 created, 0 updated, 0 unchanged, 0 rejected
-- expect: 1 row without id: a new item, again with each import
tell(items:import(write("h.csv", "id,name\n1,a\n"), { key = "nmae" }))
-- expect: unreadableFile	h.csv has no column 'nmae' to be the key; did you mean name?
items:createItem{ name = "twin", twin = "t" }
items:createItem{ name = "twin", twin = "t" }
tell(items:import(write("i.csv", "twin,name\nt,a\n"), { key = "twin" }))
-- expect: invalidRow	i.csv, row 2: several items have the same twin: it identifies none of them
print(pcall(items.import, items, csv, { update = true }))
-- expect: false	bad argument #2 'options' to 'items:import' (option 'update' needs the option 'key', by which items are found)

-- Rows that are not items: left out, decided by a function, kept in a file.
local bad = write("j.csv", "Title,Price\nGood,1\nBad,two\nUgly,3.5\nFine,4\n")
local map = { Title = "name", Price = "valueInDollars" }
tell(items:import(bad, { map = map }))
-- expect: invalidRow	j.csv, row 3: column 'Price': valueInDollars takes an integer: "two" is not one
local count, report = items:import(bad, { map = map, onError = "skip", rejects = tmp .. "rejects.csv" })
print(count, report)
-- expect: 2	2 created, 0 updated, 0 unchanged, 2 rejected
io.write((fs.read(tmp .. "rejects.csv"):gsub("\r", "")))
-- expect: Title,Price,error
-- expect: Bad,two,"column 'Price': valueInDollars takes an integer: ""two"" is not one"
-- expect: Ugly,3.5,valueInDollars takes an integer: 3.5 is not one
local before = #items
tell(items:import(bad, { map = map, onError = function(row, line, message)
  print(row.name, row.valueInDollars, line, message)
  return row.name == "Bad" and "skip" or "stop"
end }))
-- expect: Bad	two	3	column 'Price': valueInDollars takes an integer: "two" is not one
-- expect: Ugly	3.5	4	valueInDollars takes an integer: 3.5 is not one
-- expect: invalidRow	j.csv, row 4: valueInDollars takes an integer: 3.5 is not one; a field of its own takes it: map = { ["Price"] = "price" }
print(#items - before)
-- expect: 0
print(pcall(items.import, items, bad, { map = map, onError = function() return "no" end }))
-- expect: false	bad argument #2 'options' to 'items:import' (option 'onError': the function answers "skip" or "stop")

-- A function makes the rows.
tell(items:import(write("k.csv", "name,n\na,1\nb,2\nc,3\n"), { transform = function(row)
  if row.n == "2" then return nil end
  row.name, row.twice = row.name:upper(), row.n * 2
  return row
end }))
-- expect: 2	2 created, 0 updated, 0 unchanged, 0 rejected
print(items[#items].name, items[#items].twice, items[#items - 1].twice)
-- expect: C	6	2
print(pcall(items.import, items, tmp .. "k.csv", { transform = function() return 5 end }))
-- expect: false	bad argument #2 'options' to 'items:import' (option 'transform': the function answers a row or nil, got 5)
tell(items:import(tmp .. "k.csv", { transform = function() error("no row", 0) end }))
-- expect: invalidRow	k.csv, row 2: transform: no row
-- It sees all cells as the texts that they are; what it leaves gets the columns' kinds, and its errors are the rows'.
tell(items:import(write("k2.csv", "name,valueInDollars,n,gone\na,\"$1,622.00\",1,x\nb,none,2,y\nc,$5.00,7,\n"), {
  onError = "skip", rejects = tmp .. "k2.rejects.csv",
  transform = function(row)
    assert(type(row.n) == "string" and row.dateCreated == nil)
    row.n = row.n == "7" and 70 or row.n
    row.gone, row.added = nil, row.name .. "!"
    row.valueInDollars = math.floor(tonumber((row.valueInDollars:gsub("[$,]", ""))))
    return row
  end }))
-- expect: 2	2 created, 0 updated, 0 unchanged, 1 rejected
local a, c = items[#items - 1], items[#items]
print(a.valueInDollars, a.n, math.type(a.n), a.gone, a.added, c.valueInDollars, c.n)
-- expect: 1622	1	integer	nil	a!	5	70
print((fs.read(tmp .. "k2.rejects.csv"):gsub("\r\n", "|"):gsub("k?import.again.lua:%d+", "AT")))
-- expect: name,valueInDollars,n,gone,error|b,none,2,y,"transform: AT: bad argument #1 to 'floor' (number expected, got nil)"|

-- Kinds by name, or none.
local typed = write("l.csv", "name,a,b,c,d\nx,1,2,true,2001-02-03\n")
tell(items:import(typed, { types = { a = "string", b = "real", d = "text" } }))
-- expect: 1	1 created, 0 updated, 0 unchanged, 0 rejected
local x = items[#items]
print(math.type(x.a), math.type(x.b), x.c, x.d)
-- expect: nil	float	true	2001-02-03
tell(items:import(typed, { types = "text", dryRun = true }))
-- expect: 1	1 created, 0 updated, 0 unchanged, 0 rejected
tell(items:import(typed, { types = { d = "integer" } }))
-- expect: invalidRow	l.csv, row 2: d takes an integer: "2001-02-03" is not one
tell(items:import(typed, { types = { e = "integer" } }))
-- expect: unreadableFile	l.csv has no column 'e' to have a kind; it has a, b, c, d, name
print(pcall(items.import, items, typed, { types = { d = "int" } }))
-- expect: false	bad argument #2 'options' to 'items:import' (option 'types': a kind by each field's name expected (string, integer, real, number, boolean, date, date(PATTERN)), got int for d)

-- Encodings.
local function names(from) local list = {} for i = from, #items do list[#list + 1] = items[i].name end return table.concat(list, " ") end
local from = #items + 1
tell(items:import(write("m.csv", "name\ncaf\xe9 \x80\n"), { encoding = "latin1" }))
-- expect: 1	1 created, 0 updated, 0 unchanged, 0 rejected
local little, big = "\xff\xfe", "\xfe\xff"
for char in ("name\ncaf"):gmatch(".") do little, big = little .. char .. "\0", big .. "\0" .. char end
little, big = little .. "\xe9\0\x3d\xd8\0\xde\n\0", big .. "\0\xe9\xd8\x3d\xde\0\0\n"
items:import(write("n.csv", little), { encoding = "utf-16" })
items:import(write("o.csv", big), { encoding = "auto" })
items:import(tmp .. "m.csv", { encoding = "auto" })
items:import(write("p.csv", "name\nüber\n"), { encoding = "auto" })
print(names(from))
-- expect: café € café😀 café😀 café € über
tell(items:import(tmp .. "n.csv", { encoding = "utf-8" }))
-- expect: unreadableFile	n.csv: it is UTF-16 by its first bytes: give encoding = "utf-16"
tell(items:import(tmp .. "n.csv"))
-- expect log: n.csv: utf-16; all columns are text
-- expect: 1	1 created, 0 updated, 0 unchanged, 0 rejected
-- expect: 1 new item is equal to one that was there: with key = "name" an import finds those again
tell(items:import(write("q.csv", "\xff\xfen\0a\0m\0e\0\n\0\x3d\xd8\n\0"), { encoding = "utf-16" }))
-- expect: unreadableFile	q.csv: this is not UTF-16: half of a surrogate pair is missing
tell(items:import(write("r.csv", "name\n\xff\n"), { encoding = "utf-8" }))
-- expect: invalidRow	r.csv, row 2: column 'name' has bytes that are not UTF-8: give its encoding, such as encoding = "windows-1252"

-- JSON Lines.
local lines = write("a.jsonl", '{"name":"J1","n":1.5}\n\n{"name":"J2","tags":["a"],"gone":null}\n')
tell(items:import(lines))
-- expect: 2	2 created, 0 updated, 0 unchanged, 0 rejected
-- expect: 1 null left out, the first of "gone": a field has a value or is absent
print(items[#items].tags[1], items[#items - 1].n)
-- expect: a	1.5
tell(items:import(lines, { key = "name", update = true }))
-- expect: 0	0 created, 0 updated, 2 unchanged, 0 rejected
-- expect: 1 null left out, the first of "gone": a field has a value or is absent
tell(items:import(write("b.jsonl", '{"name":"J3"}\n{"name":\n')))
-- expect: invalidRow	b.jsonl, row 2: not JSON: column 9: the JSON text ends where a value is expected
tell(items:import(tmp .. "b.jsonl", { onError = "skip" }))
-- expect: 1	1 created, 0 updated, 0 unchanged, 1 rejected

-- Files as they come, each with its option.
tell(items:import(write("u1.txt", "a;b\n1,5;x\n"), { header = { "weight", "room" }, skip = 1 }))
-- expect log: u1.txt: ";"; weight real (decimal comma); other columns are text
-- expect: 1	1 created, 0 updated, 0 unchanged, 0 rejected
-- expect: no column is the name of the items: give map = { ["room"] = "name" }
print(items[#items].weight, items[#items].room)
-- expect: 1.5	x
tell(items:import(write("u2.csv", "name,n,day,paid\nA,1,03/04/2021,ja\n//\nB,NA,05/06/2021,nein\n"), {
  comment = "//", null = "NA", date = "dd/MM/yyyy", types = { paid = "boolean" } }))
-- expect log: u2.csv: n integer; day date (dd/MM/yyyy); other columns are text
-- expect: 2	2 created, 0 updated, 0 unchanged, 0 rejected
print(items[#items].n, items[#items].day, items[#items].paid)
-- expect: nil	2021-06-05	false
tell(items:import(write("u3.csv", "name,when\nA,31.1.24\n"), { types = { when = "date(d.M.yy)" } }))
-- expect: 1	1 created, 0 updated, 0 unchanged, 0 rejected
print(items[#items].when)
-- expect: 2024-01-31
tell(items:import(write("u4.json", '{"a":[{"name":"A"}],"b":[{"name":"B"},{"name":"C"}]}')))
-- expect: unreadableFile	u4.json: it has several arrays of objects (a, b): give path = "a", or that of another one
tell(items:import(tmp .. "u4.json", { path = "b" }))
-- expect: 2	2 created, 0 updated, 0 unchanged, 0 rejected
-- expect: 2 new items are equal to ones that were there: with key = "name" an import finds those again
print(pcall(items.import, items, tmp .. "u3.csv", { types = { when = "date(QQQ" } }))
-- expect: false	bad argument #2 'options' to 'items:import' (option 'types': a kind by each field's name expected (string, integer, real, number, boolean, date, date(PATTERN)), got date(QQQ for when)

-- A field whose values are texts stays text.
tell(items:import(write("s.csv", "name,kind_of\na,x\n")))
-- expect: 1	1 created, 0 updated, 0 unchanged, 0 rejected
items:import(write("t.csv", "name,kind_of\nb,5\n"))
print(math.type(items[#items].kind_of), items[#items].kind_of)
-- expect: nil	5
