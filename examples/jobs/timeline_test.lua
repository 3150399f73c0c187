test("the dates of all archives are listed in their order, and a damaged file is told of", function()
  local folder = test.folder()
  assert(archiver.archiveRootObject({ late = date("2026-11-21T04:13:00Z") }, folder .. "/a.archive"))
  assert(archiver.archiveRootObject({ date("1906-10-17T00:00:00Z") }, folder .. "/b.archive"))
  assert(fs.write(folder .. "/c.archive", "bplist00 and nothing else"))
  test.run("timeline.lua", folder)
  local lines = {}
  for line in test.output():gmatch("[^\r\n]+") do lines[#lines + 1] = line:match("^[^,]*") end
  expect(lines):equals{ "date", "1906-10-17T00:00:00Z", "2026-11-21T04:13:00Z" }
  expect(test.log()):matches("c.archive")
end)
