-- A file that is imported again without a key is said to be there already.
local path = app.container.tmp .. "/things.csv"
fs.write(path, "name,room,n\nLamp,Study,1\nBear,Attic,2\nBear,Attic,\n")
local _, report = assert(items:import(path))
-- expect log: things.csv: n integer; other columns are text
print(report.repeated, report)
-- expect: 0	3 created, 0 updated, 0 unchanged, 0 rejected
fs.write(path, "name,room,n\nLamp,Study,1\nBear,Attic,3\nBear,Attic,\nBowl,Attic,7\n")
_, report = assert(items:import(path, { dryRun = true }))
print(report.repeated, report)
-- expect: 2	4 created, 0 updated, 0 unchanged, 0 rejected
-- expect: 2 new items are equal to ones that were there: with key = "name" an import finds those again
print(#items)
-- expect: 3
_, report = assert(items:import(path, { key = "name", onError = "skip" }))
print(report.repeated, report.created)
-- expect: 0	1

-- By other fields, and of records.
items:query():remove()
fs.write(path, "tag,sku\nx,A1\nx,A2\n")
assert(items:import(path))
fs.write(app.container.tmp .. "/more.json", '[{"tag":"x","sku":"A2"},{"tag":"x","sku":"A9"}]')
_, report = assert(items:import(app.container.tmp .. "/more.json"))
print(report)
-- expect: 2 created, 0 updated, 0 unchanged, 0 rejected
-- expect: no column is the name of the items: give map = { ["sku"] = "name" } (or tag)
-- expect: 1 new item is equal to one that was there: with key = "sku" an import finds those again
