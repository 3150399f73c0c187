local function inbox() return test.folder() .. "/inbox" end

test("what comes is imported, and lies in done or in failed", function()
  assert(fs.makeDirectory(inbox()))
  assert(fs.write(inbox() .. "/early.csv", "id,name\n1,Bear\n"))
  assert(fs.write(inbox() .. "/.not-yet.csv", "id,name\n9,"))
  timer.after(10, function()
    expect(#items):equals(1)
    assert(fs.write(inbox() .. "/bad.json", '{"id": "2"'))
    assert(fs.write(inbox() .. "/late.csv", "id,name\n3,Lamp\n"))
  end)
  timer.after(20, function() app:terminate() end)
  test.run("inbox.lua", inbox(), "id")
end, function(last)
  expect(last.status):equals(0)
  expect(last.log):matches("early.csv: 1 created")
  expect(#items):equals(2)
  expect(fs.list(inbox() .. "/done")):equals{ "early.csv", "late.csv" }
  expect(fs.list(inbox() .. "/failed")):equals{ "bad.json", "bad.json.txt" }
  expect(fs.exists(inbox() .. "/.not-yet.csv")):isTrue()
end)
