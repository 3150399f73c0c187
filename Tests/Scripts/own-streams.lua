-- The process's own streams and the null device are not files: nothing is replaced, and the order is that of what is printed.

print("before")
assert(fs.write("/dev/stdout", "written\n"))
print("between")
assert(fs.write("/dev/fd/1", data("by its number\n")))
io.write("after\n")
assert(fs.write("/dev/null", "nothing") and csv.write("/dev/null", { { name = "Lamp" } }))
-- expect: before
-- expect: written
-- expect: between
-- expect: by its number
-- expect: after

items:createItem{ name = "Lamp" }
print(items:export("/dev/null", { format = "csv" }))
-- expect: 1
print(#assert(plist.encode({ 1 }, { format = "xml" })) > 0, plist.write({ 1 }, "/dev/null"))
-- expect: true	true

-- Other descriptors are not a script's.
local ok, err = fs.write("/dev/fd/7", "x")
print(ok, err.code)
-- expect: nil	13
