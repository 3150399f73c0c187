-- A timeline: every date in all archives and property lists of a folder, in the order of time.
--
--   cubby --container :memory: run examples/jobs/timeline.lua FOLDER > timeline.csv
--
-- `cubby inspect FILE --path PATH` shows what is at a row's path. A damaged file is told of, and the others go on.

local folder = assert(..., "usage: cubby --container :memory: run examples/jobs/timeline.lua FOLDER")

local rows = {}
for path, status in fs.walk(folder) do
  if status.kind == "file" then
    local graph, err = archiver.open(path)
    if graph then
      graph:walk(function(value, where)
        if archiver.className(value) == "NSDate" then rows[#rows + 1] = { date = value, file = path, path = where } end
      end)
    else
      log.warning(tostring(err))
    end
  end
end

table.sort(rows, function(a, b)
  if a.date ~= b.date then return a.date < b.date end
  return a.file .. "\0" .. a.path < b.file .. "\0" .. b.path
end)
assert(csv.write("-", rows, { columns = { "date", "file", "path" } }))
