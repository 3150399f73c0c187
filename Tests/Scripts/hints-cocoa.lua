-- Names as Cocoa has them, keys and notifications that are misspelt: what to write here.

local function message(f) return (select(2, pcall(f)):gsub("^[^:]*:%d+: ", "")) end
local w = archiver.writer()
print(message(function() w:encodeObjectForKey("x", "a") end))
print(message(function() w["encodeObject:forKey:"](w, "x", "a") end))
print(message(function() w:encodeInt_forKey(1, "a") end))
print(message(function() w:encodeobject("x", "a") end))
-- expect: KeyedArchiver has no property or method 'encodeObjectForKey'; did you mean 'encodeObject'?
-- expect: KeyedArchiver has no property or method 'encodeObject:forKey:'; did you mean 'encodeObject'?
-- expect: KeyedArchiver has no property or method 'encodeInt_forKey'; did you mean 'encodeInt'?
-- expect: KeyedArchiver has no property or method 'encodeobject'; did you mean 'encodeObject'?
w:encodeObject("x", "a")
local r = archiver.reader(w:finishEncoding())
print(message(function() return r:decodeObjectForKey("a") end))
print(message(function() return r:decodeObjectOfClass_forKey("NSString", "a") end))
print(message(function() return r:containsValueForKey("a") end))
print(message(function() return images:imagePathForKey("a") end))
print(message(function() return archiver.unarchiveObjectWithFile("a") end))
-- expect: KeyedUnarchiver has no property or method 'decodeObjectForKey'; did you mean 'decodeObject'?
-- expect: KeyedUnarchiver has no property or method 'decodeObjectOfClass_forKey'; did you mean 'decodeObjectOfClass'?
-- expect: KeyedUnarchiver has no property or method 'containsValueForKey'; did you mean 'containsValue'?
-- expect: images has no property or method 'imagePathForKey'; did you mean 'imagePath'?
-- expect: 'archiver' has no member 'unarchiveObjectWithFile'; did you mean 'unarchiveObject'?

-- A key that encode does not write, and that is nearly one that it does, once; another absent key is an older archive's.
local Foo = archiver.class("Foo", { secure = true })
function Foo:encode(coder) coder:encodeObject(self.name, "name") coder:encodeInt(self.age, "age") end
function Foo:init(coder)
  self.name, self.age = coder:decodeObject("nmae"), coder:decodeInt("age")
  self.inheritor = coder:decodeObject("inheritorName")
end
local bytes = archiver.archivedData{ Foo{ name = "James", age = 40 }, Foo{ name = "Juliana", age = 7 } }
print(#archiver.unarchivedObject({ "NSArray", Foo }, bytes))
-- expect: 2
-- expect log: Foo:init decodes 'nmae', which is not in the archive, and which Foo:encode does not write; did you mean 'name'?

-- A notification that nobody posts.
notifications:addObserver("UIApplicationDidEnterBackground", function() end)
notifications:addObserver("UIApplication.willResignActiveNotification", function() end)
notifications:addObserver("didReceiveMemoryWarning", function() end)
notifications:addObserver("UIKeyboardWillShowNotification", function() end)
notifications:addObserver("UIApplicationWillTerminateNotification", function() end)
notifications:addObserver("sale", function() end)
-- expect log: nobody posts 'UIApplicationDidEnterBackground'; did you mean 'UIApplicationDidEnterBackgroundNotification'?
-- expect log: nobody posts 'UIApplication.willResignActiveNotification'; did you mean 'UIApplicationWillResignActiveNotification'?
-- expect log: nobody posts 'didReceiveMemoryWarning'; did you mean 'UIApplicationDidReceiveMemoryWarningNotification'?
-- expect log: nobody posts 'UIKeyboardWillShowNotification' unless a script does: it is of a part of Cocoa that is not here
