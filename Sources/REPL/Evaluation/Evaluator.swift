package import LineEditor
package import Lua
package import Scripting

/// Turns what a person typed into chunks: expressions give their values, statements run.
package struct Evaluator {
    private let host: ScriptHost
    /// The locals of the session.
    let scope: SessionScope
    /// How many entries ran: the number of the latest.
    package private(set) var count = 0
    /// Results that can be had by their numbers; older ones are let go.
    private static let resultLimit = 1000

    /// An evaluator of entries for a host.
    package init(_ host: ScriptHost) {
        self.host = host
        scope = SessionScope(host.state)
    }

    /// Runs an entry as an expression where it is one, else as a block.
    ///
    /// Its first result is `_` from then on, and `_` with the entry's number; an error is `_err`.
    package mutating func evaluate(_ text: String) -> Result<[LuaValue], LuaError> {
        count += 1
        return evaluate(text, name: "[\(count)]", number: count)
    }

    /// Begins an entry of an attached prompt; a wait in it holds nobody up.
    ///
    /// - Parameters:
    ///   - text: what was typed.
    ///   - entry: what it is for the host.
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

    /// The same for a text that came from a file.
    mutating func evaluate(_ text: String, name: String, number: Int?) -> Result<[LuaValue], LuaError> {
        host.sources.remember(text, as: name)
        // An entry may come from an attached prompt while another one waits.
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

    /// Keeps the first result, or the error, under the names that the next entries find it by.
    private func conclude(
        _ result: Result<[LuaValue], LuaError>, number: Int?
    ) -> Result<[LuaValue], LuaError> {
        let globals = host.state.globals
        switch result {
        case .success(let values):
            guard let first = values.first, !first.isNil else { break }
            globals.rawSet("_", first)
            guard let number else { break }
            globals.rawSet(.text("_\(number)"), first)
            if number > Self.resultLimit { globals.rawSet(.text("_\(number - Self.resultLimit)"), .nil) }
        case .failure(let error):
            globals.rawSet("_err", host.state.value(of: error) ?? .text(error.message))
        }
        return result
    }

    /// Compiles an entry, and announces the locals that it declares; `scope.end(_:)` has to follow its end.
    private func prepare(
        _ entry: String, name: String
    ) throws(LuaError) -> (function: LuaFunction, locals: [String]) {
        let chunk = try Self.compile(entry, name: name, in: host.state, scope.environment)
        guard let locals = TopLevelLocals(entry) else { return (chunk, []) }
        try scope.begin(locals.names)
        let kept = try? Self.compile(locals.text, name: name, in: host.state, scope.environment)
        return (kept ?? chunk, locals.names)
    }

    /// Whether an entry can be run, or goes on in the next line.
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

    /// `=expression`, as older Lua prompts had it.
    private static func withoutEquals(_ text: String) -> String {
        let trimmed = text.drop { $0 == " " || $0 == "\t" }
        guard trimmed.first == "=", !trimmed.hasPrefix("==") else { return text }
        // A blank in its place, so that columns stay.
        return " " + trimmed.dropFirst()
    }

    private static func compile(
        _ text: String, name: String, in state: LuaState, _ environment: LuaTable?
    ) throws(LuaError) -> LuaFunction {
        // On the same line, so that line numbers are the entry's own.
        do throws(LuaError) {
            return try state.load(Array("return \(text)".utf8), name: name, environment: environment)
        } catch {
            return try state.load(Array(text.utf8), name: name, environment: environment)
        }
    }
}
