-- A removed item's picture goes when the removal is committed, and stays when it is rolled back.

local folder = (...) .. "/pictures"
local picture = assert(image.open(folder .. "/" .. fs.list(folder)[1]))
local item = items:createItem{ name = "Bear" }
item.image = picture
local key = item.itemKey
pcall(function()
  items:transaction(function()
    items:removeItem(item)
    error("rolled back")
  end)
end)
print(items[1].image ~= nil, #images:keys())
-- expect: true	1
items:transaction(function() items:removeItem(items[1]) end)
print(#items, images:image(key))
-- expect log: Error: unable to find
-- expect: 0	nil

-- An undo brings it back with its item, and a redo takes it again.
print(items:undo(), #items, items[1].image ~= nil, #images:keys())
-- expect: true	1	true	1
print(items:redo(), #items, #images:keys())
-- expect: true	0	0
print(items:undo(), items[1].image.width == picture.width)
-- expect: true	true
print(items:query():remove())
-- expect: 1
