-- An instance of a class is not a plain value: what would lose its class refuses it, and says what to do.

local Foo = archiver.class("Foo", { secure = true })
function Foo:encode(coder) coder:encodeObject(self.name, "name") end
function Foo:init(coder) self.name = coder:decodeObject("name") end
local foo = Foo{ name = "James" }
local other = archiver.object("Homepwner.Person", { name = "Ann" })
local item = items:createItem{ name = "Lamp" }
for _, try in ipairs{
  function() plist.encode(foo) end, function() json.encode{ list = { foo } } end,
  function() plist.write({ other }, app.container.tmp .. "/a.plist") end, function() defaults:set("foo", foo) end,
  function() notifications:post("foo", { foo = foo }) end, function() item.foo = { other } end,
  function() items:createItem{ foo = foo } end, function() items:query("name == $x", { x = foo }) end,
} do
  local ok, message = pcall(try)
  print(ok, tostring(message):match("[%w%[%]%.]+: an instance of [%w%.]+") or tostring(message):match("an instance of [%w%.]+") or message)
end
-- expect: false	root: an instance of Foo
-- expect: false	list[1]: an instance of Foo
-- expect: false	root[1]: an instance of Homepwner.Person
-- expect: false	foo: an instance of Foo
-- expect: false	info.foo: an instance of Foo
-- expect: false	Item.foo[1]: an instance of Homepwner.Person
-- expect: false	Item.foo: an instance of Foo
-- expect: false	x: an instance of Foo
print(#items, item.foo, defaults:get("foo"))
-- expect: 1	nil	nil
-- A plain table goes, and so does one that only inherits; the archiver takes both.
print(json.encode(setmetatable({ a = 1 }, { __index = { b = 2 } })), plist.decode(plist.encode{ name = foo.name }).name)
-- expect: {"a":1}	James
print(archiver.unarchivedObject({ Foo }, archiver.archivedData(foo)).name)
-- expect: James
notifications:addObserver("callback", function(note) print(note.info.call()) end)
notifications:post("callback", { call = function() return "called" end })
-- expect: called
-- A graph's predicates still look into what objects hold.
local graph = archiver.open(archiver.archivedData{ archiver.object("Dog", { owner = other }) })
print(#graph:query("owner.name == 'Ann'"))
-- expect: 1

-- A class that is allowed under a mistyped name.
local bytes = archiver.archivedData(foo)
print(pcall(archiver.unarchivedObject, { "Fooo" }, bytes))
-- expect: false	bad argument #1 'classes' to 'archiver.unarchivedObject' (no class 'Fooo' is declared; did you mean 'Foo'? A class of one's own is declared by archiver.class)
local reader = archiver.reader(archiver.archivedData{ 1 })
print((pcall(reader.decodeObjectOfClass, reader, "NSArrray", "root")), (pcall(reader.decodeObjectOfClasses, reader, { "NSArray", "NSNumer" }, "root")))
-- expect: false	false
print(archiver.unarchivedObject({ "Homepwner.Person" }, archiver.archivedData(other)).name)
-- expect: Ann
app.restoration = { foo = foo }
app:pressHome()
-- expect log: app.restoration is not kept: app.restoration.foo: an instance of Foo is not a property-list value
