-- Handlers around changes of items: they hear, refuse and rewrite.

local heard = {}
local function hear(event)
  heard[#heard + 1] = event.name .. (event.field and (" " .. event.field .. " " .. tostring(event.old) .. "→" .. tostring(event.new)) or "")
end
local function told()
  print(table.concat(heard, ", "))
  heard = {}
end
for _, name in ipairs{ "willInsert", "didInsert", "willUpdate", "didUpdate", "willRemove", "didRemove" } do
  items:on(name, { group = "hear" }, hear)
end

local bear = items:createItem{ name = "Bear" }
told()
-- expect: willInsert, didInsert
bear.valueInDollars = 7
bear.room = "Study"
bear.room = nil
told()
-- expect: willUpdate valueInDollars 0→7, didUpdate valueInDollars 0→7, willUpdate room nil→Study, didUpdate room nil→Study, willUpdate room Study→nil, didUpdate room Study→nil
items:removeItem(bear)
told()
-- expect: willRemove, didRemove
app:off{ group = "hear" }

-- A veto refuses, and says why; its reason is the error.
bear = items:createItem{ name = "Bear", valueInDollars = 5 }
local floor = items:on("willUpdate", { id = "floor" }, function(event)
  if event.field == "valueInDollars" and event.new < 0 then event:veto("a value is never negative") end
end)
print(pcall(function() bear.valueInDollars = -1 end))
-- expect: false	item-events.lua:33: the change was refused: a value is never negative
print(bear.valueInDollars)
-- expect: 5

-- Rewriting.
items:on("willUpdate", { id = "trim" }, function(event)
  if event.field == "name" then event.new = event.new:match("^%s*(.-)%s*$") end
end)
bear.name = "  Fluffy Bear "
print("[" .. bear.name .. "]")
-- expect: [Fluffy Bear]

-- A handler that fails refuses the change, and its own changes are rolled back.
items:on("willInsert", { id = "broken", once = false }, function(event)
  bear.room = "changed by the handler"
  error("broken")
end)
print(pcall(items.createItem, items, { name = "New" }))
-- expect: false	the change was refused: item-events.lua:49: broken
print(#items, bear.room)
-- expect: 1	nil
app:off("broken")
-- expect log: error in the handler willInsert (broken)

-- didRemove still knows what went.
local key = bear.itemKey
items:on("didRemove", { id = "gone" }, function(event) print(event.name, event.itemKey == key) end)
items:removeItem(bear)
print(#items)
-- expect: didRemove	true
-- expect: 0
app:off("gone")

-- A bulk change is told once.
items:on("didChangeMany", { id = "many" }, function(event) print("many", event.inserted, event.updated, event.removed) end)
items:on("didUpdate", { id = "single" }, function() print("never") end)
for i = 1, 3 do items:createItem{ name = tostring(i) } end
print(items:query():update{ room = "Attic" })
-- expect: many	0	3	0
-- expect: 3
print(items:undo(), #items)
-- expect: many	0	3	3
-- expect: true	0
