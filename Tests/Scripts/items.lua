-- Items: creating, reading, changing, ordering.

print(#items, items.hasChanges)
-- expect: 0	false
local empty = items:createItem()
print(empty.name == "", empty.serialNumber, empty.valueInDollars, #empty.itemKey)
-- expect: true	nil	0	36
print(date() - empty.dateCreated < 60, items.hasChanges)
-- expect: true	true

local lamp = items:createItem{ name = "Reading Lamp", valueInDollars = 45, serialNumber = "1A2B3", room = "Study" }
print(lamp.name, lamp.valueInDollars, lamp.serialNumber, lamp.room, lamp.colour)
-- expect: Reading Lamp	45	1A2B3	Study	nil
print(items:createItem{ itemKey = "my-own-key" }.itemKey)
-- expect: my-own-key
print(#items, items[1] == empty, items[2] == lamp, items[4], items[0])
-- expect: 3	true	true	nil	nil
print(items:item("my-own-key") == items[3], items:item("another"))
-- expect: true	nil
print(items:item(lamp.itemKey) == lamp)
-- expect: true

-- Integers stay exact; a float that is an integer is one.
lamp.valueInDollars = 78.0
print(lamp.valueInDollars, math.type(lamp.valueInDollars))
-- expect: 78	integer
lamp.valueInDollars = math.maxinteger
print(lamp.valueInDollars)
-- expect: 9223372036854775807
lamp.valueInDollars = 78
lamp.dateCreated = date("2026-11-21T04:13:00Z")
print(lamp)
-- expect: Reading Lamp (1A2B3): Worth $78, recorded on 2026-11-21 04:13:00 +0000

-- Custom fields hold property-list values, and give them back read-only.
lamp.tags = { "gift", "1925" }
lamp.size = { width = 12.5, height = 40 }
lamp.sold = false
lamp.picture = data("\0\1\2")
lamp.bought = date(0)
lamp.pi = 3.5
print(#lamp.tags, lamp.tags[2], lamp.size.width, lamp.size.height, lamp.sold, #lamp.picture, lamp.bought.year, lamp.pi)
-- expect: 2	1925	12.5	40	false	3	1970	3.5
print(math.type(lamp.size.height), math.type(lamp.size.width))
-- expect: integer	float
for i, tag in ipairs(lamp.tags) do print(i, tag) end
-- expect: 1	gift
-- expect: 2	1925
print(pcall(function() lamp.tags[3] = "no" end))
-- expect: false	items.lua:49: this value is read-only: assign a new table to the item's field (or copy it with {table.unpack(t)})
lamp.tags = { "one" }
print(#lamp.tags, table.unpack(lamp.tags))
-- expect: 1	one
lamp.room = nil
print(lamp.room)
-- expect: nil
lamp.nothing = {}
print(#lamp.nothing, next(lamp.nothing))
-- expect: 0	nil
print(table.concat(lamp:fields(), " "))
-- expect: bought nothing pi picture size sold tags

-- A new field one slip away from a field of the domain is stored, and warned about once.
lamp.nmae = "x"
lamp.nmae = "y"
-- expect log: the new custom field 'nmae' is one slip away from 'name'
print(lamp.nmae)
-- expect: y

-- Order.
items:moveItem(3, 1)
print(items[1].itemKey, items[2] == empty, items[3] == lamp)
-- expect: my-own-key	true	true
print(items.allItems[1] == items[1], #items.allItems)
-- expect: true	3
local luck = items:randomItem()
print(items[4] == luck, luck.valueInDollars >= 0 and luck.valueInDollars < 100, luck.name:match("^%a+ %a+$") ~= nil)
-- expect: true	true	true
print(luck.serialNumber ~= nil)
-- expect: true

-- A deep copy has a key of its own.
local copy = lamp:copy()
print(copy ~= lamp, copy.name, copy.itemKey ~= lamp.itemKey, copy.size.width, #items)
-- expect: true	Reading Lamp	true	12.5	5
copy.size = { width = 1 }
print(lamp.size.width, copy.size.width)
-- expect: 12.5	1

-- Identity: the same item is the same value, and a table's key.
local seen = { [items[3]] = "lamp" }
print(seen[lamp], seen[items:item(lamp.itemKey)], rawequal(items[3], lamp))
-- expect: lamp	lamp	true

-- Saving.
local saved, err = items:saveChanges()
-- expect log: Saved all of the Items
print(saved, err, items.hasChanges, fs.exists(app.container.documents))
-- expect: true	nil	false	true
print(items.archivePath == app.container.documents .. "/items.archive")
-- expect: true
print(items:saveChanges())
-- expect: true
