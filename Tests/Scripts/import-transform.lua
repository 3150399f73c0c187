-- What a function leaves as it was becomes a value of its column's kind; what it changes, removes or adds is taken.
local tmp = app.container.tmp .. "/"
local long = ("a name of more than forty bytes "):rep(3)
fs.write(tmp .. "a.csv", "name,n,note," .. long .. "\nA,1,x,p\nB,2,,q\nC,3,z,\nD,4,w,s\nE,5,v,t\n")
local same
local count = assert(items:import(tmp .. "a.csv", { transform = function(row)
  if row.name == "A" then return row end
  if row.name == "B" then
    assert(row.note == nil and row[long] == "q" and row.n == "2")
    row.note, row.n, row.added = "made", nil, { 1, "two" }
    return row
  end
  if row.name == "C" then return { name = "C", n = row.n, [long] = "new", added = 7 } end
  if row.name == "D" then return nil end
  same = row
  row[long] = row[long] .. ""
  row.n = row.n + 0
  return setmetatable(row, { __index = function() error("not looked at") end })
end }))
-- expect log: a.csv: n integer; other columns are text
print(count)
-- expect: 4
for _, item in ipairs(items:query():all()) do
  local added = item.added
  if type(added) == "table" then added = added[2] end
  print(item.name, item.n, item.note, item[long], added)
end
-- expect: A	1	x	p	nil
-- expect: B	nil	made	q	two
-- expect: C	3	nil	new	7
-- expect: E	5	v	t	nil

-- A table is the function's own: what it keeps does not change with the next row.
local kept = {}
assert(items:import(tmp .. "a.csv", { dryRun = true, transform = function(row) kept[#kept + 1] = row return row end }))
print(#kept, kept[1].name, kept[5].name, kept[2].note, kept[4][long])
-- expect: 5	A	E	nil	s

-- Values of a format that has kinds are values, and rows may have new names.
fs.write(tmp .. "b.jsonl", '{"name":"F","n":1,"tags":["x"],"none":null}\n{"name":"G","later":true,"n":2.5}\n{"name":"H"}\n')
assert(items:import(tmp .. "b.jsonl", { transform = function(row)
  if row.name == "F" then assert(row.n == 1 and row.tags[1] == "x" and row.none == nil and row.later == nil) end
  if row.name == "G" then assert(row.later == true and row.tags == nil) row.later = nil row.n = row.n * 2 end
  return row
end }) == 3)
local f, g, h = items:query("name == 'F'"):first(), items:query("name == 'G'"):first(), items:query("name == 'H'"):first()
print(f.n, f.tags[1], g.n, g.later, g.tags, h.n, h.later)
-- expect: 1	x	5.0	nil	nil	nil	nil

-- Many rows of random changes: each cell is what the function returned.
local rows, expected = { "name,a,b,c" }, {}
math.randomseed(4)
for i = 1, 500 do rows[#rows + 1] = ("R%d,%d,t%d,"):format(i, i, i % 7) end
fs.write(tmp .. "c.csv", table.concat(rows, "\n") .. "\n")
assert(items:import(tmp .. "c.csv", { transform = function(row)
  local wanted = { a = tonumber(row.a), b = row.b }
  for _, name in ipairs{ "a", "b", "c", "d" } do
    local choice = math.random(4)
    if choice == 1 then row[name] = nil wanted[name] = nil
    elseif choice == 2 then row[name] = "changed " .. math.random(9) wanted[name] = row[name] end
  end
  if math.random(2) == 1 then
    local other = {}
    for name, value in pairs(row) do other[name] = value end
    row = other
  end
  expected[row.name] = wanted
  return row
end }) == 500)
local wrong = 0
for _, item in ipairs(items:query("name BEGINSWITH 'R'"):all()) do
  for _, name in ipairs{ "a", "b", "c", "d" } do
    if item[name] ~= expected[item.name][name] then wrong = wrong + 1 end
  end
end
print(wrong)
-- expect: 0
print(select(2, pcall(items.import, items, tmp .. "a.csv", { transform = function(row) row[1] = "x" return row end })))
-- expect: bad argument #2 'options' to 'items:import' (option 'transform': a row's names are text, got 1)
local _, err = items:import(tmp .. "a.csv", { transform = function() error("no", 0) end })
print((tostring(err):gsub("^.-a%.csv", "a.csv")))
-- expect: a.csv, row 2: transform: no
