/// A script that tries the functions which `CLuaShim` has in place of Lua's own, on generated patterns and subjects, at the
/// ends of their ranges and with wrong arguments, and returns a line for each result. Its text begins on a line of its own.
enum LibraryScript {
    static func text(seed: Int, ending: String) -> String {
        "local seed = \(seed) local function main()\n\(body)\nend \(ending)"
    }

    private static let body = #"""
        local state = seed
        local function random(n)
          state = (state * 1103515245 + 12345) % 2147483648
          return state // 65536 % n + 1
        end
        local function pick(list) return list[random(#list)] end
        local singles = { "a", "b", "c", ".", "%a", "%d", "%s", "%w", "%S", "%A", "[ab]", "[^a]", "[a-c]", "[%a1]",
          "[]]", "[^]a]",
          "[a-]", "[%]a]", "[a-%d]", "%.", "%%", "-", "1", " ", "%x", "%p", "%u", "%l", "%c", "%g", "$", "^",
          "[%w_abcdefghijklmnopqrstuvwxyz]",
          "[^%s,;:.!?%-+*/=abcdefgh]", "\0", "é" }
        local quantifiers = { "", "", "", "*", "+", "-", "?" }
        local others = { "(", ")", "(", ")", "()", "%1", "%2", "%b()", "%bab", "%baa", "%f[a]", "%f[^a]", "%f[%z]",
          "%0", "[", "%", "%b", "%f", "[a", "[^", "%f[a" }
        local texts = { "a", "b", "c", "ab", "ba", "aa", "1", " ", "(", ")", "_", "-", ".", "\0", "é", "A", "]",
          "%" }
        local function text()
          local parts = {}
          for i = 1, random(14) - 1 do parts[i] = pick(texts) end
          return table.concat(parts)
        end
        local function pattern()
          local parts = {}
          if random(6) == 1 then parts[1] = "^" end
          local open = 0
          for _ = 1, random(6) - 1 do
            local kind = random(20)
            if kind <= 12 then parts[#parts + 1] = pick(singles) .. pick(quantifiers)
            elseif kind <= 15 then parts[#parts + 1] = "(" .. pick(singles) .. pick(quantifiers) .. ")"
            elseif kind <= 17 then parts[#parts + 1] = "(" open = open + 1
            elseif kind == 18 and open > 0 then parts[#parts + 1] = ")" open = open - 1
            else parts[#parts + 1] = pick(others) end
          end
          for _ = 1, open do if random(8) > 1 then parts[#parts + 1] = ")" end end
          if random(5) == 1 then parts[#parts + 1] = "$" end
          return table.concat(parts)
        end
        local templates = { "", "x", "%0", "<%1>", "%2%1", "%%", "%", "%x", "[%0]%9" }
        local lines = {}
        local function show(name, ...)
          local values = table.pack(...)
          for i = 1, values.n do values[i] = tostring(values[i]):gsub("table: .*", "table") end
          lines[#lines + 1] = name .. ": " .. table.concat(values, "|", 1, values.n)
        end
        local function all(s, p, init)
          local found = {}
          for a, b in s.gmatch(s, p,
          init) do found[#found + 1] = tostring(a) .. "," .. tostring(b) if #found > 40 then break end end
          return table.concat(found, ";")
        end
        for i = 1, 1500 do
          local s, p, init = text(), pattern(), random(9) - 4
          local head = ("%q %q %d "):format(s, p, init)
          show(head .. "find", pcall(string.find, s, p, init))
          show(head .. "match", pcall(string.match, s, p))
          show(head .. "plain", pcall(string.find, s, p, init, true))
          show(head .. "gmatch", pcall(all, s, p, init))
          show(head .. "gsub", pcall(string.gsub, s, p, pick(templates), random(3) == 1 and random(4) or nil))
          show(head .. "call", pcall(string.gsub, s, p, function(a, b) return b or a end))
          show(head .. "table", pcall(string.gsub, s, p, { a = 1, b = "two", aa = false, [1] = "first" }))
        end
        -- Arguments, positions, limits.
        show("wrong", pcall(string.find)) show("wrong", pcall(string.find, "a"))
          show("wrong", pcall(string.gsub, "a", "a"))
        show("wrong", pcall(string.gsub, "a", "a", true))
          show("wrong", pcall(string.gsub, "a", "a", function() return {} end))
        show("wrong", pcall(string.gmatch, {}, "a")) show("wrong", pcall(string.rep))
          show("wrong", pcall(string.rep, "x", 1 << 62))
        show("number", string.find(12345, 34)) show("number", string.gsub(121, 1, 3))
          show("number", string.match(1.5, "%d"))
        show("deep", pcall(string.find, ("a"):rep(300), ("a?"):rep(199)))
          show("deep", pcall(string.find, ("a"):rep(300), ("a?"):rep(250)))
        show("deep", pcall(string.find, ("a"):rep(300), ("a-"):rep(200)))
          show("captures", pcall(string.find, ("a"):rep(40), ("(a)"):rep(32)))
        show("captures", pcall(string.find, ("a"):rep(40), ("(a)"):rep(33)))
        show("long", pcall(string.find, ("ab"):rep(50000) .. "c", ("ab"):rep(20000) .. "c", 1, true))
        show("long", pcall(string.match, ("ab"):rep(50000), "[" .. ("xyb"):rep(5000) .. "]+", 3))
        for _, s in ipairs { "", "x", "xyz", "\0", "é" } do
          for _, n in ipairs { -1, 0, 1, 2, 7, 1000 } do
            for _, sep in ipairs { "", ",", "--" } do show("rep", #s, n, sep, (s:rep(n, sep))) end
          end
          show("case", s:upper(), s:lower(), s:reverse())
        end
        local big = ("aBcé\0"):rep(40000)
        show("case", #big:upper(), big:upper():sub(-20), big:lower():sub(-20), big:reverse():sub(1, 20),
          big:reverse() == big:reverse())
        show("rep", #("xyz"):rep(100000, "-"), ("xyz"):rep(100000, "-"):sub(-10), (("ab"):rep(70000,
          ";"):gsub("ab;", "")))
        for _, s in ipairs { "", "abc", "é€😀", "\xff", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80",
          "\x80", "\xfd\xbf\xbf\xbf\xbf\xbf", "\xe2\x82", big } do
          for i = -4, 5 do for j = -4, 5, 3 do show("len", i, j, pcall(utf8.len, s, i, j))
          show("lax", pcall(utf8.len, s, i, j, true)) end end
          show("len", pcall(utf8.len, s))
          for i = -4, 5 do for j = -4, 5, 3 do show("offset", i, j, pcall(utf8.offset, s, i, j)) end
          show("offset", i, pcall(utf8.offset, s, i)) end
          for _, lax in ipairs { false, true } do show("codes", pcall(function()
            local found = {}
            for at, code in utf8.codes(s, lax) do found[#found + 1] = at .. "=" .. code
            if #found > 9 then break end end
            return table.concat(found, " ")
          end)) end
        end
        -- Formats of every kind, and each of several conversions after another.
        local formats = { "%d", "%i", "%x", "%X", "%s", "%%", "%5d", "%05d", "%008x", "%08X", "%012X", "%0d", "%-5d|", "%+d",
          "% d", "%#x", "%5s", "%.3s", "%99d", "%099i", "%100d", "%0100d", "%.4d", "%c", "%u", "%5.1f", "%g", "%q", "%", "%y",
          "%0s", "%5%", "%1$d", "", "é%dé%s\0%x", "%016x", "%020X", "%17x", "%9X" }
        local given = { 0, 1, -1, 9, 10, 15, 16, -255, 4294967295, math.maxinteger, math.mininteger, 3.0, -0.0, 2.5, "7", "x",
          "0x10", "", "a\0b", true, "", ("y"):rep(490), ("z"):rep(600), 1e15, 2^53 }
        for _, first in ipairs(formats) do
          for _, value in ipairs(given) do show("plain", pcall(string.format, first, value, value, value)) end
          local second = formats[random(#formats)]
          show("both", pcall(string.format, first .. " " .. second, given[random(#given)], given[random(#given)]))
          show("few", pcall(string.format, first .. second, given[random(#given)]))
          show("none", pcall(string.format, first), pcall(string.format, 5, 1), pcall(string.format, { first }))
        end
        -- Formats that are long, and those of long arguments.
        local long = ("a\"b\\\n\0\r1é"):rep(30000)
        show("format", #long:format(), (("%q|%s|%5.1f|%%|%10s|%x"):format(long, long, 2.25, "x", 255):sub(-60)))
        show("format", load("return " .. ("%q"):format(long))() == long,
          ("%s,%s,%d"):format(long, setmetatable({}, { __tostring = function() return "mine" end }), 3):sub(-12))
        show("wrong", pcall(string.format, ("%5d%%%-5s|"):rep(60000)))
        for _, wrong in ipairs { "%d", "%y", "%", "%10.123f", "%s%s", "%c", "%q" } do
          show("wrong", pcall(string.format, "%s" .. wrong, long, {}))
          show("wrong", pcall(string.format, wrong .. "%s", 1.5, long))
        end
        for _, text in ipairs { ("0"):rep(300000) .. "zZ9", " -" .. ("1"):rep(300000) .. " ", ("1"):rep(300000) .. "2x",
          (" "):rep(300000), "-" .. (" "):rep(300000) } do
          for _, base in ipairs { 2, 3, 10, 36 } do show("tonumber", tonumber(text, base)) end
          show("tonumber", tonumber(text), pcall(tonumber, text, 1))
        end
        -- Tables.
        local function list(n) local t = {} for i = 1, n do t[i] = random(50) end return t end
        for n = 0, 40 do
          local t, u = list(n), list(n)
          table.sort(t) table.sort(u, function(a, b) return a > b end)
          show("sort", table.concat(t, " "), table.concat(u, " "))
          local v = list(n)
          show("insert", pcall(table.insert, v, random(45), "new"), table.concat(v, " "))
          show("remove", pcall(table.remove, v, random(45)), table.concat(v, " "))
          show("remove", pcall(table.remove, v), table.concat(v, " "))
          show("concat", pcall(table.concat, v, ",", random(10), random(45)))
          show("move", pcall(function(...) return table.concat(table.move(...), ",") end, v, random(10),
          random(20), random(10)))
          show("move", pcall(function(...) local t = table.move(...) return #t end, v, random(10), random(20), 1,
          {}))
        end
        show("wrong", pcall(table.sort, { 1, "x", 2 })) show("wrong", pcall(table.sort, { 3, 2, 1 }, 5))
          show("wrong", pcall(table.concat, { 1, {}, 3 }))
        show("wrong", pcall(table.insert, {}, 1, 2, 3)) show("wrong", pcall(table.insert, {}, 5, 1))
          show("wrong", pcall(table.insert, 5, 1))
        show("wrong", pcall(table.insert, {})) show("wrong", pcall(table.move, {}, 1, math.maxinteger, 2))
          show("wrong", pcall(table.move, {}, -1, math.maxinteger, 2))
        show("wrong", pcall(table.remove, {}, 5)) show("wrong", pcall(table.concat, 7))
          show("wrong", pcall(table.remove, { 1, 2, 3 }, 7))
        for n = 4, 12 do show("order", pcall(table.sort, list(n), function() return true end)) end
        local proxy = setmetatable({}, { __index = function(_, i) return i <= 5 and i * 2 or nil end,
          __len = function() return 5 end, __newindex = function(_, k, v) show("set", k, v) end })
        show("proxy", table.concat(proxy, ",")) show("proxy", pcall(table.insert, proxy, 9))
          show("proxy", pcall(table.insert, proxy, 2, 9)) show("proxy", pcall(table.remove, proxy, 2))
        show("proxy", table.concat(table.move(proxy, 1, 5, 3, {}), ",", 3, 7))
        local chunk, err = load("return 1 +") show("load", chunk, err)
          show("load", load("return ...", "=x", "t", {})(7)) show("load", load("x = 1", "x", "b"))
        show("load", pcall(load, nil)) show("load", pcall(load("return y", "n", nil, { y = 8 })))
          show("load", load("return " .. ("1 + "):rep(150) .. "1")())
        local e1 = select(2, pcall(error)) show("error", e1)
        return table.concat(lines, "\n")
        """#
}
