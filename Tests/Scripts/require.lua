-- require reads modules in Lua beside the script, each once.

print(require("greeting").hello("bear"), require("greeting") == require("greeting"), loads)
-- expect: hello, bear	true	1
print(require("deeper.inner").name)
-- expect: deeper.inner
print((pcall(require, "failing")), (select(2, pcall(require, "failing")):match("while loading")))
-- expect: false	while loading
print((select(2, pcall(require, "unreadable")):match("unexpected symbol")))
-- expect: unexpected symbol
print((select(2, pcall(require, "nowhere")):match("^module 'nowhere' not found:")))
-- expect: module 'nowhere' not found:
for _, name in ipairs{ "../strict", "/etc/passwd", "..", "" } do print((pcall(require, name))) end
-- expect: false
-- expect: false
-- expect: false
-- expect: false
-- The container's own scripts are modules, too.
assert(fs.makeDirectory(app.container.path .. "/Library/Scripts"))
assert(fs.write(app.container.path .. "/Library/Scripts/own.lua", "return 'my own'"))
print((require("own")))
-- expect: my own
print(require("string") == string, require("cubby").app == app)
-- expect: true	true
