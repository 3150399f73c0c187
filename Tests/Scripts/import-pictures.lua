-- A folder of pictures goes to the items that their names say.
local data, tmp = ..., app.container.tmp .. "/"
local pictures = tmp .. "pictures"
assert(fs.makeDirectory(pictures))
for name, source in pairs{ ["A1.jpg"] = "teapot.jpg", ["A1-2.png"] = "lamp.png", ["B2.png"] = "chair.png", ["other.png"] = "radio.png" } do
  assert(fs.copy(data .. "/pictures/" .. source, pictures .. "/" .. name))
end
fs.write(pictures .. "/notes.txt", "not a picture")
fs.write(tmp .. "a.csv", "serial,name\nA1,Teapot\nB2,Chair\nC3,Guitar\n")
local options = { key = "serial", update = true, pictures = pictures, by = "serial", types = "text" }
local function short(text) return (tostring(text):gsub(tmp:gsub("%p", "%%%0"), "")) end

options.dryRun = true
print(short(select(2, items:import(tmp .. "a.csv", options))), #items)
-- expect: 3 created, 0 updated, 0 unchanged, 0 rejected, 3 pictures
-- expect: 1 item without a picture in pictures, by serial: C3
-- expect: 2 files in pictures of no item, by serial: notes.txt, other.png	0
options.dryRun = false
local count, report = assert(items:import(tmp .. "a.csv", options))
print(count, report.pictures, report.withoutPicture, report.leftPictures, report.presentPictures)
-- expect: 3	3	1	2	0
print(#items[1].images, #items[2].images, #items[3].images, items[1].image.format, items[1].images[2].format)
-- expect: 2	1	0	jpeg	jpeg
-- Again: nothing is written.
print(select(2, items:import(tmp .. "a.csv", options)).pictures)
-- expect: 0

-- Without a file, for the items that are there.
items:transaction(function() items[2].image = nil end)
print(short(select(2, items:import(pictures, { by = "serial" }))))
-- expect: 0 created, 0 updated, 0 unchanged, 0 rejected, 1 picture
-- expect: 1 item without a picture in pictures, by serial: C3
-- expect: 1 item with pictures already, which stay (update = true, --update, replaces them): A1
-- expect: 2 files in pictures of no item, by serial: notes.txt, other.png
items:undo()
print(#items[2].images)
-- expect: 0
assert(fs.copy(data .. "/pictures/radio.png", pictures .. "/A1-3.png"))
print(select(2, items:import(pictures, { by = "serial", update = true })).pictures, #items[1].images)
-- expect: 4	3

-- A picture that is none ends the import, and nothing is changed, or is left out.
fs.write(pictures .. "/C3.jpg", "not a picture")
items:transaction(function() items[2].image = nil end)
local none, err = items:import(pictures, { by = "serial" })
print(none, short(err.message))
-- expect: nil	pictures/C3.jpg: not a picture in a format that is read: JPEG, PNG, WebP, HEIC, AVIF, GIF or TIFF
print(#items[2].images)
-- expect: 0
print(short((select(2, items:import(pictures, { by = "serial", onError = "skip" }))).remarks[3]))
-- expect: left out: pictures/C3.jpg: not a picture in a format that is read: JPEG, PNG, WebP, HEIC, AVIF, GIF or TIFF
print(#items[2].images)
-- expect: 1

-- What is refused.
for _, given in ipairs{ { pictures = pictures }, { by = "serial", key = "serial" }, { by = "nosuch" } } do
  print((tostring(select(2, pcall(items.import, items, pictures, given))):gsub("^.-%((.*)%)$", "%1")))
end
-- expect: option 'pictures' needs the option 'by', the field that names an item's pictures
-- expect: option 'key' is for a file; without the option 'pictures' the path is their folder
-- expect: no item has a field nosuch
print((select(2, items:import(tmp .. "none", { by = "serial" })).code))
-- expect: 2
