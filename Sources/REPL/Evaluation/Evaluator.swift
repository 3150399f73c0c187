package import LineEditor
package import Lua
package import Scripting

/// Compiles and runs entries: expressions return their values, statements run.
package struct Evaluator {
    private let host: ScriptHost
    /// The session's locals.
    let scope: SessionScope
    /// The number of entries so far, which is the number of the latest.
    package private(set) var count = 0
    /// The most numbered results; older ones are released.
    private static let resultLimit = 1000

    /// An evaluator on a host.
    package init(_ host: ScriptHost) {
        self.host = host
        scope = SessionScope(host.state)
    }

    /// Runs an entry as an expression if it is one, else as a block.
    ///
    /// Its first result is then `_`, and `_` with the entry's number; an error is `_err`.
    package mutating func evaluate(_ text: String) -> Result<[LuaValue], LuaError> {
        count += 1
        return evaluate(text, name: "[\(count)]", number: count)
    }

    /// Starts an entry of an attached prompt; its waits do not block the host.
    ///
    /// - Parameters:
    ///   - text: the entry.
    ///   - entry: its record in the host.
    ///   - completion: called once at its end, possibly before this returns.
    mutating func begin(
        _ text: String, as entry: ScriptEntry, completion: @escaping (Result<[LuaValue], LuaError>) -> Void
    ) {
        count += 1
        let (name, number) = ("[\(count)]", count)
        host.sources.remember(text, as: name)
        do throws(LuaError) {
            let prepared = try prepare(Self.withoutEquals(text), name: "=" + name)
            host.begin(prepared.function, as: entry) { [self] result in
                scope.end(prepared.locals)
                completion(conclude(result, number: number))
            }
        } catch {
            completion(conclude(.failure(error), number: number))
        }
    }

    /// Runs the text of a file.
    mutating func evaluate(_ text: String, name: String, number: Int?) -> Result<[LuaValue], LuaError> {
        host.sources.remember(text, as: name)
        // An entry may arrive from an attached prompt while another one waits.
        let wasRunning = host.isRunningEntry
        host.isRunningEntry = number != nil
        defer { host.isRunningEntry = wasRunning }
        do throws(LuaError) {
            let prepared = try prepare(Self.withoutEquals(text), name: "=" + name)
            let result = host.run(prepared.function)
            scope.end(prepared.locals)
            return conclude(result, number: number)
        } catch {
            return conclude(.failure(error), number: number)
        }
    }

    /// Stores the first result, or the error, under the names for later entries.
    private func conclude(
        _ result: Result<[LuaValue], LuaError>, number: Int?
    ) -> Result<[LuaValue], LuaError> {
        let globals = host.state.globals
        switch result {
        case .success(let values):
            guard let first = values.first, !first.isNil else { break }
            globals["_"] = first
            guard let number else { break }
            globals["_\(number)"] = first
            if number > Self.resultLimit { globals["_\(number - Self.resultLimit)"] = .nil }
        case .failure(let error):
            globals["_err"] = host.state.value(of: error) ?? .text(error.message)
        }
        return result
    }

    /// Compiles an entry and declares its locals; `scope.end(_:)` must follow its end.
    private func prepare(
        _ entry: String, name: String
    ) throws(LuaError) -> (function: LuaFunction, locals: [String]) {
        let chunk = try Self.compile(entry, name: name, in: host.state, scope.environment)
        guard let locals = TopLevelLocals(entry) else { return (chunk, []) }
        try scope.begin(locals.names)
        let kept = try? Self.compile(locals.text, name: name, in: host.state, scope.environment)
        return (kept ?? chunk, locals.names)
    }

    /// Whether an entry is complete, or continues in the next line.
    package static func completeness(of text: String, in state: LuaState) -> Completeness {
        if CommandLine.parse(text) != nil || HelpQuestion(text) != nil { return .complete }
        let entry = withoutEquals(text)
        do throws(LuaError) {
            _ = try compile(entry, name: "=stdin", in: state, nil)
            return .complete
        } catch {
            guard error.kind == .syntax(incomplete: true) else { return .invalid }
            return .incomplete(indent: BlockDepth.indentation(after: text))
        }
    }

    /// `=expression`, the syntax of older Lua prompts.
    private static func withoutEquals(_ text: String) -> String {
        let trimmed = text.drop { $0 == " " || $0 == "\t" }
        guard trimmed.first == "=", !trimmed.hasPrefix("==") else { return text }
        // A blank keeps the columns.
        return " " + trimmed.dropFirst()
    }

    static func compile(
        _ text: String, name: String, in state: LuaState, _ environment: LuaTable?
    ) throws(LuaError) -> LuaFunction {
        // On the same line, which keeps the line numbers.
        do throws(LuaError) {
            return try state.load(Array("return \(text)".utf8), name: name, environment: environment)
        } catch {
            return try state.load(Array(text.utf8), name: name, environment: environment)
        }
    }
}
