-- A picture that another replaced, or that was deleted, comes back by an undo, and goes again by a redo.

local folder = (...) .. "/pictures"
local teapot = assert(image.open(folder .. "/teapot.jpg"))
local small, smaller = teapot:resized(100, 100), teapot:resized(50, 50)
local item
items:transaction(function() item = items:createItem{ name = "Pot" } end)
local function widths() return item.image and item.image.width, #images:keys() end
local function undo() return items:undo(), widths() end
local function redo() return items:redo(), widths() end

items:transaction(function() item.image = teapot end)
print(widths())
-- expect: 320	1
item.image = small
print(undo())
-- expect: true	320	1
print(redo())
-- expect: true	100	1
item.image = nil
print(widths())
-- expect: nil	0
print(undo())
-- expect: true	100	1
print(undo())
-- expect: true	320	1
print(undo())
-- expect: true	nil	0
print(redo())
-- expect: true	320	1
print(redo())
-- expect: true	100	1
print(redo())
-- expect: true	nil	0
print(items:redo(), undo())
-- expect: false	true	100	1

-- Several in one step go as one, in a transaction and without.
item.image = teapot
item.image = smaller
item.name = "Kettle"
print(widths())
-- expect: 50	1
print(undo())
-- expect: true	100	1
print(item.name, redo())
-- expect: Pot	true	50	1
items:transaction(function()
  item.image = nil
  item.image = teapot
  item.name = "Can"
end)
print(undo())
-- expect: true	50	1
print(item.name)
-- expect: Kettle
-- What came before a transaction is a step of its own.
images:deleteImage(item.itemKey)
items:transaction(function() item.name = "Jug" end)
print(item.name, undo())
-- expect: Jug	true	nil	0
print(item.name, undo())
-- expect: Kettle	true	50	1

-- Rolled back, or tried only, it is not a step.
pcall(items.transaction, items, function()
  item.image = small
  error("no")
end)
items:dryRun(function() item.image = nil end)
print(widths())
-- expect: 50	1
print(redo())
-- expect: true	nil	0
print(undo())
-- expect: true	50	1

-- Together with the item itself.
items:transaction(function()
  item.image = small
  items:removeItem(item)
end)
print(#items, #images:keys())
-- expect: 0	0
print(items:undo(), #items, items[1].image.width)
-- expect: true	1	50
-- A picture that is not an item's is left alone.
images:setImage(small, "cover")
images:deleteImage("cover")
print(items:undo(), #items, images:image("cover"))
-- expect log: Error: unable to find
-- expect: true	1	nil
