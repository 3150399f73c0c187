-- An error that a function returns passes for its text, and its number is the third result.
local file, err, code = io.open("/nonexistent/file")
print(file, code, err.code)
-- expect: nil	13	13
local text = tostring(err)
print(#err == #text, err:sub(1, 11), string.sub(err, 1, 11), string.len(err) == #text, string.byte(err) == text:byte())
-- expect: true	cannot open	cannot open	true	true
print(string.find(err, "outside", 1, true) == text:find("outside", 1, true), string.match(err, "^%a+"), err:match("^%a+"))
-- expect: true	cannot	cannot
print(table.concat{ "a: ", err } == "a: " .. text, table.concat({ 1, 2 }, err) == "1" .. text .. "2")
-- expect: true	true
print(string.format("%s", err) == text, string.format("%.6s", err), string.upper(err) == text:upper())
-- expect: true	cannot	true
print(string.gsub("x", "x", err) == text, (string.gsub(err, ".*", "y", 1)), string.rep(err, 2, "-") == text .. "-" .. text)
-- expect: true	y	true
for word in string.gmatch(err, "%a+") do print(word) break end
-- expect: cannot
print(utf8.len(err) == utf8.len(text), string.reverse(err) == text:reverse())
-- expect: true	true
io.write(err, "\n")
-- expect: cannot open /nonexistent/file: it is outside the sandbox; --allow-read DIR grants it
io.stdout:write("because ", err, "\n")
-- expect: because cannot open /nonexistent/file: it is outside the sandbox; --allow-read DIR grants it
-- In files, and where a function of the host takes text, or strings in a list.
local path = app.container.tmp .. "/error.txt"
local out = assert(io.open(path, "w"))
assert(out:write(err, 1)):close()
print(fs.read(path) == text .. "1", fs.write(path, err), fs.read(path) == text)
-- expect: true	true	true
print(select("#", fs.read("/nonexistent")), select(3, fs.read(app.container.tmp .. "/absent")))
-- expect: 3	2
print(select("#", json.decode("{")))
-- expect: 2
-- Other objects are no texts.
print((pcall(string.len, items)), (pcall(io.write, items)), (pcall(table.concat, { items })))
-- expect: false	false	false
