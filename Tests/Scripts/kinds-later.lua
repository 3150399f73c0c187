-- Items with kinds and ids from before anything was declared of them.

local ann = items:createItem{ itemKind = "Person", id = 7, name = "Ann" }
local dog = items:createItem{ itemKind = "Animal", id = 8, name = "Rex" }
local lamp = items:createItem{ name = "Lamp" }
assert(items:declare{ owner = { kind = "integer", references = "Person", onDelete = "nullify" } })
lamp.owner = 7
print(lamp.owner == ann, lamp.owner.name, items:query("owner.name == 'Ann'"):count())
-- expect: true	Ann	1
lamp.owner = ann
print(items:query("owner == 7"):count(), select(2, pcall(function() lamp.owner = 8 end)))
-- expect: 1	kinds-later.lua:11: owner refers to a Person, and there is none with the id 8: create it first
print(select(2, pcall(function() return items:createItem{ itemKind = "Person", id = 7 } end)) == "kinds-later.lua:13: a Person with the id 7 is in the store already: its itemKey is " .. ann.itemKey)
-- expect: true
print(items:createItem{ itemKind = "Person", id = 9 }.itemKey)
-- expect: Person:9
items:removeItem(ann)
print(lamp.owner, dog.id)
-- expect: nil	8
