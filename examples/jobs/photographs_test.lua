-- A picture of one pixel.
local pixel = data.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

test("each picture becomes one item, however often it was copied", function()
  local folder = test.folder() .. "/camera"
  assert(fs.makeDirectory(folder .. "/2009"))
  assert(fs.write(folder .. "/2009/dot.png", pixel:bytes()))
  assert(fs.write(folder .. "/notes.txt", "no picture"))
  test.run("photographs.lua", folder)
  assert(fs.write(folder .. "/copy.png", pixel:bytes()))
  test.run("photographs.lua", folder)
  expect(test.output()):equals("1 new, 0 known, 1 other files\n0 new, 2 known, 1 other files\n")
  expect(#items):equals(1)
  expect(items[1]):has{ name = "dot.png", file = folder .. "/2009/dot.png" }
  expect(items[1].image.width):equals(1)
end)
