-- Pictures set, read cold, read warm and thumbnailed, timed; the folder's pictures, under their file names.
local folder = ...
local function now() return date() - date(0) end
local function measure(name, count, body)
  local start = now()
  body()
  print(name, count / (now() - start))
end
local names = assert(fs.list(folder))
images.cacheLimit = 1 << 32
measure("set", #names, function()
  for _, name in ipairs(names) do assert(images:setImage(assert(image.open(folder .. "/" .. name)), name)) end
end)
images:clearCache()
local function read() for _, name in ipairs(names) do assert(images:image(name).width > 0) end end
measure("read cold", #names, read)
measure("read warm", #names, read)
images:clearCache()
local function thumbnail() for _, name in ipairs(names) do assert(images:thumbnail(name, 40).width == 40) end end
measure("thumbnail", #names, thumbnail)
images:clearCache()
measure("thumbnail again", #names, thumbnail)
-- In other corners: files that were removed a moment ago would make ext4 slow at making new ones.
measure("thumbnails at once", #names, function()
  assert(not next(images:prepareThumbnails(names, 40, { cornerRadius = 6 })))
end)
images:clearCache()
measure("read and decode", #names, function()
  for _, name in ipairs(names) do
    local picture = images:image(name)
    assert(picture:resized(picture.width, picture.height))
  end
end)
