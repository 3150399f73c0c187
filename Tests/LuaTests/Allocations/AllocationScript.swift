/// A script that uses every kind of binding and every function that `CLuaShim` has in place of Lua's own. Some of it runs
/// inside `pcall`, so that it goes on after an error for want of memory.
enum AllocationScript {
    static let text = """
        -- Properties of all kinds, methods, metamethods, what no member serves.
        local c = Counter(1)
        c.count = c.count + 1; c.label = c.label .. 'x'; c.note = 'n'; c.extra = 'y'
        assert(c.note == 'y' and c.dynamic == 'dynamic!' and c[1] == 3 and #c == 2 and tostring(c) == 'Counter(2)')
        assert(c:add(2, 3) == 8 and c:add(1) == 9)
        local m = meters(2); assert(m == meters(2) and m.value == 2)
        local g = Gauge.named('long enough to be on the heap')
        g.count = 3; g.title = g.title .. '!'; g.note = nil; g.note = 'note'; g.unit = 'second'; g.scale = 2; g.isOn = true
        g.marks = { 1, 2, 3 }
        assert(g.title and g.unit == 'second' and g.scale == 2.0 and g.isOn and g.marks[3] == 3)
        -- Arrays, enums, optionals, variadics, dictionaries, options, static functions, modules.
        assert(g:add({ 4, 5 }) == 15 and g:add({}, 'kilogram') == 15 and g.unit == 'kilogram')
        assert(g:joined() == '' and g:joined('a', 'b', 'c') == 'a/b/c')
        assert(#Gauge.units() == 3 and Gauge.count('a', 'b', 'a').a == 2)
        assert(gauges.sum{ tea = 2.5, milk = 1 } == 3.5 and gauges(21) == 42 and gauges.pack(1, 'b', g)[3] == g)
        assert(gauges.open{ title = 'opened' }.title == 'opened')
        local none, err = gauges.open(); assert(none == nil and tostring(err) and err.message)
        -- Typed handles: identity, keys, other classes, boxes.
        assert(g:nearest(g) == g and g:copy() ~= g and ({ [g] = 1 })[g:nearest(g)] == 1)
        local r = reading(1.5); assert(r == reading(1.5) and r < reading(2) and (r + r)() == 3.0)
        local sum = 0; for each in g:each() do sum = sum + each.value end; assert(sum == 15)
        -- Closures as callbacks, errors across both languages.
        g:watch(function(n) return n < 10 end)
        assert(g:allows(3) and not g:allows(12))
        assert(call(function(a, b) return a + b end, 1, 2) == 3)
        for _, body in ipairs {
          function() c:add('x') end, function() c:refuse('no') end, function() g:fail() end, function() g.unit = 'inch' end,
          function() g.nmae = 1 end, function() Gauge.nmaed() end, function() c.add(g) end, function() error({}) end,
          function() error(setmetatable({}, { __tostring = function() return 'mine' end })) end,
          function() call(error, 'deep') end, function() local x = nil + 1 end, function() g:add({ 'x' }) end,
        } do
          local ok, failure = pcall(body)
          assert(not ok and tostring(failure))
          ok, failure = xpcall(body, function(text) return debug.traceback(tostring(text)) end)
          assert(not ok and failure)
        end
        -- Coroutines, to-be-closed variables, a host function that waits.
        local t = {}
        for i = 1, 20 do t[i] = Counter(i) end
        local co = coroutine.wrap(function(...) for i = 1, 3 do coroutine.yield(Counter(i), ...) end error('end') end)
        assert(co(1).count == 1 and co().count == 2)
        pcall(co); pcall(co)
        local closed = 0
        local thread = coroutine.create(function()
          local guard <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
          coroutine.yield(c)
        end)
        local resumed, value = coroutine.resume(thread)
        if not resumed then error(value, 0) end
        assert(value == c and coroutine.status(thread) == 'suspended')
        assert(coroutine.close(thread) and closed == 1)
        -- The own string, table and utf8 functions; load.
        local long = ('word '):rep(200)
        assert(#long:gsub('%w+', '<%0>') == 1400 and #long:gsub('%w', { w = 'WW' }) == 1200)
        assert(#long:gsub('(%w)(%w)', function(a, b) return b .. a end) == 1000 and long:find('d (w)', 1) == 4)
        for word, place in long:sub(1, 30):gmatch('([a-z]+)()') do assert(word == 'word' and place) end
        assert(long:match('^(w)(o)(r)(d)') == 'w' and #long:upper():lower():reverse() == 1000 and utf8.len(long) == 1000)
        assert(('%s %d %q %5.1f'):format(c, 3, 'x\\n', 2.5) and ('i4z'):pack(7, 'abc'):len() == 8)
        local list = {}
        for i = 1, 40 do table.insert(list, i // 2 + 1, tostring(i * 7919 % 41)) end
        table.sort(list); table.sort(list, function(a, b) return a > b end)
        table.remove(list, 3); table.move(list, 1, 10, 5, {}); assert(#table.concat(list, ', ') > 0)
        assert(#table.pack(table.unpack(list)) == 39)
        assert(assert(load('local a = ... return { a, [a] = function() return a end }', '=x', 't', {}))('key').key() == 'key')
        local parts = coroutine.wrap(function() coroutine.yield('return ') coroutine.yield('1') end)
        assert(not load('return +') and assert(load(parts))() == 1)
        -- Want of memory that the script itself survives.
        for i = 1, 3 do pcall(function() t[#t + 1] = { Counter(i), reading(i), ('x'):rep(100 * i), g:copy() } end) end
        collectgarbage('step')
        return 'done'
        """
}
