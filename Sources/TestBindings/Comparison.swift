import Items
import Lua
import Scripting

/// Compares values of scripts in depth, and words the differences. In Lua, since tables and objects are compared by
/// their own `==` and iterated by their own `pairs`.
enum Comparison {
    /// A function of an actual and an expected value, and of whether fields of the actual one that the other lacks are
    /// left out: nil for equal ones, else the differences as a text.
    static func make(in host: ScriptHost) throws(LuaError) -> LuaFunction {
        let state = host.state
        let fields = state.makeFunction("fields", ["value"]) { [unowned host] (value: LuaValue) -> [String] in
            guard case .item(let item) = host.inspect(value) else { return [] }
            return host.items.schema.fields.map(\.name) + ["itemKey"] + (try item.customFieldNames)
        }
        let made = try state.load(Array(source.utf8), name: "=(expect)").call(.function(fields))
        guard case .function(let compare)? = made.first else { throw LuaError(.runtime, "no comparison") }
        return compare
    }

    private static let source = """
        local fieldsOf = ...
        local type, pairs, next, pcall, rawequal, tostring = type, pairs, next, pcall, rawequal, tostring
        local getmetatable, select, math, table, string = getmetatable, select, math, table, string
        local most = 10

        local function quoted(text)
          local shown = #text > 120 and text:sub(1, 120) or text
          shown = shown:gsub('[%c"\\\\]', function(c)
            if c == '"' or c == "\\\\" then return "\\\\" .. c end
            if c == "\\n" then return "\\\\n" end
            return ("\\\\%d"):format(c:byte())
          end)
          return '"' .. shown .. '"' .. (#text > 120 and ("… (%d bytes)"):format(#text) or "")
        end

        local function isName(key) return type(key) == "string" and key:find("^[%a_][%w_]*$") end

        -- What is compared part by part: the parts by their keys, and the keys in order.
        local function parts(value)
          local values, keys = {}, {}
          if type(value) == "userdata" then
            local names = fieldsOf(value)
            if #names > 0 then
              for _, name in ipairs(names) do
                values[name] = value[name]
                keys[#keys + 1] = name
              end
              return values, keys
            end
          elseif type(value) ~= "table" then
            return nil
          end
          local done = pcall(function()
            for key, part in pairs(value) do
              values[key] = part
              keys[#keys + 1] = key
            end
          end)
          if not done then return nil end
          table.sort(keys, function(a, b)
            if math.type(a) and math.type(b) then return a < b end
            if type(a) ~= type(b) then return type(a) < type(b) end
            return tostring(a) < tostring(b)
          end)
          return values, keys
        end

        local show
        function show(value, depth)
          if type(value) == "string" then return quoted(value) end
          if type(value) ~= "table" then return tostring(value) end
          local mark = getmetatable(value)
          if type(mark) == "table" and rawget(mark, "__tostring") then return tostring(value) end
          local values, keys = parts(value)
          if not values then return tostring(value) end
          if #keys == 0 then return "{}" end
          if depth > 2 then return "{ … }" end
          local shown = {}
          for place, key in ipairs(keys) do
            if place > 8 then
              shown[place] = ("… (%d in all)"):format(#keys)
              break
            end
            local part = show(values[key], depth + 1)
            if key == place then shown[place] = part
            elseif isName(key) then shown[place] = key .. " = " .. part
            else shown[place] = "[" .. show(key, depth + 1) .. "] = " .. part end
          end
          return "{ " .. table.concat(shown, ", ") .. " }"
        end

        -- Long texts: what is around their first difference.
        local function around(a, b)
          local place = 1
          while a:byte(place) and a:byte(place) == b:byte(place) do place = place + 1 end
          local line = select(2, a:sub(1, place - 1):gsub("\\n", "")) + 1
          local from = math.max(1, place - 20)
          return ("texts of %d and %d bytes differ from byte %d, line %d: expected %s, got %s"):format(
            #b, #a, place, line, quoted(b:sub(from, place + 40)), quoted(a:sub(from, place + 40)))
        end

        local function class(value)
          local mark = getmetatable(value)
          return type(mark) == "table" and rawequal(rawget(mark, "__index"), mark) and mark or nil
        end

        local function equal(a, b)
          if rawequal(a, b) then return true end
          if math.type(a) and math.type(b) then return a == b or a ~= a and b ~= b end
          if type(a) ~= type(b) or type(a) == "string" then return false end
          local done, same = pcall(function() return a == b end)
          return done and same
        end

        return function(actual, expected, isPart)
          local found, count, seen = {}, 0, {}
          local function differ(path, text)
            count = count + 1
            if count <= most then found[count] = (path == "" and "" or path .. ": ") .. text end
          end
          local function compare(a, b, path)
            if equal(a, b) then return end
            if type(a) == "string" and type(b) == "string" and (#a > 60 or #b > 60) then
              return differ(path, around(a, b))
            end
            local values, keys = parts(a)
            local others, otherKeys = parts(b)
            if not values or not others then
              return differ(path, ("expected %s, got %s"):format(show(b, 0), show(a, 0)))
            end
            if class(a) ~= class(b) and not isPart then
              return differ(path, ("expected an object of another class, %s, got %s"):format(show(b, 0), show(a, 0)))
            end
            seen[a] = seen[a] or {}
            if seen[a][b] then return end
            seen[a][b] = true
            local before = count
            for _, key in ipairs(otherKeys) do
              local inner = path .. (isName(key) and "." .. key or "[" .. show(key, 1) .. "]")
              local part, other = values[key], others[key]
              if part == nil then
                if other ~= nil then differ(inner, ("expected %s, got nothing"):format(show(other, 1))) end
              else
                compare(part, other, inner)
              end
            end
            if isPart then return end
            for _, key in ipairs(keys) do
              if others[key] == nil and values[key] ~= nil then
                local inner = path .. (isName(key) and "." .. key or "[" .. show(key, 1) .. "]")
                differ(inner, ("expected nothing, got %s"):format(show(values[key], 1)))
              end
            end
            -- Objects that are not the same, and have no parts that tell them apart.
            if count == before and #keys == 0 and type(a) == "userdata" then
              differ(path, ("expected %s, got %s"):format(show(b, 0), show(a, 0)))
            end
          end
          compare(actual, expected, "")
          if count == 0 then return nil, show(actual, 0) end
          if count > most then found[most + 1] = ("… and %d more differences"):format(count - most) end
          if count == 1 then return found[1], show(actual, 0) end
          return "the values differ:\\n  " .. table.concat(found, "\\n  "), show(actual, 0)
        end
        """
}
