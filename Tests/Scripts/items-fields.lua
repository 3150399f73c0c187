-- A loop that creates items with fields of its own: each is checked, whatever came before.

for number = 1, 3 do
  items:createItem{ name = "Lamp " .. number, room = "Study", ["größe"] = number, width = number + 0.5, lit = number > 1 }
end
local third = items[3]
print(third.room, third["größe"], third.width, third.lit, table.concat(third:fields(), " "))
-- expect: Study	3	3.5	true	größe lit room width

-- The same names with other kinds of values, or with none.
local odd = items:createItem{ name = "odd", room = 7, width = "wide", lit = { "no" }, ["größe"] = nil }
print(odd.room, odd.width, odd.lit[1], odd["größe"])
-- expect: 7	wide	no	nil
print(math.type(odd.room), math.type(third.width))
-- expect: integer	float

local function refused(body)
  local ok, message = pcall(body)
  print(ok and "taken" or (tostring(message):gsub("^[%w%-]+%.lua:%d+: ", "")))
end

refused(function() items:createItem{ room = "a\xff" } end)
-- expect: Item.room: the string is not UTF-8 text (data(…) holds other bytes)
refused(function() items:createItem{ room = print } end)
-- expect: Item.room: a function is not a property-list value (string, number, boolean, date, data, array, dictionary)
for _ = 1, 2 do refused(function() items:createItem{ room = "Study", copy = "no" } end) end
-- expect: Item.copy is a method and cannot be a field: choose another name
-- expect: Item.copy is a method and cannot be a field: choose another name
print(#items)
-- expect: 4
