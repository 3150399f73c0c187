import Application
import Foundation
import Items
import Lua
import Scripting
import TestSupport
import Testing

/// Memory that runs out at each allocation in turn of a script that uses the host's modules. The test takes some of them,
/// `scripts/soak allocations` every one.
@Suite("Allocations that fail in a host", .serialized)
struct HostAllocationTests {
    /// How far the trials are apart: every n in the soak.
    private static let stride = ProcessInfo.processInfo.environment["CUBBY_SOAK"] == "allocations" ? 1 : 7

    /// Items, queries, transactions, hooks, files, formats, waits; the archiver where there is one. What it changes in
    /// transactions is always the same in two fields.
    private static let script = """
        local failed = {}
        local function try(body) local ok, err = pcall(body) if not ok then failed[#failed + 1] = tostring(err) end end
        try(function()
          for i = 1, 5 do items:createItem{ name = 'Item ' .. i, valueInDollars = i, tags = { 'a', { b = i } } } end
          local bear = items[1]
          bear.room = 'Study'; bear.valueInDollars = bear.valueInDollars + 1; bear.notes = 'text of some length ' .. #items
          assert(bear.tags[2].b and tostring(bear) and bear.dateCreated and items:item(bear.itemKey) == bear)
          assert(items:query('valueInDollars > $n', { n = 1 }):sorted('name'):limit(3):count() <= 3)
          for _, item in items:query("name BEGINSWITH 'Item' AND room != 'x'"):each() do local _ = item.name end
          assert(items:query('name LIKE "*1"'):first() and items:query():sum('valueInDollars') > 0)
          assert(predicate('valueInDollars > $n', { n = 3 }):evaluate(bear) ~= nil)
          assert(items:query(function(item) return item.valueInDollars % 2 == 0 end):count() >= 0)
          for _, group in ipairs(items:query():groupBy('valueInDollars')) do local _ = group.count end
        end)
        try(function()
          items:transaction(function()
            for i, item in items:each() do item.left = stamp; item.right = stamp end
            items:createItem{ name = 'from the transaction', left = stamp, right = stamp }
            pcall(function() items:transaction(function() items[1].left = 'wrong' error('inner') end) end)
          end)
        end)
        try(function() items:dryRun(function() items[1].left = 'dry' items:createItem() end) end)
        try(function() local id = #items items:removeItem(items[id]) items:undo() items:redo() end)
        try(function()
          local hook = app:on('user.news', { group = 'mine' }, function(event) return event.name .. event.time end)
          app:emit('user.news', { a = 1 }) hook:off()
          local seen = items:on('didUpdate', { group = 'mine' }, function(event) return event.item.name, event.old, event.new end)
          items[1].note = stamp
          seen:off()
        end)
        try(function()
          local path = app.container.tmp .. '/x'
          assert(fs.write(path, json.encode{ list = { 1, 'two' }, name = 'x' }))
          assert(json.decode(assert(fs.read(path))).list[2] == 'two')
          assert(csv.write(path, { { a = 1, b = 'x' } })) for row in csv.rows(path) do assert(row.b == 'x') end
          local file = assert(io.open(path, 'w')) file:write('a', 1) file:close()
          for line in io.lines(path) do assert(line == 'a1') end
          assert(date('1906-10-17').year == 1906 and #data('abc') == 3 and data('abc'):base64() == 'YWJj' and #uuid() == 36)
          assert(require('cubby').items == items and fs.list(app.container.tmp))
          local none, failure = fs.read('/nowhere') assert(none == nil and failure.message)
        end)
        try(function() timer.after(0, function() woken = true end) timer.sleep(0.0001) end)
        pcall(function() return items:createItem{ nmae = 1, valueInDollars = 'x' } end)
        if rawget(_G, 'archiver') then
          try(function() return archiver.unarchivedObject({ 'NSArray' }, archiver.archivedData({ 1, { a = 'b' }, date(0) })) end)
        end
        return #failed == 0 and 'done' or table.concat(failed, '; ')
        """

    /// How many allocations fail from the n-th on: all, or one and its repetition.
    @Test("no crash, no leak, transactions whole, the host goes on", arguments: [0, 2])
    func sweep(failures: Int) throws {
        let scratch = try TemporaryDirectory()
        try sweep(failures, in: scratch.file("c"))
        let again = try Embedding(scratch.file("c"))
        again.host.launch()
        #expect(again.run("return #items, items[1].name, items[1].left") == "1 last 1")
        again.end()
    }

    private func sweep(_ failures: Int, in path: String) throws {
        let embedding = try Embedding(path)
        let host = embedding.host
        host.launch()
        _ = embedding.run("stamp = 0 woken = false")
        host.state.failAllocation(0)
        #expect(embedding.run(Self.script) == "done")
        let total = host.state.failAllocation(0)
        #expect(total > 300)
        for n in Swift.stride(from: 1 + failures, through: total, by: Self.stride) {
            _ = embedding.run("stamp = \(n)")
            host.state.failAllocation(n, count: failures)
            _ = embedding.run(Self.script)
            host.state.failAllocation(0)
            #expect(!host.items.isInTransaction && host.state.depth == 0, "after allocation \(n) of \(total)")
            let check = "for _, each in items:each() do assert(each.left == each.right) end return 1 + 1, app.state"
            #expect(embedding.run(check) == "2 active", "after allocation \(n) of \(total)")
            // The next trial begins as this one did.
            #expect(embedding.run("app:off{ group = 'mine' } items:query():remove() return #items") == "0")
        }
        _ = embedding.run("items:createItem{ name = 'last', left = 1 } stamp = nil")
        for _ in 1...3 { host.state.collectGarbage() }
        #expect(host.state.liveObjects < 200)
        embedding.end()
    }
}
