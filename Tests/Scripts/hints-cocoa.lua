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

-- A key that encode does not write, once: with the one that it nearly is, or with those that encode writes.
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
-- expect log: Foo:init decodes 'inheritorName', which is not in the archive, and which Foo:encode does not write: it writes 'age', 'name'

-- A key that is nearly one of the archive's own, once; another may be one that not every archive has.
local two = archiver.writer()
two:encodeObject("James", "myfoo")
local top = archiver.reader(two:finishEncoding())
print(top:decodeObject("myfo"), top:decodeObject("myfo"), top:decodeObject("colour"), top:containsValue("myfoe"))
-- expect: nil	nil	nil	false
-- expect log: the archive has no key 'myfo' at its top; did you mean 'myfoo'?

-- A notification that nobody posts.
notifications:addObserver("UIApplicationDidEnterBackground", function() end)
notifications:addObserver("UIApplication.willResignActiveNotification", function() end)
notifications:addObserver("didReceiveMemoryWarning", function() end)
notifications:addObserver("UIKeyboardWillShowNotification", function() end)
notifications:addObserver("UIApplicationDidEnterBackgroundNotifcation", function() end)
notifications:addObserver("NSManagedObjectContextDidSaveNotification", function() end)
notifications:addObserver("UIApplicationWillTerminateNotification", function() end)
notifications:addObserver("sale", function() end)
-- expect log: nobody posts 'UIApplicationDidEnterBackground'; did you mean 'UIApplicationDidEnterBackgroundNotification'?
-- expect log: nobody posts 'UIApplication.willResignActiveNotification'; did you mean 'UIApplicationWillResignActiveNotification'?
-- expect log: nobody posts 'didReceiveMemoryWarning'; did you mean 'UIApplicationDidReceiveMemoryWarningNotification'?
-- expect log: nobody posts 'UIKeyboardWillShowNotification' unless a script does: it is of a part of Cocoa that is not here
-- expect log: nobody posts 'UIApplicationDidEnterBackgroundNotifcation'; did you mean 'UIApplicationDidEnterBackgroundNotification'?
-- expect log: nobody posts 'NSManagedObjectContextDidSaveNotification' unless a script does: it is of a part of Cocoa that is not here

-- A delegate's method, or a notification, in the place of an event; a class of Cocoa's in that of a module.
for _, name in ipairs{ "applicationDidEnterBackground:", "sceneDidEnterBackground",
  "UIApplicationDidEnterBackgroundNotification" } do
  print(message(function() app:on(name, print) end):match("unknown event '[^']*'; did you mean '[^']*'"))
end
print(message(function() return _G.NSKeyedArchiver end))
print(message(function() return _G.NSUserDefaults end))
print(message(function() return _G.UIImage end))
-- expect: unknown event 'applicationDidEnterBackground:'; did you mean 'didEnterBackground'
-- expect: unknown event 'sceneDidEnterBackground'; did you mean 'didEnterBackground'
-- expect: unknown event 'UIApplicationDidEnterBackgroundNotification'; did you mean 'didEnterBackground'
-- expect: undefined global 'NSKeyedArchiver'; here it is archiver
-- expect: undefined global 'NSUserDefaults'; here it is defaults
-- expect: undefined global 'UIImage'; here it is image

-- Members of Cocoa's objects, and of the book's store.
print(message(function() return items.count end))
print(message(function() return items:sharedStore() end))
print(message(function() return items.privateItems end))
print(message(function() return defaults:objectForKey("a") end))
print(message(function() return defaults["objectForKey:"](defaults, "a") end))
print(message(function() return app.sharedApplication end))
-- expect: items has no property or method 'count'; here it is #items
-- expect: items has no property or method 'sharedStore'; here it is items itself
-- expect: items has no property or method 'privateItems'; here it is items.allItems
-- expect: defaults has no property or method 'objectForKey'; here it is get
-- expect: defaults has no property or method 'objectForKey:'; here it is get
-- expect: app has no property or method 'sharedApplication'; here it is app itself
