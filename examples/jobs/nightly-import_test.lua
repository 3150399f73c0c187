local function night(rows)
  local path = test.folder() .. "/objects.csv"
  assert(fs.write(path, "number,title,year\n" .. rows))
  test.run("nightly-import.lua", path, "number", "title")
end

test("the same file again changes nothing, and what changed is updated", function()
  night("1,Bowl,1883\n2,Vase,\n")
  night("1,Bowl,1883\n2,Vase,\n")
  night("1,Bowl,1884\n2,Vase,\n")
  expect(test.output()):equals([[
2 created, 0 updated, 0 unchanged, 0 rejected
0 created, 0 updated, 2 unchanged, 0 rejected
0 created, 1 updated, 1 unchanged, 0 rejected
]])
  expect(items:query("name == 'Bowl'"):first()):has{ year = 1884 }
end)

test("rejected rows are in a file of their own, and the status is 2", function()
  night("1,Bowl,1883\n1,Urn,\n")
end, function(last)
  expect(last.status):equals(2)
  expect(last.log):matches("correct the rows in")
  expect(#items):equals(1)
  expect(fs.read(app.container.documents .. "/rejected.csv")):matches("1,Urn")
end)

test("a file that is not there is an error", function()
  expect(function() test.run("nightly-import.lua", test.folder() .. "/none.csv", "number") end):raises("none.csv")
end)
