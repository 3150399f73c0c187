-- Pictures: opened, kept under keys, cached, flushed.

local folder = (...) .. "/pictures"
local names = assert(fs.list(folder))
local path = folder .. "/" .. names[1]
local picture = assert(image.open(path))
print(picture.width > 0, picture.height > 0, picture.format, tostring(picture):find("%d+×%d+ PNG, %d+ kB") ~= nil)
-- expect: true	true	png	true
print(images:setImage(picture, "a-key"), images.cacheCount, images:imagePath("a-key") == app.container.documents .. "/a-key")
-- expect: true	1	true
print(fs.read(images:imagePath("a-key")):sub(1, 2) == "\xff\xd8", table.concat(images:keys(), " "))
-- expect: true	a-key
print(images:image("a-key").width == picture.width, images:image("a-key").format, images:image("none"))
-- expect: true	png	nil
local again = images:image("a-key")
print(again == images:image("a-key"), ({ [again] = true })[images:image("a-key")])
-- expect: true	true
assert(images:setImage(picture, "b-key", { quality = 0.9 }))
print(images.cacheCount, images.cacheCost > 0)
-- expect: 2	true

-- The memory warning flushes the cache; afterwards pictures are read again.
app:simulateMemoryWarning()
-- expect log: flushing 2 images out of the cache
print(images.cacheCount, images.cacheCost)
-- expect: 0	0
print(images:image("a-key").width == picture.width, images.cacheCount)
-- expect: true	1
app:simulateMemoryWarning()
-- expect log: flushing 1 image
images:clearCache()

-- An item's own picture is under its key, and goes with it.
local item = items:createItem{ name = "Bear" }
print(item.image)
-- expect: nil
item.image = picture
print(item.image.width == picture.width, images:image(item.itemKey) == item.image)
-- expect: true	true
local key = item.itemKey
local other = items:createItem{ name = "Other" }
other.image = picture
other.image = nil
print(other.image, images:image(other.itemKey))
-- expect: nil	nil

-- Bytes and sizes.
local jpeg = picture:jpegData(0.5)
print(jpeg:sub(1, 2) == "\xff\xd8", #picture:jpegData(0.1) < #picture:jpegData(0.9), picture:pngData():sub(2, 4))
-- expect: true	true	PNG
print(image.fromData(jpeg).width == picture.width, image.fromData(data(jpeg)).format)
-- expect: true	jpeg
local small = picture:resized(20, 20)
print(small.width <= 20, small.height <= 20, math.max(small.width, small.height))
-- expect: true	true	20
local thumbnail = images:thumbnail("a-key", 16)
print(thumbnail.width, thumbnail.height)
-- expect: 16	16

-- Deleting; what is not there is harmless.
print(images:deleteImage("a-key"), images:image("a-key"), images:deleteImage("a-key"), images:deleteImage("never"))
-- expect: true	nil	true	true

fs.makeDirectory(images:imagePath("folder"))
local gone, why = images:deleteImage("folder")
print(gone, why.code, why.path == images:imagePath("folder"))
-- expect: nil	21	true

-- Keys that could leave the directory, or are the store's own files, are refused.
for _, bad in ipairs{ "", ".", "..", "../x", "a/b", "/etc/passwd", "a\0b", ("k"):rep(256), "items.archive", "items.journal" } do
  local ok, message = pcall(images.setImage, images, picture, bad)
  print(ok, (tostring(message):gsub("%c", "?"):match("cannot be an image")))
end
-- expect: false	cannot be an image
-- expect: false	cannot be an image
-- expect: false	cannot be an image
-- expect: false	cannot be an image
-- expect: false	cannot be an image
-- expect: false	cannot be an image
-- expect: false	cannot be an image
-- expect: false	cannot be an image
-- expect: false	cannot be an image
-- expect: false	cannot be an image
print((pcall(images.image, images, "../x")), (pcall(images.deleteImage, images, "a/b")), (pcall(images.imagePath, images, "..")))
-- expect: false	false	false
local none, err = image.open((...) .. "/household.csv")
print(none, err.code, err.path == (...) .. "/household.csv")
-- expect: nil	notAPicture	true
print(select(2, image.open((...) .. "/none.png")).code)
-- expect: 2
print(image.fromData("no picture") == nil)
-- expect: true
print(pcall(images.setImage, images, "a path", "key"))
-- expect: false	bad argument #1 'image' to 'images:setImage' (Image expected, got string)
print(pcall(picture.jpegData, picture, 2))
-- expect: false	bad argument #1 'quality' to 'Image:jpegData' (a quality from 0 to 1 expected, got 2.0)
print(pcall(picture.resized, picture, 0, 5))
-- expect: false	bad argument #1 'width' to 'Image:resized' (a length from 1 to 65535 expected, got 0)
