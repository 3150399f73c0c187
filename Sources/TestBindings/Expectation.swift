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
            ) { (expectation, expected: LuaValue) in try expectation.equals(expected, isPart: false) }
            LuaMethod(
                "has", ["expected": "the parts expected"],
                doc: "Expects these parts of a table or an item, whatever else it has.",
                example: "expect(items:createItem{ name = \"Lamp\" }):has{ name = \"Lamp\" }"
            ) { (expectation, expected: LuaValue) in try expectation.equals(expected, isPart: true) }
            LuaMethod(
                "matches", ["pattern": "a Lua pattern, or a text that occurs as it stands"],
                doc: "Expects a text, or what `tostring` makes of the value, to match a pattern.",
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
        let results = try tools.compare.call(value, expected, .boolean(isPart))
        let difference = results.first?.textValue
        let text = results.last?.textValue ?? ""
        try check(
            difference == nil, difference ?? "",
            isPart ? "has them all: \(text)" : "expected another value than \(text)")
    }

    private func matches(_ pattern: LuaString) throws {
        let text = try tools.text(of: value)
        let shown = "\(try tools.show(text)), for the pattern \(try tools.show(pattern))"
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
            message = LuaString(error.message)
        }
        guard let message else { return try check(false, "an error was expected, and there was none", "") }
        // An expectation may be the function that is tested.
        tools.dropFailures(after: before)
        let shown = try tools.show(message)
        guard let pattern else { return try check(true, "", "no error was expected, and there was \(shown)") }
        let expected = try tools.show(pattern)
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
        let isMet = abs(number - expected) <= tolerance
        try check(
            isMet, "expected \(expected) within \(tolerance), got \(number)",
            "expected a number away from \(expected) by more than \(tolerance), got \(number)")
    }

    private func shown() throws -> String { try tools.compare.call(value, value, false).last?.textValue ?? "" }

    /// Fails the test unless a condition holds, or does not where it is negated.
    private func check(
        _ isMet: Bool, _ text: @autoclosure () throws -> String, _ negated: @autoclosure () throws -> String
    ) throws {
        guard isMet == isNegated else { return }
        var message = isNegated ? try negated() : try text()
        if value.isNil, !error.isNil { message += " (\(try tools.text(of: error).text ?? "an error"))" }
        let failure = ExpectationFailure(luaMessage: message)
        tools.record(failure)
        throw failure
    }
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
    let compare: LuaFunction
    private let find: LuaFunction
    private unowned let host: ScriptHost

    init(_ host: ScriptHost) throws {
        self.host = host
        compare = try Comparison.make(in: host)
        let source =
            "local text, pattern = ... local done, place = pcall(string.find, text, pattern) return done and place"
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

    func show(_ text: LuaString) throws -> String {
        try compare.call(.string(text), .string(text), false).last?.textValue ?? ""
    }

    /// Whether a pattern matches somewhere, or the text of the pattern occurs.
    func occurs(_ pattern: LuaString, in text: LuaString) throws -> Bool {
        if text.bytes.contains(pattern.bytes) { return true }
        return try find.call(.string(text), .string(pattern)).first?.isTruthy ?? false
    }
}
