public import LineEditor
public import Lua
public import Scripting

/// Turns what a person typed into chunks: expressions give their values, statements run.
public struct Evaluator {
    private let host: ScriptHost
    private var count = 0

    public init(_ host: ScriptHost) { self.host = host }

    /// Runs an entry as an expression where it is one, else as a block.
    public mutating func evaluate(_ text: String) -> Result<[LuaValue], LuaError> {
        count += 1
        let shown = "[\(count)]"
        host.sources.remember(text, as: shown)
        let entry = Self.withoutEquals(text)
        do throws(LuaError) {
            return host.run(try Self.compile(entry, name: "=" + shown, in: host.state))
        } catch {
            return .failure(error)
        }
    }

    /// Whether an entry can be run, or goes on in the next line.
    public static func completeness(of text: String, in state: LuaState) -> Completeness {
        let entry = withoutEquals(text)
        do throws(LuaError) {
            _ = try compile(entry, name: "=stdin", in: state)
            return .complete
        } catch {
            guard error.kind == .syntax(incomplete: true) else { return .invalid }
            return .incomplete(indent: BlockDepth.indentation(after: text))
        }
    }

    /// `=expression`, as older Lua prompts had it.
    private static func withoutEquals(_ text: String) -> String {
        let trimmed = text.drop { $0 == " " || $0 == "\t" }
        return trimmed.first == "=" && !trimmed.hasPrefix("==") ? String(trimmed.dropFirst()) : text
    }

    private static func compile(_ text: String, name: String, in state: LuaState) throws(LuaError) -> LuaFunction {
        // On the same line, so that line numbers are the entry's own.
        do throws(LuaError) { return try state.load(Array("return \(text)".utf8), name: name) } catch {
            return try state.load(Array(text.utf8), name: name)
        }
    }
}
