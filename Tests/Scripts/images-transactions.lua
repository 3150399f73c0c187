-- Pictures that are set or deleted in a transaction happen with it or not at all.

local folder = (...) .. "/pictures"
local first = assert(image.open(folder .. "/teapot.jpg"))
local second = assert(image.open(folder .. "/teapot.jpg")):resized(50, 50)

local function listed() return #images:keys(), #items end
local function rolledBack(body)
  local ok, message = pcall(items.transaction, items, function() body() error("rolled back", 0) end)
  return ok, message
end

-- A new item with its picture: both, or neither.
print(rolledBack(function()
  local item = items:createItem{ name = "Teapot" }
  item.image = first
  print(item.image == first, listed())
end))
-- expect: true	1	1
-- expect: false	rolled back
print(listed())
-- expect: 0	0
print(#assert(fs.list(app.container.documents)) <= 2)
-- expect: true
local teapot = items:transaction(function()
  local item = items:createItem{ name = "Teapot" }
  item.image = first
  return item
end)
print(teapot.image.width, listed())
-- expect: 320	1	1

-- Another picture in place of the first, and none: rolled back, the first is there, read anew as well.
rolledBack(function()
  teapot.image = second
  images:clearCache()
  print(teapot.image.width, images:thumbnail(teapot.itemKey, 16).width)
end)
-- expect: 50	16
images:clearCache()
print(teapot.image.width, listed())
-- expect: 320	1	1
rolledBack(function()
  teapot.image = nil
  print(teapot.image, listed())
end)
-- expect: nil	0	1
print(teapot.image.width, listed())
-- expect: 320	1	1

-- A transaction within one: only its own pictures go.
items:transaction(function()
  teapot.image = second
  pcall(items.transaction, items, function()
    teapot.image = nil
    images:setImage(first, "cover")
    error("inner")
  end)
  print(teapot.image.width, images:image("cover"))
end)
-- expect log: Error: unable to find
-- expect: 50	nil
images:clearCache()
print(teapot.image.width, listed())
-- expect: 50	1	1

-- What a dry run does, it does to nothing.
local diff = items:dryRun(function()
  items:createItem{ name = "Cup" }.image = first
  teapot.image = nil
  items:removeItem(teapot)
end)
print(#diff.inserted, #diff.removed, listed())
-- expect: 1	1	1	1
images:clearCache()
print(teapot.image.width)
-- expect: 50

-- A handler that refuses takes its pictures back; one that does not keeps them.
local veto = true
items:on("willUpdate", function(event)
  if event.field ~= "valueInDollars" then return end
  images:setImage(first, "seen")
  if veto then event:veto("not now") end
end)
print((pcall(function() teapot.valueInDollars = 5 end)), images:image("seen"))
-- expect log: Error: unable to find
-- expect: false	nil
veto = false
teapot.valueInDollars = 6
print(images:image("seen").width, #assert(fs.list(app.container.documents)) <= 4)
-- expect: 320	true

-- Rounded corners, an eighth of the size, or as asked.
local round, square = images:thumbnail("seen", 40), images:thumbnail("seen", 40, { cornerRadius = 0 })
print(round.width, round.height, round.format, square.width, square.format)
-- expect: 40	40	png	40	jpeg
print(pcall(images.thumbnail, images, "seen", 40, { cornerRadius = 21 }))
-- expect: false	bad argument #3 'options' to 'images:thumbnail' (option 'cornerRadius': 0 to half of the size expected, got 21.0)

-- Limits.
images.pixelLimit = 320 * 240 - 1
print(select(2, image.open(folder .. "/teapot.jpg")).code)
-- expect: tooManyPixels
images.pixelLimit, images.byteLimit = 268000000, 100
print(select(2, image.open(folder .. "/teapot.jpg")).code)
-- expect: tooManyBytes
print(pcall(function() images.byteLimit = 0 end))
-- expect: false	images-transactions.lua:108: bad value for 'images.byteLimit' (1 to 2147483647 expected, got 0)
images.byteLimit = 512 << 20

-- Hits and misses; entering the background flushes when told to.
images:clearCache()
local hits, misses = images.cacheHits, images.cacheMisses
for _ = 1, 3 do assert(images:image("seen")) end
print(images.cacheHits - hits, images.cacheMisses - misses)
-- expect: 2	1
app:pressHome() app:open()
print(images.cacheCount)
-- expect: 1
images.flushesInBackground = true
app:pressHome() app:open()
-- expect log: flushing 1 images out of the cache
print(images.cacheCount)
-- expect: 0

-- A dry run says what happens with pictures, too.
local dry = items:createItem{ name = "Dry" }
print(items:dryRun(function() dry.image = first end))
-- expect: 0 inserted, 0 removed, 1 field changed, 0 moved
-- expect:   Dry: image none → a picture
dry.image = first
print(items:dryRun(function() dry.image = second end))
-- expect: 0 inserted, 0 removed, 1 field changed, 0 moved
-- expect:   Dry: image a picture → another picture
local diff = items:dryRun(function() dry.image = nil end)
print(diff)
-- expect: 0 inserted, 0 removed, 1 field changed, 0 moved
-- expect:   Dry: image a picture → none
print(diff.updated[1].field, diff.updated[1].old, diff.updated[1].new, dry.image.width)
-- expect: image	a picture	nil	320
