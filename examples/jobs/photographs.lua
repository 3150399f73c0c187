-- Photographs: each becomes an item with its picture, when and where it was taken, and by which camera.
--
--   cubby --container DIR run examples/jobs/photographs.lua FOLDER
--
-- An item's key is the SHA-256 of its file: one that was moved or copied is not taken twice.

local folder = assert(..., "usage: cubby --container DIR run examples/jobs/photographs.lua FOLDER")

local new, known, others = 0, 0, 0
for path, status in fs.walk(folder) do
  if status.kind == "file" then
    local key = assert(fs.hash(path))
    local picture = not items:item(key) and image.open(path)
    if picture then
      local exif = picture.exif or {}
      -- Cameras write the time of their own clock, without a zone.
      local taken = exif.DateTimeOriginal and date.parse(exif.DateTimeOriginal, "%Y:%m:%d %H:%M:%S", "local")
      items:createItem{
        itemKey = key,
        name = path:match("[^/]+$"),
        dateCreated = taken or status.modified,
        file = path,
        camera = exif.Model,
        latitude = exif.latitude,
        longitude = exif.longitude,
      }.image = picture
      new = new + 1
    elseif picture == false then
      known = known + 1
    else
      others = others + 1
    end
  end
end
print(("%d new, %d known, %d other files"):format(new, known, others))
