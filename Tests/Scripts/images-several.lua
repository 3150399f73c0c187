-- Several images of an item: an array in order, of which item.image is the first.

local folder = (...) .. "/pictures"
local teapot = assert(image.open(folder .. "/teapot.jpg"))
local small, smaller = teapot:resized(100, 100), teapot:resized(50, 50)
local pot, lamp
items:transaction(function()
  pot = items:createItem{ name = "Pot" }
  lamp = items:createItem{ name = "Lamp" }
end)

local function widths(item)
  local all = {}
  for _, picture in ipairs(item.images) do all[#all + 1] = picture.width end
  return "{" .. table.concat(all, ", ") .. "}"
end
local function bytes(item, place) return item.images[place]:jpegData(1) end
local function files() return #images:keys() end
local function step(body) items:transaction(body) end

print(widths(pot), pot.image, #pot.images)
-- expect: {}	nil	0
step(function() pot.images = { teapot, small, smaller } end)
print(widths(pot), pot.image.width, files())
-- expect: {320, 100, 50}	320	3
print(images:image(pot.itemKey).width, images:thumbnail(pot.itemKey, 16).width)
-- expect: 320	16

-- Another order keeps the files, and it is one step.
local before = images:keys()
step(function() pot.images = { pot.images[3], pot.images[1], pot.images[2] } end)
print(widths(pot), pot.image.width, images:image(pot.itemKey).width)
-- expect: {50, 320, 100}	50	50
print(#before == files())
-- expect: true
items:undo()
print(widths(pot))
-- expect: {320, 100, 50}
items:redo()
print(widths(pot))
-- expect: {50, 320, 100}

-- What is read anew keeps its bytes, in another item as well.
images:clearCache()
local kept = bytes(pot, 2)
step(function() lamp.images = { pot.images[2], pot.images[1] } end)
images:clearCache()
print(widths(lamp), bytes(lamp, 1) == kept)
-- expect: {320, 50}	true

-- item.image is the first: another takes its place, and none lets the next be the first.
step(function() pot.image = small end)
print(widths(pot))
-- expect: {100, 320, 100}
step(function() pot.image = nil end)
print(widths(pot), pot.image.width)
-- expect: {320, 100}	320
items:undo()
items:undo()
print(widths(pot))
-- expect: {50, 320, 100}

-- The table is a copy.
table.remove(pot.images, 1)
print(#pot.images)
-- expect: 3

-- None, all back, and with the item itself.
step(function() pot.images = nil end)
print(widths(pot), pot.image, images:image(pot.itemKey))
-- expect: {}	nil	nil
-- expect log: Error: unable to find
items:undo()
print(widths(pot))
-- expect: {50, 320, 100}
step(function() pot.images = {} end)
items:undo()
step(function() items:removeItem(pot) end)
print(files())
-- expect: 2
items:undo()
print(widths(pot))
-- expect: {50, 320, 100}
pcall(items.transaction, items, function()
  pot.images = { small }
  error("no")
end)
print(widths(pot))
-- expect: {50, 320, 100}

-- What is not an array of images is refused, and nothing is changed.
local function refused(value)
  local ok, err = pcall(function() pot.images = value end)
  print(ok, (tostring(err):gsub("^.-:%d+: ", "")))
end
refused({ small, "text", smaller })
-- expect: false	Item.images: element 2: Image expected, got string
refused({ small, nil, smaller })
-- expect: false	Item.images: element 2: Image expected, got nil, and 3 is the last: an array has no holes
refused({ small, [1000000007] = smaller })
-- expect: false	Item.images: element 2: Image expected, got nil, and 1000000007 is the last: an array has no holes
refused({ small, cover = smaller })
-- expect: false	Item.images: array of Image expected, got a table with the key "cover"
refused(small)
-- expect: false	Item.images: array of Image expected, got Image
local ok, err = pcall(function() pot.images = { small, (image.open(folder .. "/nothing.jpg")) } end)
print(ok)
-- expect: true
ok, err = pcall(function() pot.images = { small, image.open(folder .. "/nothing.jpg") } end)
print(ok, err.code)
-- expect: false	2
ok, err = pcall(function() pot.images = image.open(folder .. "/nothing.jpg") end)
print(ok, err.code, #pot.images)
-- expect: false	2	1
print(pcall(items.createItem, items, { images = {} }))
-- expect: false	Item.images are the item's pictures and cannot be a field: assign to the item

-- It is not a field.
print(#pot:fields(), json.encode(pot):find("image"))
-- expect: 0	nil

-- A copy has the images of its item, and an update by a function counts an item whose image alone changes.
local both
step(function() pot.images = { teapot, small } both = pot:copy() end)
print(widths(both), both.itemKey ~= pot.itemKey)
-- expect: {320, 100}	true
step(function() both.image = nil end)
print(widths(pot), widths(both))
-- expect: {320, 100}	{100}
print(items:query("itemKey == $k", { k = both.itemKey }):update(function(item) item.image = smaller end), widths(both))
-- expect: 1	{50}

-- A key that cannot be a file's name has no images, and gets none.
local path = items:createItem{ name = "Path", itemKey = "a/b" }
print(path.image, #path.images)
-- expect: nil	0
path.image, path.images = nil, {}
print(pcall(function() path.image = small end))
-- expect: false	"a/b" cannot be an image's key: it holds a slash
print(pcall(function() path.images = { small } end))
-- expect: false	"a/b" cannot be an image's key: it holds a slash
