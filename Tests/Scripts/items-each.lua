-- Iterating while the store changes.

for i = 1, 10 do items:createItem{ name = "item " .. i, valueInDollars = i } end

local visited = 0
for i, item in items:each() do
  visited = visited + 1
  if item.valueInDollars % 2 == 0 then items:removeItem(item) end
end
print(visited, #items)
-- expect: 10	5

-- An item that is removed before its turn is not visited; one that is added at the end may be, but the loop ends.
local names = {}
for _, item in items:each() do
  names[#names + 1] = item.name
  if item.name == "item 1" then items:removeItem(items:query("name == 'item 5'"):first()) end
end
print(table.concat(names, ", "))
-- expect: item 1, item 3, item 7, item 9

-- Removing all, in a loop over positions and items.
for _, item in items:each() do items:removeItem(item) end
print(#items)
-- expect: 0

-- A query's each is over what it found.
for i = 1, 4 do items:createItem{ name = tostring(i) } end
for i, item in items:query():each() do
  if i == 1 then items:removeItem(items[2]) end
  io.write(item.name, " ")
end
print()
-- expect: 1 3 4 

-- What a query's own function removes after it was found is not visited.
for _, item in items:each() do items:removeItem(item) end
for i = 1, 4 do items:createItem{ name = tostring(i) } end
local last = items:query("name == '4'"):first()
for i, item in items:query():where(function(item)
  if item == last then items:removeItem(items[2]) end
  return true
end):each() do
  io.write(i, ":", item.name, " ")
end
print()
-- expect: 1:1 3:3 4:4 

-- An iterator goes on where it was, whoever calls it; one that is at its end stays there.
local next = items:query():sorted("name", "descending"):each()
print(next(), (select(2, next())).name)
-- expect: 1	3
items:transaction(function() for _ = 1, 100 do items:createItem{ name = "z" } end end)
collectgarbage()
print(select(2, next()).name, next(), next())
-- expect: 1	nil	nil
