/// The entries of a session with their results.
struct SessionRecord {
    struct Entry {
        let number: Int
        let text: String
        let hasWorked: Bool
        /// The shown result; empty for statements.
        let result: String
        /// Whether it is an expression, not a statement.
        let isExpression: Bool
    }

    private(set) var entries: [Entry] = []

    mutating func add(_ entry: Entry) { entries.append(entry) }

    /// The entry with a number, or the latest.
    func entry(_ number: Int?) -> Entry? {
        guard let number else { return entries.last }
        return entries.last { $0.number == number }
    }

    /// All entries with their numbers, as `:history` shows them.
    var listing: String {
        entries.map { entry in
            "\(String(repeating: " ", count: max(0, 4 - String(entry.number).count)))\(entry.number)  "
                + entry.text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n      ")
                + (entry.hasWorked ? "\n" : "   -- failed\n")
        }.joined()
    }

    /// The successful entries as a script: values are printed, with the shown results as comments.
    func script() -> String {
        let worked = entries.filter(\.hasWorked)
        let needsResults = worked.contains { Self.asksForResults($0.text) }
        var text = "-- Saved from a session at the prompt.\n"
        if needsResults { text += Self.resultKeeper }
        if worked.contains(where: { Self.names(in: $0.text).contains("full") }) { text += Self.full }
        for entry in worked {
            guard let source = Self.source(of: entry, keepingResults: needsResults) else { continue }
            text += "\n" + source + "\n"
            for line in entry.result.split(separator: "\n").prefix(20) { text += "--> \(line)\n" }
        }
        return text
    }

    /// Prints values and keeps the first, as the prompt does.
    private static let resultKeeper = """

        -- As at the prompt: _ is the last value, _3 that of entry 3.
        local function show(number, ...)
          if ... ~= nil then
            _ = ...
            _G["_" .. number] = _
          end
          print(...)
        end

        """

    /// `full` exists only at prompts.
    private static let full = "\nlocal full = rawget(_G, \"full\") or print\n"

    private static func source(of entry: Entry, keepingResults: Bool) -> String? {
        var source = entry.text.trimmed
        var isExpression = entry.isExpression
        if source.hasPrefix("=") {
            source = String(source.dropFirst()).trimmed
        } else if let first = LuaLexer.tokens(source).first, LuaText(source).text(first) == "return" {
            // `return` would end the script.
            source = String(source.dropFirst("return".count)).trimmed
            isExpression = true
            if source.isEmpty { return nil }
        }
        guard isExpression else {
            // A line beginning with a parenthesis would continue the line before.
            return source.hasPrefix("(") ? ";" + source : source
        }
        while source.hasSuffix(";") { source = String(source.dropLast()).trimmed }
        // A comment at the end would include the parenthesis.
        let end = LuaLexer.tokens(source).contains(where: \.isComment) ? "\n)" : ")"
        return (keepingResults ? "show(\(entry.number), " : "print(") + source + end
    }

    /// Whether an entry refers to `_`, or to `_3`.
    private static func asksForResults(_ entry: String) -> Bool {
        names(in: entry).contains { $0.first == "_" && $0.dropFirst().allSatisfy(\.isNumber) }
    }

    private static func names(in entry: String) -> Set<String> {
        let lua = LuaText(entry)
        return Set(lua.tokens.filter { $0.kind == .name }.map(lua.text))
    }
}
