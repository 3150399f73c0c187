-- A picture is not lost by a mistake: a file that could not be opened, assigned in the same line, is an error.

local folder = (...) .. "/pictures"
local item
items:transaction(function() item = items:createItem{ name = "Pot" } end)
item.image = assert(image.open(folder .. "/teapot.jpg"))

local ok, err = pcall(function() item.image = image.open(folder .. "/nothing.jpg") end)
print(ok, err.code, tostring(err):find("nothing.jpg: No such file or directory", 1, true) ~= nil)
-- expect: false	2	true
ok, err = pcall(function() item.image = image.fromData("no picture") end)
print(ok, err.code)
-- expect: false	notAPicture
print(item.image.width)
-- expect: 320

-- What is meant is done, whatever could not be opened before.
local picture
picture, err = image.open(folder .. "/nothing.jpg")
items:transaction(function()
  if not picture then item.image = nil end
end)
print(item.image, err.code)
-- expect: nil	2
items:undo()
print(item.image.width)
-- expect: 320

-- Nothing to lose: the script goes on, and the reason is logged.
local empty = items:createItem{ name = "Lamp" }
empty.image = image.open(folder .. "/nothing.jpg")
-- expect log: "Lamp" gets no picture: cannot open
print(empty.image)
-- expect: nil

-- In a loop each turn counts for itself.
local opened = 0
for _, name in ipairs{ "teapot.jpg", "nothing.jpg", "lamp.png" } do
  local ok = pcall(function() item.image = image.open(folder .. "/" .. name) end)
  if ok then opened = opened + 1 end
end
print(opened, item.image.width)
-- expect: 2	320

-- A limit that is none is refused, and the one before holds.
local limit = images.cacheLimit
print(pcall(function() images.cacheLimit = -1 end))
-- expect: false	images-mistakes.lua:47: bad value for 'images.cacheLimit' (0 or more expected, got -1)
print(pcall(function() images.pixelLimit = 0 end))
-- expect: false	images-mistakes.lua:49: bad value for 'images.pixelLimit' (1 to 4294967296 expected, got 0)
print(images.cacheLimit == limit)
-- expect: true
