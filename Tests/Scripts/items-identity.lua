-- An item is one value in Lua, however it is come by, and for as long as anything holds it.

local function try(body, ...)
  local ok, message = pcall(body, ...)
  return ok, (tostring(message):gsub("^[%w%-]+%.lua:%d+: ", ""))
end

local lamp = items:createItem{ name = "Lamp", valueInDollars = 3 }
local key = lamp.itemKey
local seen = { [lamp] = "seen" }
local found = {
  items:item(key), items[1], items.allItems[1], items:query("name == 'Lamp'"):first(),
  items:query():all()[1], items:query():groupBy("name")[1].items[1],
}
for _, item in items:each() do found[#found + 1] = item end
for _, item in items:query():sorted("name"):each() do found[#found + 1] = item end
local same = 0
for _, item in ipairs(found) do
  if rawequal(item, lamp) and seen[item] == "seen" then same = same + 1 end
end
print(same, #found)
-- expect: 8	8
found = nil
collectgarbage()
print(rawequal(items:item(key), lamp), seen[items[1]])
-- expect: true	seen

-- A key that nothing but a table holds.
lamp = nil
collectgarbage()
print(seen[items:item(key)], next(seen) == items[1])
-- expect: seen	true

-- Removed and brought back, it is the same; removed for good, it never is another.
lamp = items:item(key)
items:transaction(function() items:removeItem(lamp) end)
print(try(function() return lamp.name end))
-- expect: false	item was removed
items:undo()
print(lamp.name, rawequal(items[1], lamp), seen[items[1]])
-- expect: Lamp	true	seen
items:removeItem(lamp)
local removed, new = { lamp }, {}
for i = 1, 400 do
  items:transaction(function()
    local item = items:createItem{ name = "item " .. i }
    new[item.itemKey], removed[#removed + 1] = item, item
  end)
  items:transaction(function() items:removeItem(removed[#removed]) end)
end
local alive = items:createItem{ name = "alive" }
local wrong = 0
for _, item in ipairs(removed) do
  if rawequal(item, alive) or pcall(function() return item.name end) then wrong = wrong + 1 end
end
print(wrong, alive.name, tostring(removed[1]))
-- expect: 0	alive	removed item

-- A refused item's handle is dead from the beginning.
local refused
local hook = items:on("willInsert", function(event)
  refused = event.item
  event:veto("no")
end)
print(try(items.createItem, items, { name = "refused" }))
-- expect: false	the change was refused: no
hook:off()
print(try(function() return refused.name end))
-- expect: false	item was removed
print(#items, items:createItem{ name = "next" }.name, try(function() refused.name = "x" end))
-- expect: 1	next	false	item was removed

-- Fields take what they say.
for _, set in ipairs{
  function() alive.name = 5 end, function() alive.name = nil end, function() alive.name = "\xff" end,
  function() alive.serialNumber = {} end, function() alive.valueInDollars = 78.5 end,
  function() alive.valueInDollars = "78" end, function() alive.dateCreated = "now" end,
  function() alive.itemKey = "x" end,
} do
  print(select(2, try(set)))
end
-- expect: Item.name: string expected, got number
-- expect: Item.name: string expected, got nil
-- expect: Item.name: UTF-8 text expected, got other bytes (data(…) holds those)
-- expect: Item.serialNumber: string expected, got table
-- expect: Item.valueInDollars: integer expected, got 78.5
-- expect: Item.valueInDollars: integer expected, got string
-- expect: Item.dateCreated: date expected, got string
-- expect: Item.itemKey cannot be assigned
alive.valueInDollars, alive.serialNumber = 78.0, "1A2B3"
print(alive.valueInDollars, math.type(alive.valueInDollars), alive.serialNumber)
-- expect: 78	integer	1A2B3
alive.serialNumber = nil
print(alive.serialNumber, #alive.itemKey)
-- expect: nil	36
