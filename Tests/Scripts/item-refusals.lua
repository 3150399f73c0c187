-- What items do not take: each refusal names the field or the argument, and what was expected.

local item = items:createItem{ name = "Bear" }
local function refused(body)
  local ok, message = pcall(body)
  print(ok and "taken" or (tostring(message):gsub("^[%w%-]+%.lua:%d+: ", "")))
end

refused(function() item.valueInDollars = 78.5 end)
-- expect: Item.valueInDollars: integer expected, got 78.5
refused(function() item.valueInDollars = "78" end)
-- expect: Item.valueInDollars: integer expected, got string
refused(function() item.valueInDollars = nil end)
-- expect: Item.valueInDollars: integer expected, got nil
refused(function() item.name = 3 end)
-- expect: Item.name: string expected, got number
refused(function() item.name = nil end)
-- expect: Item.name: string expected, got nil
refused(function() item.name = "\xff\xfe" end)
-- expect: Item.name: UTF-8 text expected, got other bytes (data(…) holds those)
refused(function() item.serialNumber = 12 end)
-- expect: Item.serialNumber: string expected, got number
refused(function() item.dateCreated = "2026-11-21" end)
-- expect: Item.dateCreated: date expected, got string
refused(function() item.itemKey = "another" end)
-- expect: Item.itemKey cannot be assigned
refused(function() item.room = print end)
-- expect: Item.room: a function is not a property-list value (string, number, boolean, date, data, array, dictionary)
refused(function() item.room = { a = { print } } end)
-- expect: Item.room.a[1]: a function is not a property-list value (string, number, boolean, date, data, array, dictionary)
refused(function() item.room = { 1, 2, x = 3 } end)
-- expect: Item.room: the table has both array elements and the key x
refused(function() item.room = { [null] = 2 } end)
-- expect: a key of room cannot hold null: leave the entry out
local cycle = {}
cycle.cycle = cycle
refused(function() item.room = cycle end)
-- expect: Item.room.cycle.cycle.cycle.cycle.cycle.cycle.cycle.cycle.cycle.c…: the table is nested deeper than 128 levels, or contains itself
refused(function() item.copy = 1 end)
-- expect: Item.copy cannot be assigned
refused(function() item[1] = 1 end)
-- expect: Item: a field's name is text, got a number
refused(function() item.room = null end)
-- expect: room cannot hold null: assign nil to remove the field
refused(function() items:createItem{ name = 3 } end)
-- expect: name takes a string: 3 is not one
items:createItem{ itemKey = "taken" }
refused(function() items:createItem{ itemKey = "taken" } end)
-- expect: an item with the itemKey taken is in the store already
refused(function() items:createItem{ "positional" } end)
-- expect: a field's name is text, got 1
refused(function() items:createItem("name") end)
-- expect: bad argument #1 'fields' to 'items:createItem' (table expected, got string)
refused(function() items:moveItem(1, 3) end)
-- expect: bad argument #2 'to' to 'items:moveItem' (a position from 1 to 2 expected, got 3)
refused(function() items:moveItem(0, 1) end)
-- expect: bad argument #1 'from' to 'items:moveItem' (a position from 1 to 2 expected, got 0)
refused(function() items:moveItem(1.5, 1) end)
-- expect: bad argument #1 'from' to 'items:moveItem' (integer expected, got 1.5)
refused(function() items:removeItem("Bear") end)
-- expect: bad argument #1 'item' to 'items:removeItem' (Item expected, got string)
refused(function() items:removeItem() end)
-- expect: bad argument #1 'item' to 'items:removeItem' (Item expected, got no value)
refused(function() items:item(1) end)
-- expect: bad argument #1 'itemKey' to 'items:item' (string expected, got number)
refused(function() items:creatItem{} end)
-- expect: items has no property or method 'creatItem'; did you mean 'createItem'?
refused(function() items.createItem{} end)
-- expect: items:createItem is a method: call it with a colon, on an items
refused(function() items.hasChanges = true end)
-- expect: items.hasChanges cannot be assigned
refused(function() items.colour = "red" end)
-- expect: items has no property or method 'colour'
refused(function() return items.hasChange end)
-- expect: items has no property or method 'hasChange'; did you mean 'hasChanges'?
refused(function() items[1] = item end)
-- expect: items has no property or method '1'
print(#items, item.name, item.valueInDollars, item.room)
-- expect: 2	Bear	0	nil
