import Files
import Items
import Lua
import Scripting

/// `expect(value)`: what a test expects of a value.
final class Expectation: LuaObject {
    private let value: LuaValue
    /// The result behind the value: the error, if the value is nil.
    private let error: LuaValue
    private let isNegated: Bool
    private let tools: ExpectationTools

    init(_ value: LuaValue, error: LuaValue, isNegated: Bool = false, _ tools: ExpectationTools) {
        (self.value, self.error, self.isNegated, self.tools) = (value, error, isNegated, tools)
    }

    static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(
            Expectation.self, doc: "What a test expects of a value; a failed expectation ends the test."
        ) {
            LuaProperty(
                "isNot", doc: "The opposite: `expect(1).isNot:equals(2)`.",
                get: { Expectation($0.value, error: $0.error, isNegated: !$0.isNegated, $0.tools) })
            LuaMethod(
                "equals", ["expected": "the value expected"],
                doc:
                    "Expects an equal value: tables, items and archived objects by all of their parts, dates, data and numbers by `==`.",
                example: "expect({ 1, { b = 2 } }):equals{ 1, { b = 2 } }"
            ) { (expectation, expected: GivenValue) in try expectation.equals(expected.value, isPart: false) }
            LuaMethod(
                "has", ["expected": "the parts expected"],
                doc: "Expects these parts of a table or an item, whatever else it has.",
                example: "expect(items:createItem{ name = \"Lamp\" }):has{ name = \"Lamp\" }"
            ) { (expectation, expected: GivenValue) in try expectation.equals(expected.value, isPart: true) }
            LuaMethod(
                "matches", ["pattern": "a Lua pattern, or a text that occurs as it stands"],
                doc:
                    "Expects a text, or what `tostring` makes of the value, to match a pattern. A malformed pattern that does not occur as a text raises an error.",
                example: "expect(\"12 files\"):matches(\"^%d+ files\")"
            ) { (expectation, pattern: LuaString) in try expectation.matches(pattern) }
            LuaMethod(
                "raises", ["pattern": "a Lua pattern, or a text, that occurs in the message (default: any error)"],
                doc: "Expects a function to raise an error.",
                example: "expect(function() error(\"no room\") end):raises(\"no room\")"
            ) { (expectation, pattern: LuaString?) in try expectation.raises(pattern) }
            LuaMethod("isTrue", doc: "Expects true.", example: "expect(1 < 2):isTrue()") { try $0.isBoolean(true) }
            LuaMethod("isFalse", doc: "Expects false.", example: "expect(1 > 2):isFalse()") { try $0.isBoolean(false) }
            LuaMethod("isNil", doc: "Expects nil.", example: "expect(items[1]):isNil()") { try $0.isNil() }
            LuaMethod(
                "isNear", ["expected": "the number expected", "tolerance": "the difference allowed (default: 1e-9)"],
                doc: "Expects a number near another one.", example: "expect(0.1 + 0.2):isNear(0.3)"
            ) { (expectation, expected: Double, tolerance: Double?) in
                try expectation.isNear(expected, tolerance ?? 1e-9)
            }
        }
    }

    // MARK: Checks

    private func equals(_ expected: LuaValue, isPart: Bool) throws {
        let found = try tools.compare(value, expected, isPart: isPart)
        try check(
            found.isEqual, found.differences,
            isPart ? "has them all: \(found.shown)" : "expected another value than \(found.shown)")
    }

    private func matches(_ pattern: LuaString) throws {
        let text = try tools.text(of: value)
        let shown = "\(tools.show(text)), for the pattern \(tools.show(pattern))"
        try check(try tools.occurs(pattern, in: text), "no match in \(shown)", "a match in \(shown)")
    }

    private func raises(_ pattern: LuaString?) throws {
        guard let function = value.callable else {
            throw LuaError(.argument, "expect(…):raises needs a function, which it calls: got \(value.typeName)")
        }
        let before = tools.failures.count
        var message: LuaString?
        do throws(LuaError) { try function.call() } catch {
            // What stops the test is no error of the function.
            if [.cancelled, .deadline].contains(error.kind) { throw error }
            message = tools.message(of: error)
        }
        guard let message else { return try check(false, "an error was expected, and there was none", "") }
        // An expectation may be the function that is tested.
        tools.dropFailures(after: before)
        let shown = tools.show(message)
        guard let pattern else { return try check(true, "", "no error was expected, and there was \(shown)") }
        let expected = tools.show(pattern)
        try check(
            try tools.occurs(pattern, in: message), "the error \(shown) has no match for \(expected)",
            "the error \(shown) matches \(expected)")
    }

    private func isBoolean(_ expected: Bool) throws {
        let isMet = if case .boolean(expected) = value { true } else { false }
        try check(isMet, try "expected \(expected), got \(shown())", "expected anything but \(expected)")
    }

    private func isNil() throws {
        try check(value.isNil, try "expected nil, got \(shown())", "expected a value, got nil")
    }

    private func isNear(_ expected: Double, _ tolerance: Double) throws {
        guard let number = value.numberValue else {
            throw LuaError(.argument, "expect(…):isNear compares numbers, got \(value.typeName)")
        }
        // Infinities are equal, and have no difference.
        let isMet = number == expected || abs(number - expected) <= tolerance
        try check(
            isMet, "expected \(expected) within \(tolerance), got \(number)",
            "expected a number away from \(expected) by more than \(tolerance), got \(number)")
    }

    private func shown() throws -> String { try tools.compare(value, value).shown }

    /// Fails the test unless a condition holds, or does not where it is negated.
    private func check(
        _ isMet: Bool, _ text: @autoclosure () throws -> String, _ negated: @autoclosure () throws -> String
    ) throws {
        guard isMet == isNegated else { return }
        var message = isNegated ? try negated() : try text()
        if value.isNil, !error.isNil { message += " (\(String(escaping: try tools.text(of: error).bytes)))" }
        let failure = ExpectationFailure(luaMessage: message)
        tools.record(failure)
        throw failure
    }
}

/// An argument that must be given, if only as nil: a value that is forgotten would be expected to be nil.
private struct GivenValue: LuaRepresentable {
    static var luaType: LuaType { .any }
    let value: LuaValue

    init(lua value: LuaValue) { self.value = value }

    static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> GivenValue {
        guard position < call.count else { throw call.refuse(position, "value expected, got none") }
        return GivenValue(lua: call.value(position))
    }

    func luaValue(in state: LuaState) -> LuaValue { value }
}

/// A failed expectation.
struct ExpectationFailure: Error, LuaErrorDetails {
    let luaMessage: String
    var luaDomain: String { "CubbyErrorDomain" }
    var luaCode: LuaErrorCode { .word("expectation") }
    var isScriptsFault: Bool { true }
}

/// What expectations of a host share.
final class ExpectationTools {
    private let comparison: LuaFunction
    private let find: LuaFunction
    private unowned let host: ScriptHost

    init(_ host: ScriptHost) throws {
        self.host = host
        comparison = try Comparison.make(in: host)
        let source =
            "return pcall(string.find, ...)"
        find = try host.state.load(Array(source.utf8), name: "=(expect)")
    }

    var failures: [String] { host.replacements.scene?.suite.failures ?? [] }

    func record(_ failure: ExpectationFailure) { host.replacements.scene?.suite.failures.append(failure.luaMessage) }

    func dropFailures(after count: Int) {
        if let suite = host.replacements.scene?.suite {
            suite.failures.removeSubrange(min(count, suite.failures.count)...)
        }
    }

    func text(of value: LuaValue) throws -> LuaString {
        LuaString(try BaseModule.text(of: value, in: host.state))
    }

    /// The text of an error as it was raised.
    func message(of error: LuaError) -> LuaString {
        if case .string(let text)? = host.state.value(of: error) { text } else { LuaString(error.message) }
    }

    func show(_ text: LuaString) -> String { text.quoted(limit: Comparison.textLimit) }

    /// Whether a value is the expected one, or has its parts; how they differ, and the text of the value.
    func compare(
        _ actual: LuaValue, _ expected: LuaValue, isPart: Bool = false
    ) throws -> (isEqual: Bool, differences: String, shown: String) {
        let results = try comparison.call(actual, expected, .boolean(isPart))
        guard results.count == 3, let differences = results[1].textValue, let shown = results[2].textValue else {
            throw LuaError(.runtime, "the comparison has no text")
        }
        return (results[0].isTruthy, differences, shown)
    }

    /// Whether a pattern matches somewhere, or the text of the pattern occurs.
    ///
    /// - Throws: an error of the argument for a malformed pattern that does not occur as a text.
    func occurs(_ pattern: LuaString, in text: LuaString) throws -> Bool {
        if text.bytes.contains(pattern.bytes) { return true }
        let results = try find.call(.string(text), .string(pattern))
        guard results.first?.isTruthy ?? false else {
            throw LuaError(
                .argument,
                "\(results.last?.textValue ?? "a malformed pattern"): \(show(pattern)), which does not occur in "
                    + show(text))
        }
        return results.dropFirst().first?.isTruthy ?? false
    }
}

/// Compares values of scripts in depth, and words the differences. In Lua, since tables and objects are compared by
/// their own `==` and iterated by their own `pairs`.
enum Comparison {
    /// Maximum number of a text's characters that are shown.
    static let textLimit = 120

    /// A function of an actual and an expected value, and of whether fields of the actual one that the other lacks are
    /// left out: whether they are equal, the differences and the actual value as texts of UTF-8.
    static func make(in host: ScriptHost) throws(LuaError) -> LuaFunction {
        let state = host.state
        let fields = state.makeFunction("fields", ["value"]) { [unowned host] (value: LuaValue) -> [String] in
            guard case .item(let item) = host.inspect(value) else { return [] }
            return host.items.schema.fields.map(\.name) + ["itemKey"] + (try item.customFieldNames)
        }
        let word = state.makeFunction("word", ["value", "text"]) { (value: LuaValue, text: LuaString) -> String in
            switch value {
            case .string(let string): string.quoted(limit: textLimit)
            case .number(let number): LuaValueText.text(number)
            default: String(escaping: text.bytes)
            }
        }
        let around = state.makeFunction("around", ["actual", "expected"]) {
            [unowned host] (actual: LuaValue, expected: LuaValue) -> String? in
            if case (.string(let a), .string(let b)) = (actual, expected) { return difference(a.bytes, b.bytes) }
            let datas = host.values.datas
            guard let a = datas.object(of: actual), let b = datas.object(of: expected) else { return nil }
            return difference(ofData: a.bytes, b.bytes)
        }
        let functions = [fields, word, around].map { LuaValue.function($0) }
        let made = try state.load(Array(source.utf8), name: "=(expect)").call(arguments: functions)
        guard case .function(let compare)? = made.first else { throw LuaError(.runtime, "no comparison") }
        return compare
    }

    /// What is around the first difference of two texts, if one is long; cut at characters.
    private static func difference(_ a: [UInt8], _ b: [UInt8]) -> String? {
        guard max(a.count, b.count) > 60 else { return nil }
        let place = firstDifference(a, b)
        func part(_ text: [UInt8]) -> String {
            func start(_ offset: Int) -> Int {
                let offset = min(max(offset, 0), text.count)
                return offset - text[..<offset].openEnd
            }
            return LuaString(Array(text[start(place - 20)..<start(place + 40)])).quoted()
        }
        let line = a[..<place].count { $0 == 0x0A } + 1
        return "texts of \(b.count) and \(a.count) bytes differ from byte \(place + 1), line \(line): "
            + "expected \(part(b)), got \(part(a))"
    }

    /// What is behind the first difference of two data, if the beginning that `tostring` shows is not all of them.
    private static func difference(ofData a: [UInt8], _ b: [UInt8]) -> String? {
        guard max(a.count, b.count) > 16 else { return nil }
        let place = firstDifference(a, b)
        func part(_ data: [UInt8]) -> String {
            "<\(Array(data[place...].prefix(16)).hexadecimal)\(data.count > place + 16 ? "…" : "")>"
        }
        return "data of \(b.count) and \(a.count) bytes differ from byte \(place + 1): "
            + "expected \(part(b)), got \(part(a))"
    }

    private static func firstDifference(_ a: [UInt8], _ b: [UInt8]) -> Int {
        zip(a, b).enumerated().first { $1.0 != $1.1 }?.offset ?? min(a.count, b.count)
    }

    private static let source = """
        local fieldsOf, word, around = ...
        local type, pairs, next, pcall, rawequal, tostring = type, pairs, next, pcall, rawequal, tostring
        local getmetatable, ipairs, rawget, math, table = getmetatable, ipairs, rawget, math, table
        local most = 10

        local function text(value) return word(value, tostring(value)) end

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
          if type(value) ~= "table" then return text(value) end
          local mark = getmetatable(value)
          if type(mark) == "table" and rawget(mark, "__tostring") then return text(value) end
          local values, keys = parts(value)
          if not values then return text(value) end
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
            local difference = around(a, b)
            if difference then return differ(path, difference) end
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
          if count == 0 then return true, "", show(actual, 0) end
          if count > most then found[most + 1] = ("… and %d more differences"):format(count - most) end
          if count == 1 then return false, found[1], show(actual, 0) end
          return false, "the values differ:\\n  " .. table.concat(found, "\\n  "), show(actual, 0)
        end
        """
}
