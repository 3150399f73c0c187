-- An argument that would have no effect is refused.

for i = 1, 3 do items:createItem{ name = "N" .. i, room = i == 3 and "Attic" or "Hall" } end
local function refused(body, ...) print((select(2, pcall(body, ...)):gsub("^[^:]+:%d+: ", ""))) end

refused(function() items:query(predicate("name == 'N1'"), { a = "N2" }) end)
-- expect: bad argument #2 'variables' to 'items:query' (variables go with the text of a predicate)
refused(function() items:query(function() return true end, { a = 1 }) end)
-- expect: bad argument #2 'variables' to 'items:query' (variables go with the text of a predicate)
local groups = items:query():groupBy("room")
refused(function() groups:aggregate{ key = "count()" } end)
-- expect: bad argument #1 'functions' to 'Groups:aggregate' (each table has the group's key: give the result another name)
refused(function() groups:aggregate{ "count()" } end)
-- expect: bad argument #1 'functions' to 'Groups:aggregate' (count() needs a name for its result, such as total = "count()")
refused(function() app:hooks{ event = "didEnterBackgroud" } end)
-- expect: unknown event 'didEnterBackgroud'; did you mean 'didEnterBackground'?
refused(function() app:off{} end)
-- expect: bad argument #1 'which' to 'app:off' (an id, a hook or { group = … } expected, got a table without a group)
refused(function() items:transaction(function() app:run() end) end)
-- expect: app:run is not possible inside a transaction, which would never end

-- Groups print as what they are.
print(groups)
-- expect: 2 groups
-- expect: Hall: 2
-- expect: Attic: 1
