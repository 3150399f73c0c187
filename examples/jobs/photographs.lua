-- Photographs: each becomes an item with its picture, when and where it was taken, and by which camera.
--
--   cubby --container DIR run examples/jobs/photographs.lua FOLDER
--
-- A file is known by its SHA-256: one that was moved or copied is not taken twice.

local folder = assert(..., "usage: cubby --container DIR run examples/jobs/photographs.lua FOLDER")

local new, known, others = 0, 0, 0
for path, status in fs.walk(folder) do
  if status.kind == "file" then
    local hash = assert(fs.hash(path))
    local picture = items:query("sha256 == $hash", { hash = hash }):first() == nil and image.open(path)
    if picture then
      local exif = picture.exif or {}
      -- Cameras write the time of their own clock, without a zone.
      local taken = exif.DateTimeOriginal and date.parse(exif.DateTimeOriginal, "%Y:%m:%d %H:%M:%S", "local")
      items:createItem{
        name = path:match("[^/]+$"),
        dateCreated = taken or status.modified,
        sha256 = hash,
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
