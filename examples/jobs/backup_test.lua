-- `cubby test examples/jobs` runs the tests of this folder.

test("each way to the background leaves a backup, and the last seven stay", function()
  local folder = test.folder()
  items:createItem{ name = "Bear" }
  test.run("backup.lua", folder)
  for _ = 1, 9 do
    app:pressHome()
    app:open()
    clock:advance(60)
  end
  expect(#app:errors()):equals(0)
  local backups = assert(fs.list(folder))
  expect(#backups):equals(7)
  expect(fs.exists(folder .. "/" .. backups[1] .. "/Documents/items.archive")):isTrue()
  expect(test.output()):matches("files in " .. backups[7])
end)

test("a folder that cannot be written is an error of the handler, and the items are saved", function()
  test.run("backup.lua", "/")
  items:createItem{ name = "Bear" }
  app:pressHome()
  expect(#app:errors()):equals(1)
  expect(test.log()):matches("Saved all of the Items")
end)

test("without a folder there is a hint", function()
  expect(function() test.run("backup.lua") end):raises("usage: cubby … run examples/jobs/backup.lua BACKUPS")
end)
