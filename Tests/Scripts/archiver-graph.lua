-- Archives without their classes: looked into, changed, saved.
local original = archiver.archivedData(archiver.collection("NSMutableArray", {
  archiver.object("Homepwner.Item", { name = "Bear", valueInDollars = 78, tags = { "a", "b" } }),
  archiver.object("Homepwner.Item", { name = "Lamp", serialNumber = null }),
}))
local graph = assert(archiver.open(original))
print(graph, graph.format, #graph.root, archiver.className(graph.root), #graph:objects(), #graph:objects("Homepwner.Item"))
-- expect: Graph (NSMutableArray)	binary	2	NSMutableArray	4	2
local bear = graph.root[1]
print(bear, bear.className, bear.superclasses[1], bear.fields.name, bear.nothing)
-- expect: Homepwner.Item { name = "Bear", tags = NSArray { "a", "b" }, valueInDollars = 78 }	Homepwner.Item	NSObject	Bear	nil
print(#graph:query("name BEGINSWITH $n", { n = "B" }), graph:query("className ENDSWITH 'Item' AND valueInDollars > 70")[1] == bear, #graph:query(function(o) return o.tags ~= nil end))
-- expect: 1	true	1
graph:walk(function(value, path)
  if path:find("tags") then print(path, archiver.className(value)) end
  return not path:find("tags")
end)
-- expect: root[0].tags	NSArray

bear.name = "Fluffy Bear"
bear.owner = archiver.object("Owner", { item = bear, site = archiver.url("http://a.org/") })
table.insert(graph.root, bear.owner)
local path = app.container.tmp .. "/changed.archive"
print(graph:save(path, { format = "xml" }), fs.read(path):sub(1, 5))
-- expect: true	<?xml
local again = assert(archiver.open(path))
print(again.format, again.root[1].name, again.root[1].owner == again.root[3], again.root[3].item == again.root[1], again.root[3].site.className)
-- expect: xml	Fluffy Bear	true	true	NSURL
print((again:dump():match("owner: [^\n]*")))
-- expect: owner: Owner #4
again.root = { 1, 2 }
print(archiver.reader(again:bytes({ format = "binary" })):decodeObject("root")[2], again.top.root[1])
-- expect: 2	1

-- As JSON: what is shared or leads back has a number.
local loop = archiver.object("Owner", { name = "Ann", since = date(0.5) })
loop.self = loop
local text = archiver.open(archiver.archivedData({ loop, { ["a.b"] = 1, [""] = { 2 } } })):json()
local tree = json.decode(text).root
print(tree[1]["$class"], tree[1].name, tree[1].since["$date"], tree[1].self["$ref"] == tree[1]["$id"])
-- expect: Owner	Ann	1970-01-01T00:00:00.5Z	true
-- The paths of walk are those of cubby inspect --path.
archiver.open(archiver.archivedData({ { ["a.b"] = 1 }, { [""] = { 2 } }, { [5] = "x", [0.5] = "y" } })):walk(function(value, path)
  if type(value) ~= "table" then print(path, value) end
end)
-- expect: root[0]["a.b"]	1
-- expect: root[2][value 0]	y
-- expect: root[2][5]	x
-- expect: root[1][""][0]	2

-- Foundation's values, and back.
local values = {
  archiver.url("b", archiver.url("http://a.org/")), archiver.range(5, 2), archiver.rect(1, 2, 3, 4.5), archiver.point(1, 2),
  archiver.size(3, 4), archiver.uuid("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"), archiver.decimal("-12.50"), date(0), data("ab"),
  null, plist.integer("18446744073709551615"), archiver.collection("NSSet", { 1, 2 }),
  archiver.collection("NSOrderedSet", { "x" }), archiver.collection("NSCountedSet", { apple = 2 }), plist.dictionary{},
}
local back = archiver.reader(archiver.archivedData(values)):decodeObject("root")
for index, value in ipairs(values) do
  local other = back[index]
  assert(type(value) == "table" or value == other, tostring(value))
  print(archiver.className(other), type(other) == "table" and #other or other)
end
-- expect: NSURL	http://a.org/b
-- expect: NSValue	{5, 2}
-- expect: NSValue	{{1, 2}, {3, 4.5}}
-- expect: NSValue	{1, 2}
-- expect: NSValue	{3, 4}
-- expect: NSUUID	E621E1F8-C36C-495A-93FC-0C247A3E6E5F
-- expect: NSDecimalNumber	-12.50
-- expect: NSDate	1970-01-01 00:00:00 +0000
-- expect: NSData	<2 bytes: 6162>
-- expect: NSNull	null
-- expect: NSNumber	18446744073709551615
-- expect: NSSet	2
-- expect: NSOrderedSet	1
-- expect: NSCountedSet	0
-- expect: NSDictionary	0
print(back[1].base, back[2].location, back[3].origin.y, back[3].size.width, back[12]:contains(2), back[14].apple, back[7]:number())
-- expect: http://a.org/	5	2.0	3.0	true	2	-12.5

-- A set is a property list's, too; a dictionary may have any keys.
local keys = { [1.5] = "a", [true] = "b", [date(0)] = "c" }
local count = 0
for key, value in pairs(archiver.reader(archiver.archivedData(keys)):decodeObject("root")) do
  assert(keys[key] == value or key == date(0) and value == "c")
  count = count + 1
end
print(count)
-- expect: 3
print(archiver.open("bplist00 and nothing else"))
-- expect: nil	the property list is cut off: 25 bytes are too few for a trailer (at byte 25)	3840

-- What XML loses of an archive is said: by its bytes, a writer and a file.
local control = { "x\1y" }
print(archiver.unarchivedObject({ "NSArray" }, archiver.archivedData(control, { format = "xml" }))[1] == "x\1y")
local writer = archiver.writer{ format = "xml" }
writer:encodeObject({ "\u{FFFE}" }, "root")
print(#writer:finishEncoding() > 0, archiver.archiveRootObject({ "\u{FFFF}" }, app.container.tmp .. "/c.xml", { format = "xml" }))
-- expect: true
-- expect: true	true
-- expect log: XML does not have the character U+0001
-- expect log: XML does not have the character U+FFFE
-- expect log: XML does not have the character U+FFFF
print((select(2, archiver.archivedData({ "a\0" }, { format = "xml" }))))
-- expect: XML cannot hold a string with a NUL character; write the binary form or JSON
