-- Items of several kinds, and references between them, as a program's models have them.

assert(items:declare{
    itemKind = "string",
    owner = { kind = "integer", references = "Person", onDelete = "cascade" },
    friends = { kind = "array", references = "Person", onDelete = "nullify" },
})
local ann = items:createItem{ itemKind = "Person", id = 1, name = "Ann" }
local bob = items:createItem{ itemKind = "Person", id = 2, name = "Bob" }
local lamp = items:createItem{ name = "Lamp", owner = 1, friends = { 2 } }
print(ann.itemKey, bob.itemKey, lamp.itemKind)
-- expect: Person:1	Person:2	nil

-- A reference is the item that it refers to.
print(lamp.owner == ann, lamp.owner.name, #lamp.friends, lamp.friends[1] == bob)
-- expect: true	Ann	1	true
lamp.owner = bob
lamp.friends = { ann, bob }
print(lamp.owner.name, #lamp.friends)
-- expect: Bob	2

-- In predicates and in SQL it is the id; a path follows it.
print(items:query("owner == 2"):count(), items:query("owner.name == 'Bob'"):count(), items:query("ANY friends.name == 'Ann'"):count())
-- expect: 1	1	1
print(sql("select thing.name, person.name as owner from items thing join items person on person.itemKind = 'Person' and person.id = thing.owner")[1].owner)
-- expect: Bob

-- What refers to nothing is refused.
print(select(2, pcall(function() lamp.owner = 9 end)))
-- expect: kinds.lua:29: owner refers to a Person, and there is none with the id 9: create it first
print(select(2, pcall(function() lamp.owner = lamp end)))
-- expect: kinds.lua:31: owner refers to a Person, and "Lamp" has no kind
print(select(2, pcall(function() ann.id = 3 end)))
-- expect: kinds.lua:33: id of the Person Person:1 is part of its itemKey, which it gets when it is created and keeps
print(select(2, pcall(function() items:createItem{ itemKind = "Person", id = 3, itemKey = "x" } end)))
-- expect: kinds.lua:35: the itemKey of a Person with the id 3 is Person:3, not x

-- Removals do what is declared.
items:removeItem(ann)
print(#lamp.friends, lamp.friends[1].name)
-- expect: 1	Bob
items:transaction(function() items:removeItem(bob) end)
print(#items)
-- expect: 0
items:undo(1)
print(#items, lamp.owner.name)
-- expect: 2	Bob

-- An item is given as a reference where an item is made, and to all of a query; what is none is named.
ann = items:createItem{ itemKind = "Person", id = 1, name = "Ann" }
bob = items:query("name == 'Bob'"):first()
local desk = items:createItem{ name = "Desk", owner = ann, friends = { bob, 1 } }
print(desk.owner.name, #desk.friends, desk.friends[1].name, items:query("owner == 1"):count())
-- expect: Ann	2	Bob	1
print(items:query("name == 'Desk'"):update{ owner = bob, friends = { ann } }, desk.owner.name, desk.friends[1].name)
-- expect: 1	Bob	Ann
print(select(2, pcall(function() desk.friends = { ann, nil, bob } end)))
-- expect: kinds.lua:57: Item.friends[2] is nil: an array has no holes
print(select(2, pcall(function() desk.friends = { ann, best = bob } end)))
-- expect: kinds.lua:59: Item.friends has other keys beside its 1 element in order
print(select(2, pcall(function() return items:createItem{ name = "x", owner = desk } end)))
-- expect: kinds.lua:61: owner refers to a Person, and "Desk" has no kind

-- A removal of several removes what goes with one of them once.
print(items:removeItem(bob, desk, lamp), #items)
-- expect: nil	1

-- Operators, positions and the elements of a SUBQUERY lead to the items, too, and on from these.
items:query():remove()
assert(items:declare{ boss = { kind = "integer", references = "Person", onDelete = "nullify" } })
ann = items:createItem{ itemKind = "Person", id = 1, name = "Ann", age = 30 }
bob = items:createItem{ itemKind = "Person", id = 2, name = "Bob", age = 50, boss = 1, friends = { 1 } }
items:createItem{ name = "Lamp", owner = 2, friends = { 1, 2 }, least = 40 }
for _, format in ipairs{
  "friends.@avg.age == 40", "friends.@max.boss.age == 30", "friends[0].name == 'Ann'", "friends[LAST].boss.name == 'Ann'",
  "SUBQUERY(friends, $f, $f.age > least).@count == 1", "SUBQUERY(friends, $f, $f.boss.name == 'Ann')[0].name == 'Bob'",
  "SUBQUERY(friends, $f, $f == 2 AND $f.age == 50).@max.age == 50", "SUBQUERY(friends, $f, owner.boss.age < $f.age).@count == 1",
  "SUBQUERY(friends, $f, SUBQUERY($f.friends, $g, $g.name == 'Ann').@count == 1).@count == 1",
  "TERNARY(friends[1].age > 40, 1, 2) == 1", "friends.@count == 2", "friends[SIZE] == 2",
} do
  local held = items:query("name == 'Lamp' AND " .. format):count()
  local failed = items:query("name == 'Lamp' AND NOT (" .. format .. ")"):count()
  if held ~= 1 or failed ~= 0 then print(format, held, failed) end
end
print(items:query("name == 'Lamp'"):sum("friends.@max.age"), items:query("friends.@sum.age > 0"):sorted("friends.@sum.age"):first().name)
-- expect: 50	Bob
print(select(2, pcall(function() return items:query("friends.@max.agee == 1"):count() end)):match("no item has [^\n]*"))
-- expect: no item has friends.@max.agee; did you mean age? (column 1)
-- By an index, and for one item, as well.
for i = 1, 30 do items:createItem{ name = "Lamp " .. i, owner = 1, least = i } end
items:query("least == nil"):update{ least = 0 }
items:createIndex("least")
print(items:query("owner.name == 'Ann'"):sorted("least"):first().name, #items:query("owner.name == 'Ann'"):sorted("least", "descending"):limit(2):all())
-- expect: Lamp 1	2
print(predicate("owner.name == 'Ann'"):evaluate(items:query("name == 'Lamp 7'"):first()))
-- expect: true
