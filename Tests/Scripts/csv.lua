-- CSV: cells byte for byte, both ways.

local path = app.container.tmp .. "/things.csv"
assert(fs.write(path, 'name,note\r\nBear,"two\r\nlines, a ""quote"""\r\n"  spaces ",\xff\r\n'))
for row in csv.rows(path) do print(#row.name, row.name, #row.note, (row.note:gsub("[\r\n]", "|"):gsub("\xff", "FF"))) end
-- expect: 4	Bear	21	two||lines, a "quote"
-- expect: 9	  spaces 	1	FF
for row in csv.rows(path, { header = false }) do print(#row, row[1]) end
-- expect: 2	name
-- expect: 2	Bear
-- expect: 2	  spaces 
assert(fs.write(path, "a;b\n1;2\n"))
for row in csv.rows(path, { delimiter = ";" }) do print(row.a, row.b, math.type(row.a)) end
-- expect: 1	2	nil

assert(csv.write(path, { { b = "x,y", a = 1 }, { a = "line\nbreak" } }))
print((fs.read(path):gsub("\r", "<CR>")))
-- expect: a,b<CR>
-- expect: 1,"x,y"<CR>
-- expect: "line
-- expect: break",<CR>
-- expect:
assert(csv.write(path, { { a = 1, b = 2, c = 3 } }, { columns = { "c", "a" } }))
print((fs.read(path):gsub("\r\n", "|")))
-- expect: c,a|3,1|
assert(csv.write(path, { { d = date("2001-02-03 04:05:06.25 +0000"), f = true } }))
print((fs.read(path):gsub("\r\n", "|")))
-- expect: d,f|2001-02-03T04:05:06.25Z,true|
print((select(2, pcall(csv.rows, app.container.tmp .. "/nothing.csv")):gsub("/.*/", "…/")))
-- expect: cannot open …/nothing.csv: No such file or directory
print(pcall(csv.rows, path, { delimiter = "ab" }))
-- expect: false	bad argument #2 'options' to 'csv.rows' (option 'delimiter': one ASCII character expected, got 'ab')
print(pcall(csv.rows, path, { headers = true }))
-- expect: false	bad argument #2 'options' to 'csv.rows' (unknown option 'headers'; did you mean 'header'?)
print(pcall(csv.write, path, { "row" }))
-- expect: false	bad argument #2 'rows' to 'csv.write' (row 1 is not a table)
-- A row longer than the header, and one that is shorter.
assert(fs.write(path, "a,b\n1,2,3\n4\n"))
print(pcall(function() for row in csv.rows(path) do print(row.a, row.b, row[3]) end end))
-- expect: 1	2	3
-- expect: 4	nil	nil
-- expect: true
assert(fs.write(path, 'a\n"never closed\n'))
print((select(2, pcall(function() for _ in csv.rows(path) do end end)):gsub("/.*/", "…/")))
-- expect: csv.lua:44: …/things.csv: row 2, line 3: the text ends in a quoted cell; its closing quote is missing
assert(fs.write(path, ""))
for _ in csv.rows(path) do print("a row of nothing") end

-- Each column has a name of its own, and what is not such a file is refused.
assert(fs.write(path, "name,,a,a\n1,2,3,4\n"))
for row in csv.rows(path) do print(row.name, row.column2, row.a, row.a_2) end
-- expect log: /things.csv: column 2 has no name: read as column2
-- expect log: /things.csv: column 4 has the name of an earlier one: read as a_2
-- expect: 1	2	3	4
local function refused(bytes, options)
  assert(fs.write(path, bytes))
  print((select(2, pcall(csv.rows, path, options)):gsub("^.*things.csv: ", "")))
end
refused("name;price\nLamp;12\n")
-- expect: row 1, line 1: the header is one name with ";" in it, name;price: give delimiter = ";", or write the name in quotes
refused("n\0a\0,\0b\0\n\0")
-- expect: it is UTF-16, without a mark: give encoding = "utf-16"
refused("\xff\xfea\0\n\0")
-- expect: it is UTF-16 by its first bytes: give encoding = "utf-16"
refused("\x1f\x8b\8\0")
-- expect: the compressed file ends early, after 0 bytes of its content: it is cut
assert(fs.write(path, "\xff\xfea\0\n\0\xe9\0\n\0"))
for row in csv.rows(path, { encoding = "utf-16" }) do print(row.a) end
-- expect: é

-- The import's options of lines and cells.
assert(fs.write(path, "Title\nname,n\n# a comment\nA,NA\nB,2\n"))
for row in csv.rows(path, { skip = 1, comment = "#", null = { "NA", "-" } }) do print(row.name, row.n) end
-- expect: A	nil
-- expect: B	2
print(pcall(csv.rows, path, { skip = -1 }))
-- expect: false	bad argument #2 'options' to 'csv.rows' (option 'skip' is a number of lines, and option 'comment' a text such as "#")

-- Rows that are arrays: each value is written, or the row is refused.
local long = {}
for place = 1, 11 do long[place] = place * place end
assert(csv.write(path, { long, { "only" } }))
print((fs.read(path):gsub("\r\n", "|")))
-- expect: 1,2,3,4,5,6,7,8,9,10,11|1,4,9,16,25,36,49,64,81,100,121|only,,,,,,,,,,|
assert(csv.write(path, { { 1, 2 }, { 3 } }, { columns = { "a", "b" } }))
print((fs.read(path):gsub("\r\n", "|")))
-- expect: a,b|1,2|3,|
print(pcall(csv.write, path, { { 1, 2, 3 } }, { columns = { "a", "b" } }))
-- expect: false	bad argument #2 'rows' to 'csv.write' (row 1 has a value at 3, and there are 2 columns)
print(pcall(csv.write, path, { { [true] = 1 } }))
-- expect: false	bad argument #2 'rows' to 'csv.write' (row 1: a column is a text or a position, got true)

-- Null is an empty cell, and what no cell has is refused by its place.
assert(csv.write(path, { { a = null, b = "x" }, { a = { null, 1 }, b = "" } }))
print((fs.read(path):gsub("\r\n", "|")))
-- expect: a,b|,x|"[null,1]",|
for _, value in ipairs{ 0/0, -(0/0), 1/0, -1/0, { 1/0 }, { [1.5] = 1 } } do
  print(select(2, pcall(csv.write, path, { { a = 1 }, { a = 2, b = value } })))
end
-- expect: bad argument #2 'rows' to 'csv.write' (row 2, column b: a cell has no nan: it would be read as a text)
-- expect: bad argument #2 'rows' to 'csv.write' (row 2, column b: a cell has no nan: it would be read as a text)
-- expect: bad argument #2 'rows' to 'csv.write' (row 2, column b: a cell has no inf: it would be read as a text)
-- expect: bad argument #2 'rows' to 'csv.write' (row 2, column b: a cell has no -inf: it would be read as a text)
-- expect: bad argument #2 'rows' to 'csv.write' (row 2, column b: [1]: JSON has no inf)
-- expect: bad argument #2 'rows' to 'csv.write' (row 2, column b: JSON has only texts as keys, and a dictionary has the real 1.5: make it a text)
print((fs.read(path):gsub("\r\n", "|")))
-- expect: a,b|,x|"[null,1]",|

-- Rows are an array of tables, and nothing beside it is left out.
assert(fs.write(path, "as it was"))
for _, rows in ipairs{ { [1] = { a = 1 }, [3] = { a = 3 } }, { { a = 1 }, x = { a = 3 } }, { rows = { { a = 1 } } }, { [0] = {} } } do
  local ok, text = pcall(csv.write, path, rows)
  print(ok, (text:gsub("key 3", "key …"):gsub("row 2 is not a table", "rows are numbered from 1 without a gap, and there is the key …")))
end
-- expect: false	bad argument #2 'rows' to 'csv.write' (rows are numbered from 1 without a gap, and there is the key …)
-- expect: false	bad argument #2 'rows' to 'csv.write' (rows are numbered from 1 without a gap, and there is the key x)
-- expect: false	bad argument #2 'rows' to 'csv.write' (rows are numbered from 1 without a gap, and there is the key rows)
-- expect: false	bad argument #2 'rows' to 'csv.write' (rows are numbered from 1 without a gap, and there is the key 0)
print(pcall(csv.write, path, { { [3] = "c" } }, { columns = { "a", "b" } }))
-- expect: false	bad argument #2 'rows' to 'csv.write' (row 1 has a value at 3, and there are 2 columns)

-- A value without a text of its own is no cell.
for _, value in ipairs{ print, io.stdout, coroutine.create(print), { print } } do
  print(select(2, pcall(csv.write, path, { { a = 1 }, { b = value } })))
end
-- expect: bad argument #2 'rows' to 'csv.write' (row 2, column b: a cell holds text, got a function)
-- expect: bad argument #2 'rows' to 'csv.write' (row 2, column b: a cell holds text, got a userdata)
-- expect: bad argument #2 'rows' to 'csv.write' (row 2, column b: a cell holds text, got a thread)
-- expect: bad argument #2 'rows' to 'csv.write' (row 2, column b: [1]: a function is not a property-list value (string, number, boolean, date, data, array, dictionary))
print(fs.read(path))
-- expect: as it was
assert(csv.write(path, { { a = true, b = plist.integer("18446744073709551615"), c = date("2026-01-02") } }))
print((fs.read(path):gsub("\r\n", "|")))
-- expect: a,b,c|true,18446744073709551615,2026-01-02T00:00:00Z|

-- A column that no row has is written, and said.
assert(csv.write(path, { { name = "Lamp", room = "Study" } }, { columns = { "name", "rome" } }))
-- expect log: csv.write: the option columns names rome, which no row has a value of: the column is empty
print((fs.read(path):gsub("\r\n", "|")))
-- expect: name,rome|Lamp,|
