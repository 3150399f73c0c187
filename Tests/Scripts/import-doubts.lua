-- What could be taken for something else in an import, in an export or in a declaration is an error that says what to do.
local tmp = app.container.tmp .. "/"
local function write(name, text) assert(fs.write(tmp .. name, text)) return tmp .. name end
local function tell(ok, result, err)
  local text = tostring(ok and result or (err or result).message or result)
  print(text:sub(1, #tmp) == tmp and text:sub(#tmp + 1) or text)
end
local function import(name, text, options) tell(pcall(items.import, items, write(name, text), options)) end

-- Options of another format.
import("a.csv", "name\nA\n", { sheet = "foo" })
-- expect: bad argument #2 'options' to 'items:import' (option 'sheet': for xlsx and ods, and the format is csv)
import("a.csv", "name\nA\n", { path = "x.y" })
-- expect: bad argument #2 'options' to 'items:import' (option 'path': for json and plist, and the format is csv)
import("a.csv", "name\nA\n", { table = "t" })
-- expect: bad argument #2 'options' to 'items:import' (option 'table': for sqlite, and the format is csv)
import("a.jsonl", '{"name":"A"}\n', { skip = 1 })
-- expect: bad argument #2 'options' to 'items:import' (option 'skip': for csv, tsv, xlsx and ods, and the format is jsonl)
import("stream", '[{"name":"A"}]', { skip = 1 })
-- expect: bad argument #2 'options' to 'items:import' (option 'skip': for csv, tsv, xlsx and ods, and the format is json)
print(#items)
-- expect: 0

-- Files without records, and of another format than their names say.
import("a.json", '{"results":[]}')
-- expect: a.json: there are no records, since results is empty: give path = "results" if there may be none, or a map to name if the object is an item
import("a.csv", '[{"name":"A"}]')
-- expect: a.csv: it is JSON by its first bytes: give format = "json"
import("a.json", '{"results":[]}', { path = "results" })
-- expect: 0

-- Fields that differ in case alone.
items:createItem{ name = "A", NAME = "B" }
tell(pcall(items.export, items, tmp .. "a.sqlite"))
-- expect: name and NAME are one name in SQLite, which has no case: give map = { ["NAME"] = "NAME_2" }
print(items:export(tmp .. "a.sqlite", { map = { NAME = "NAME_2" } }))
-- expect: 1

-- Declarations.
tell(pcall(items.declare, items, { a = { kind = "string", oneOf = {} } }))
-- expect: a cannot be declared so: option 'oneOf' is empty: no value would fit
tell(pcall(items.declare, items, { { name = "a", kind = "string" }, { name = "b" }, { name = "a", kind = "integer" } }))
-- expect: the field 3 of the array is a, which is declared before it
