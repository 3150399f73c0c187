package import LineEditor
package import Lua
package import Scripting

/// Compiles and runs entries: expressions return their values, statements run.
package final class Evaluator {
    /// Runs a function, and calls the completion once at its end, possibly before it returns.
    typealias Runner = (LuaFunction, @escaping (Result<[LuaValue], LuaError>) -> Void) -> Void

    private let host: ScriptHost
    /// The session's locals.
    let scope: SessionScope
    /// The number of entries so far, which is the number of the latest.
    package private(set) var count = 0
    /// Maximum number of numbered results; older ones are released.
    private static let resultLimit = 1000

    /// An evaluator on a host.
    package init(_ host: ScriptHost) {
        self.host = host
        scope = SessionScope(host.state)
    }

    /// Runs an entry as an expression if it is one, else as a block.
    ///
    /// Its first result is then `_`, and `_` with the entry's number; an error is `_err`.
    package func evaluate(_ text: String) -> Result<[LuaValue], LuaError> {
        var outcome = Result<[LuaValue], LuaError>.success([])
        begin(text) { [host] function, completion in
            completion(host.runEntry(function))
        } completion: {
            outcome = $0
        }
        return outcome
    }

    /// Starts an entry.
    ///
    /// - Parameters:
    ///   - text: the entry.
    ///   - run: runs its function.
    ///   - completion: called once at its end, possibly before this returns.
    func begin(_ text: String, run: Runner, completion: @escaping (Result<[LuaValue], LuaError>) -> Void) {
        count += 1
        begin(text, name: "[\(count)]", number: count, run: run, completion: completion)
    }

    /// Starts the text of a file, or of the entry of a number.
    func begin(
        _ text: String, name: String, number: Int?, run: Runner,
        completion: @escaping (Result<[LuaValue], LuaError>) -> Void
    ) {
        host.sources.remember(text, as: name)
        do throws(LuaError) {
            let prepared = try prepare(Self.withoutEquals(text), name: "=" + name)
            run(prepared.function) { [self] result in
                scope.end(prepared.locals)
                completion(conclude(result, number: number))
            }
        } catch {
            completion(conclude(.failure(error), number: number))
        }
    }

    /// Runs an entry in a function at a break; it has no number.
    func evaluate(_ text: String, at stop: ScriptBreak, in call: Int) -> Result<[LuaValue], LuaError> {
        conclude(stop.evaluate(Self.withoutEquals(text), in: call), number: nil)
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
        let chunk = try host.state.loadEntry(entry, name: name, environment: scope.environment)
        guard let locals = TopLevelLocals(entry) else { return (chunk, []) }
        try scope.begin(locals.names)
        let kept = try? host.state.loadEntry(locals.text, name: name, environment: scope.environment)
        return (kept ?? chunk, locals.names)
    }

    /// Compiles a chunk like an entry: as an expression if it is one, else as a block.
    ///
    /// - Parameters:
    ///   - chunk: the text, in any encoding.
    ///   - name: the chunk's name.
    ///   - state: the state to load it in.
    /// - Returns: the function.
    /// - Throws: the error of its syntax.
    package static func function(
        of chunk: [UInt8], name: String, in state: LuaState
    ) throws(LuaError) -> LuaFunction {
        var chunk = chunk
        if let place = chunk.firstIndex(where: { $0 != 0x20 && $0 != 0x09 }), chunk[place] == UInt8(ascii: "="),
            !chunk[(place + 1)...].starts(with: "=".utf8)
        {
            chunk[place] = UInt8(ascii: " ")
        }
        // `return` is on the same line, to keep the line numbers.
        if let expression = try? state.load(Array("return ".utf8) + chunk, name: name) { return expression }
        return try state.load(chunk, name: name)
    }

    /// Whether an entry is complete, or continues in the next line.
    package static func completeness(of text: String, in state: LuaState) -> Completeness {
        if CommandLine.parse(text) != nil || HelpQuestion(text) != nil { return .complete }
        let entry = withoutEquals(text)
        do throws(LuaError) {
            _ = try state.loadEntry(entry, name: "=stdin", environment: nil)
            return .complete
        } catch {
            guard error.kind == .syntax(incomplete: true) else { return .invalid }
            return .incomplete(indent: BlockDepth.indentation(after: text))
        }
    }

    /// `=expression`, the syntax of older Lua prompts.
    private static func withoutEquals(_ text: String) -> String {
        let trimmed = text.drop { $0.is(" ") || $0.is("\t") }
        guard trimmed.first == "=", !trimmed.hasPrefix("==") else { return text }
        // A blank keeps the columns.
        return " " + trimmed.dropFirst()
    }
}
