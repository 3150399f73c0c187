-- A transaction that fails and a dry run have the indexes as before, and a dry run says what would be declared.
items:createItem{ name = "Vase", width = "13.5" }
items:createIndex("name")
pcall(items.transaction, items, function() items:dropIndex("name") items:createIndex("width") error("no") end)
print(table.concat(items.indexes, " "))
-- expect: name
local diff = items:dryRun(function()
  items:createIndex("width")
  assert(items:declare({ width = "real", weight = "integer" }, { convert = true }))
end)
print(table.concat(items.indexes, " "), items[1].width, table.concat(diff.declared, " "))
-- expect: name	13.5	weight width
print((tostring(diff):match("[^\n]*")))
-- expect: 0 inserted, 0 removed, 1 field changed, 0 moved, 2 fields declared
items:transaction(function() items:createIndex("width") end)
print(table.concat(items.indexes, " "))
-- expect: name width
-- In a handler there is no end of its event to wait for.
app:on("user.go", function() print(select(2, pcall(app.run, app))) end)
app:emit("user.go")
-- expect: app:run is not possible in a handler: its event would never end
