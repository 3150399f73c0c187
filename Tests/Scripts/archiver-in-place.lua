-- Lists and dictionaries within the field of an object, with references among other values.
local uid = plist.uid
local function archive(fields)
  fields["$class"] = uid(2)
  return plist.encode{
    ["$version"] = 100000, ["$archiver"] = "NSKeyedArchiver", ["$top"] = { root = uid(1), list = { uid(3), 5 } },
    ["$objects"] = {
      "$null", fields, { ["$classname"] = "Node", ["$classes"] = { "Node", "NSObject" } }, "leaf",
      { name = uid(3), up = { uid(1) }, ["$class"] = uid(2) },
    },
  }
end
local bytes = archive{ m = { k = uid(3), ["$b"] = uid(4) }, kids = { 1, 2.5, uid(4), { uid(4), { deep = uid(3) } } }, plain = { a = { 1 } } }
local graph = assert(archiver.open(bytes))
local root = graph.root
print(root.m.k, root.m["$b"].name, #root.kids, root.kids[2], root.kids[3] == root.m["$b"], root.kids[4][2].deep, root.plain.a[1], graph.top.list[1])
-- expect: leaf	leaf	4	2.5	true	leaf	1	leaf
print(root.m["$b"].up[1] == root, archiver.className(root.m), archiver.className(root.kids), #graph:objects("Node"))
-- expect: true	NSDictionary	NSArray	2
graph:walk(function(value, path)
  if value == "leaf" then print(path) end
  return true
end)
-- expect: list[0]
-- expect: root.m.k
-- expect: root.kids[2].name
-- expect: root.kids[3][1].deep

-- Unchanged, they are what they were, whatever the numbers of their objects are; a change is a change of them alone.
local function shown(graph)
  return (graph:json():gsub('"%$id": %d+', '"$id"'):gsub('"%$ref": %d+', '"$ref"'))
end
print(shown(archiver.open(bytes)) == shown(graph), shown(archiver.open(graph:bytes())) == shown(graph))
-- expect: true	true
root.aaa = { "new", "objects" }
root.kids[1] = 7
root.m.other = archiver.object("Node", { name = "other" })
table.insert(root.kids[4], "end")
local again = archiver.open(graph:bytes({ format = "xml" })).root
print(again.m.k, again.m["$b"].name, again.m.other.name, again.kids[1], again.kids[3] == again.m["$b"], again.kids[4][2].deep, again.kids[4][3])
-- expect: leaf	leaf	other	7	true	leaf	end
local stored
for _, object in ipairs(plist.decode(graph:bytes())["$objects"]) do
  if type(object) == "table" and object.kids then stored = object end
end
print(stored.kids[1], stored.kids[2], stored.kids[3] == stored.m["$b"], type(stored.m), type(stored.kids[4][2]))
-- expect: 7	2.5	true	table	table

-- A copy within the graph, and in another one, leads to the same objects.
local other = archiver.open(archiver.archivedData({ "a", "b", "c" }))
other.root = { root.m, root.kids, root }
local moved = archiver.open(other:bytes()).root
print(moved[1].k, moved[1]["$b"].name, moved[2][4][2].deep, moved[3].m["$b"] == moved[1]["$b"])
-- expect: leaf	leaf	leaf	true

-- What has no meaning elsewhere, and what has no end, is refused.
root.kids[1] = uid(3)
print(pcall(graph.bytes, graph))
-- expect: true	nil	a UID has no meaning outside its own archive	3852
root.kids[1] = 1
root.kids[4][2] = root.kids
root.kids[4][2][4] = root.kids
print(select(2, pcall(graph.bytes, graph)):match("containers within a field nest deeper"))
-- expect: containers within a field nest deeper
-- A set in place with references, and references beside the objects, are refused when an archive is opened.
print(archiver.open(archive{ kids = plist.set{ uid(3) } }))
-- expect: nil	a set within a field holds references to objects	4864
