-- Classes of scripts: inheritance, sharing, cycles, secure coding, names.
local Animal = archiver.class("Animal", { secure = true })
function Animal:encode(coder) coder:encodeObject(self.name, "name") end
function Animal:init(coder) self.name = coder:decodeObject("name") end
function Animal:greet() return "I am " .. self.name end
Animal.__lt = function(a, b) return a.name < b.name end

local Dog = archiver.class("Dog", { super = Animal, aliases = { "Hound" } })
function Dog:encode(coder)
  Animal.encode(self, coder)
  coder:encodeObject(self.toys, "toys")
  coder:encodeConditionalObject(self.owner, "owner")
end
function Dog:init(coder)
  Dog.super.init(self, coder)
  self.toys = coder:decodeObject("toys")
  self.owner = coder:decodeObject("owner")
end

local ball = Animal{ name = "Ball" }
local dog = Dog{ name = "Rex", toys = { ball, ball }, owner = Animal{ name = "Ann" } }
print(dog, Dog, dog.className, dog:greet(), ball < dog)
-- expect: Dog { name = "Rex", owner = Animal { name = "Ann" }, toys = { Animal { … }, Animal { … } } }	class Dog	Dog	I am Rex	true

local path = app.container.documents .. "/dog.archive"
print(archiver.archiveRootObject(dog, path), (archiver.unarchiveObject(path .. "x")), select(2, archiver.unarchiveObject(path .. "x")).code)
-- expect: true	nil	2
local back = assert(archiver.unarchiveObject(path))
print(back:greet(), back.toys[1] == back.toys[2], back.owner, archiver.className(back.toys), getmetatable(back) == Dog)
-- expect: I am Rex	true	nil	NSArray	true

-- The owner is kept when someone else encodes it, before or after.
local both = archiver.reader(archiver.archivedData({ dog, dog.owner })):decodeObject("root")
print(both[1].owner == both[2], both[2].name)
-- expect: true	Ann

-- Only the classes that are named.
local bytes = archiver.archivedData(dog, { requiringSecureCoding = true })
print(archiver.unarchivedObject({ Dog, Animal, "NSArray" }, bytes).name, (archiver.unarchivedObject({ Animal, "NSArray" }, bytes)).name)
-- expect: Rex	Rex
print(archiver.unarchivedObject({ "NSArray" }, bytes))
-- expect: nil	root: the class Dog is not among those allowed here: NSArray	4864
print(archiver.unarchivedObject({ Dog }, bytes))
-- expect: nil	root.toys: the class Animal is not among those allowed here: Dog, NSArray, NSData, NSDate, NSDictionary, NSNumber, NSString	4864
local Open = archiver.class("Open")
function Open:encode() end
function Open:init() end
print(archiver.archivedData(Open{}, { requiringSecureCoding = true }))
-- expect: nil	secure coding is required, and Open does not support it; archive without it, or declare that the class checks what it decodes	4866
print(archiver.unarchivedObject({ Open }, archiver.archivedData(Open{})))
-- expect: nil	root: secure coding is required, and Open does not support it	4864

-- Names, both ways: for all archives, and for one.
archiver.setClassName("Kennel.Dog", Dog)
local renamed = archiver.archivedData(dog)
print(archiver.open(renamed).root.className, archiver.unarchivedObject("Kennel.Dog", archiver.archivedData({})) == nil)
-- expect: Kennel.Dog	true
archiver.setClass(Dog, "Kennel.Dog")
print(archiver.reader(renamed):decodeObject("root"):greet())
-- expect: I am Rex
archiver.setClass(nil, "Kennel.Dog")
local reader = archiver.reader(renamed)
reader:setClass(Animal, "Kennel.Dog")
print(getmetatable(reader:decodeObject("root")) == Animal)
-- expect: true
archiver.setClassName(nil, Dog)
local writer = archiver.writer()
writer:setClassName("Hound", Dog)
writer:encodeObject(dog, "root")
print(getmetatable(archiver.reader(writer:finishEncoding()):decodeObject("root")) == Dog)
-- expect: true

-- A cycle: what is being decoded is there already, without the fields that its init has not read yet.
local Node = archiver.class("Node")
function Node:encode(coder) coder:encodeObject(self.others, "others") coder:encodeInt(self.n, "n") end
function Node:init(coder)
  self.n = coder:decodeInt("n")
  self.others = coder:decodeObject("others")
end
local one, two = Node{ n = 1, others = {} }, Node{ n = 2 }
two.others = { one, two }
one.others = { two, two.others }
local first = archiver.reader(archiver.archivedData(one)):decodeObject("root")
local second = first.others[1]
print(second.n, second.others[1] == first, second.others[2] == second, first.others[2] == second.others, #second.others)
-- expect: 2	true	true	true	2

-- A chain that is longer than any stack.
local head
for n = 1, 3000 do head = Node{ n = n, others = { head } } end
local node, count = archiver.reader(archiver.archivedData(head)):decodeObject("root"), 0
while node do node, count = node.others[1], count + 1 end
print(count)
-- expect: 3000

-- Errors of scripts are theirs, and nothing stays behind of what was begun.
function Node:encode() local nothing = self.missing.field end
print((select(2, pcall(archiver.archivedData, { Node{} })):gsub("^[^:]*", "")))
-- expect: :97: attempt to index a nil value (field 'missing')
function Node:encode(coder) coder:encodeInt(1, "n") end
function Node:init() error({ code = 7 }) end
print(select(2, pcall(archiver.unarchivedObject, { Node, "NSArray" }, "")), "")
-- expect: nil	
local bad = archiver.reader(archiver.archivedData({ Node{} }))
print(select(2, pcall(bad.decodeObject, bad, "root")).code)
-- expect: 7
Node.encode = nil
print(select(2, pcall(archiver.archivedData, Node{})))
-- expect: Node has no encode method: function Node:encode(coder) … end writes its fields

-- The archive's own faults come out of init as errors of the archive.
local Strict = archiver.class("Strict")
function Strict:encode(coder) coder:encodeObject("text", "n") end
function Strict:init(coder) self.n = coder:decodeInt("n") end
print(archiver.reader(archiver.archivedData(Strict{})):decodeObject("root"))
-- expect: nil	root.n: the value is not a number	4864

-- Copies: deep, shared things shared, cycles, too.
local copy = archiver.copy(two)
print(copy ~= two, copy.others[2] == copy, copy.others[1] ~= one, copy.others[1].others[2] == copy.others, copy.n)
-- expect: true	true	true	true	2
function Dog:copy() return Dog{ name = self.name .. "'s twin", toys = archiver.copy(self.toys) } end
local pair = archiver.copy{ dog, dog }
print(pair[1].name, pair[1] == pair[2], pair[1].toys[1] == pair[1].toys[2], pair[1].toys[1] == ball)
-- expect: Rex's twin	true	true	false
function Dog:copy() return Dog{ self = archiver.copy(self) } end
print((select(2, pcall(archiver.copy, dog)):gsub("^[^:]*:%d+: ", "")))
-- expect: Dog:copy copies something that refers back to the object before it has returned; without a copy method, archiver.copy copies cycles, too

-- An item is archived as its store archives it.
local item = items:createItem{ name = "Lamp", valueInDollars = 30, room = "Study" }
local graph = archiver.open(archiver.archivedData({ item, item }))
print(graph.root[1].className, graph.root[1].name, graph.root[1].valueInDollars, graph.root[1].room, graph.root[1] == graph.root[2])
-- expect: Item	Lamp	30	Study	true
items:removeItem(item)
print(select(2, archiver.archivedData(item)))
-- expect: Item: item was removed	4866
