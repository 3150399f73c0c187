-- The archiving tasks of the books: an object and an object that holds others, kept between runs.
--
--   cubby --container /tmp/foo-bar run examples/foo-bar.lua        the first time, and again
--
-- What each run logs is below, behind "expect:" (the first) and "expect again:".

local Foo = archiver.class("Foo")

function Foo:encode(coder)
  coder:encodeObject(self.name, "name")
  coder:encodeObject(self.age, "age")              -- an NSNumber object, as in the books
end

function Foo:init(coder)
  self.name = coder:decodeObject("name")
  self.age = coder:decodeObject("age")
end

function Foo:copy() return Foo{ name = self.name, age = self.age } end

local Bar = archiver.class("Bar")

function Bar.new()
  local foos = { Foo{ name = "Juliana", age = 7 }, Foo{ name = "Nicolas", age = 3 } }
  return Bar{ foos = archiver.collection("NSMutableArray", foos) }
end

function Bar:encode(coder) coder:encodeObject(self.foos, "foos") end
function Bar:init(coder) self.foos = coder:decodeObject("foos") end
function Bar:copy() return Bar{ foos = archiver.copy(self.foos) } end     -- the array, and each Foo in it

local function NSLog(format, ...) print(format:format(...)) end

-- The objects of a file that an earlier run wrote; nil when the file is absent or empty: a first run.
local function saved(path)
  local bytes = fs.exists(path) and fs.read(path)
  if not bytes or #bytes == 0 then return nil end
  local unarchiver = assert(archiver.reader(bytes))
  if not unarchiver:containsValue("myfoo") then
    error(path .. " is a file of your own: run this in an empty container", 0)
  end
  return unarchiver
end

-- Task 1: one object under a key.
local pathToFoo = app.container.documents .. "/foo.archive"
-- Task 2: two objects, in a file of their own so that the tasks don't conflict.
local pathToFoo2 = app.container.documents .. "/foo2.archive"

local theFoo, theFoo2, theBar

local function task1()
  local unarchiver = saved(pathToFoo)
  if not unarchiver then
    NSLog("first run: no name or age")             -- expect: first run: no name or age
    theFoo = Foo{ name = "James", age = 40 }
    return
  end
  theFoo = unarchiver:decodeObject("myfoo")
  unarchiver:finishDecoding()
  NSLog("nth run - name: %s age: %i", theFoo.name, theFoo.age) -- expect again: nth run - name: James age: 40
end

local function task2()
  local unarchiver = saved(pathToFoo2)
  if not unarchiver then
    NSLog("first run: no name or age")             -- expect: first run: no name or age
    theFoo2 = Foo{ name = "James", age = 40 }
    theBar = Bar.new()
    return
  end
  theFoo2 = unarchiver:decodeObject("myfoo")
  theBar = unarchiver:decodeObject("mybar")
  unarchiver:finishDecoding()
  NSLog("nth run - name: %s age: %i", theFoo2.name, theFoo2.age) -- expect again: nth run - name: James age: 40
  for _, foo in ipairs(theBar.foos) do
    NSLog("Foo: name: %s, age: %i", foo.name, foo.age)
  end                                              -- expect again: Foo: name: Juliana, age: 7
end                                                -- expect again: Foo: name: Nicolas, age: 3

-- Assignment is a second name for the same object; a copy of a Bar has Foos of its own.
local function copying()
  local same, copy = theBar, archiver.copy(theBar)
  copy.foos[1].name = "Sophie"
  print(same == theBar, copy == theBar, theBar.foos[1].name, copy.foos[1].name)
end                                                -- expect: true	false	Juliana	Sophie
                                                   -- expect again: true	false	Juliana	Sophie

local function save(objects, path, failure)
  local archiver = archiver.writer()
  for key, object in pairs(objects) do archiver:encodeObject(object, key) end
  if not fs.write(path, archiver:finishEncoding()) then NSLog(failure) end
end

log.info(pathToFoo)
task1()
task2()
copying()

app.delegate = {
  applicationWillTerminate = function()
    save({ myfoo = theFoo }, pathToFoo, "writing failed.... ")
    save({ myfoo = theFoo2, mybar = theBar }, pathToFoo2, "writing failed....")
  end,
}
