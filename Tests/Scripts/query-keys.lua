-- Keys of queries: fields, key paths, expressions and functions, for groups, sorts and sums; and what groups answer.

local function add(name, room, width, height, tags)
  return items:createItem{ name = name, room = room, width = width, height = height, dims = { w = width, h = height }, tags = tags }
end
add("Bear", "Study", 2, 3)
add("Lamp", "Hall", 4, 0.5)
add("Vase", "Study", 10, 1)
add("Rug", nil, 1, nil)
add("Fluffy Bear", "Attic", 2.5, 4)
add("Fluffy Rug", "Hall", 3, 3)

local function names(query)
  local found = {}
  for _, item in ipairs(query:all()) do found[#found + 1] = item.name end
  return table.concat(found, ",")
end

-- Sums of expressions: what has no value counts as none.
print(items:query():sum("width * height"), items:query():max("width * height"), items:query():average("dims.w + 1"))
-- expect: 37.0	10	4.75
print(items:query("room == 'Study'"):sum("width * height"), items:query("room == 'Study'"):min("name.length"))
-- expect: 16	4

-- Sorting: absent values first, equal ones in the store's order.
print(names(items:query():sorted("width * height")))
-- expect: Rug,Lamp,Bear,Fluffy Rug,Vase,Fluffy Bear
print(names(items:query():sorted("room", "descending"):sorted("width", "descending")))
-- expect: Vase,Bear,Lamp,Fluffy Rug,Fluffy Bear,Rug
print(names(items:query():sorted(function(item) return #item.name end, "descending"):limit(3)))
-- expect: Fluffy Bear,Fluffy Rug,Bear
print(names(items:query("width > 1"):sorted("dims.w", "descending"):limit(2)))
-- expect: Vase,Lamp

-- Groups of a key.
local function shown(groups)
  local found = {}
  for _, group in ipairs(groups) do found[#found + 1] = tostring(group.key) .. "=" .. group.count end
  return table.concat(found, " ")
end
local rooms = items:query():groupBy("room")
print(shown(rooms))
-- expect: Study=2 Hall=2 nil=1 Attic=1
local function firstWord(item) return item.name:match("^[^ ]*") end
print(shown(items:query():groupBy(firstWord)), #items:query():groupBy(firstWord))
-- expect: Bear=1 Lamp=1 Vase=1 Rug=1 Fluffy=2	5
print(shown(items:query():groupBy(function(item) return #item.name > 4 end)), shown(items:query():groupBy("dims.h")))
-- expect: false=4 true=2	3=2 0.5=1 1=1 nil=1 4=1

-- What groups answer: methods first, then keys.
local dearest = rooms:sorted("count", "descending"):limit(2)
print(shown(dearest), shown(rooms:sorted("key")), #rooms:limit(0))
-- expect: Study=2 Hall=2	nil=1 Attic=1 Hall=2 Study=2	0
local rows = rooms:aggregate{ n = "count()", area = "sum(width * height)", widest = "max(width)" }
print(#rows, rows[1].key, rows[1].n, rows[1].area, rows[1].widest, rows[3].key, rows[3].area)
-- expect: 4	Study	2	16	10	nil	0
print(rooms.Study.count, rooms:group("Hall").count, rooms:group("Cellar"), rooms.Cellar, type(rooms.limit))
-- expect: 2	2	nil	nil	function
add("limit", "limit", 1, 1)
local named = items:query():groupBy("room")
print(type(named.limit), named:group("limit").count)
-- expect: function	1
local widths = items:query():groupBy("width")
print(widths:group(1).count, widths:group(1.0).count, widths[1].key)
-- expect: 2	2	2
table.sort(widths, function(a, b) return a.count > b.count end)
print(widths[1].key)
-- expect: 1

-- A name that is a field is that field, else it is an expression.
items:createItem{ name = "odd", ["width * height"] = 7 }
print(items:query():sum("width * height"))
-- expect: 7

-- Mistakes.
print(select(2, pcall(function() return items:query():groupBy("rooom") end)):match("did you mean room"))
-- expect: did you mean room
print(select(2, pcall(function() return items:query():sorted("width +") end)):match("a value is missing at the end"))
-- expect: a value is missing at the end
print(select(2, pcall(function() return rooms:aggregate{ x = "total(width)" } end)):match("is not a function of items"))
-- expect: is not a function of items
print(select(2, pcall(function() return items:query():sum("room") end)):match('room cannot be added up: "Study"'))
-- expect: room cannot be added up: "Study"
