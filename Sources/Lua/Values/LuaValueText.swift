internal import CLuaShim

/// Formats values for people: strings quoted, tables expanded, within limits. Also used by ``LuaValue``'s description.
package struct LuaValueText {
    /// Limits: elements of a table, nesting of tables, characters of a string, and bytes of the whole text.
    package struct Limits {
        package var elements = 50
        package var levels = 4
        package var string = 2000
        package var bytes = 20_000
        /// Maximum number of entries of a table to visit in search of its fields.
        package var visits = Int.max

        package init() {}

        /// For a raised table: short, and computed quickly.
        static var error: Limits {
            var limits = Limits()
            (limits.elements, limits.levels, limits.string, limits.bytes, limits.visits) = (20, 3, 200, 1000, 1000)
            return limits
        }
    }

    private let limits: Limits
    /// The width of the text in columns; a table of several lines is indented.
    package var columns = Int.max
    package var width: (String) -> Int = { $0.count }
    /// Returns the table whose entries to show instead: for a read-only table, the one behind it.
    package var contents: (LuaTable) -> LuaTable? = { _ in nil }
    /// Whether to call `tostring`. Calls are impossible while a script is being stopped.
    var callsMetamethods = true
    /// Whether to stop expanding.
    package var isInterrupted: () -> Bool = { false }
    private var seen: Set<UnsafeRawPointer> = []
    private var left: Int

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
        left = limits.bytes
    }

    /// The text of a value.
    package mutating func describe(_ value: LuaValue) -> String { describe(value, depth: 0, indent: "") }

    private mutating func describe(_ value: LuaValue, depth: Int, indent: String) -> String {
        switch value {
        case .nil: return "nil"
        case .boolean(let flag): return flag ? "true" : "false"
        case .integer(let integer): return String(integer)
        case .number(let number): return Self.text(number)
        case .string(let string):
            let text = string.quoted(limit: limits.string)
            left -= text.utf8.count
            return text
        case .function(let function):
            guard function.state.isOpen else { return "function" }
            let place = function.place
            return place.isNative ? "function: native" : "function: \(VisibleText.line(place.source)):\(place.line)"
        case .table(let table):
            guard table.state.isOpen else { return "table" }
            if let contents = contents(table) { return unfold(contents, depth: depth, indent: indent) }
            if callsMetamethods, let metatable = table.metatable, !metatable["__tostring"].isNil {
                return tostring(value, table.state)
            }
            return unfold(table, depth: depth, indent: indent)
        case .thread(let thread): return tostring(value, thread.state)
        case .userdata(let userdata):
            return callsMetamethods ? tostring(value, userdata.state) : userdata.className ?? value.typeName
        }
    }

    /// The text of `tostring`, escaped for a terminal.
    private func tostring(_ value: LuaValue, _ state: LuaState) -> String {
        switch value {
        case .boolean(let flag): return String(flag)
        case .integer(let integer): return String(integer)
        case .number(let number): return Self.text(number)
        default: break
        }
        return callsMetamethods && state.isOpen
            ? VisibleText.escaped(state.describe(value).description) : value.typeName
    }

    private mutating func unfold(_ table: LuaTable, depth: Int, indent: String) -> String {
        guard let identity = table.identity else { return "{}" }
        guard seen.insert(identity).inserted else { return "{ … (contains itself) }" }
        defer { seen.remove(identity) }
        guard depth < limits.levels, left > 0, !isInterrupted() else { return "{ … }" }
        let inner = indent + "  "
        var parts: [String] = []
        let count = table.count
        for index in 1..<(min(count, limits.elements) + 1) where left > 0 {
            if index & 1023 == 0, isInterrupted() { return "{ … }" }
            left -= 4
            parts.append(describe(table[index], depth: depth + 1, indent: inner))
        }
        let positional = parts.count
        if count > parts.count { parts.append("… (\(count.counted("element")))") }
        let (named, more, isCut) = fields(table, beyond: count)
        for (place, (name, value)) in named.enumerated() {
            if place & 1023 == 1023, isInterrupted() { return "{ … }" }
            left -= name.utf8.count + 4
            parts.append("\(name) = \(describe(value, depth: depth + 1, indent: inner))")
        }
        if more > 0 || isCut { parts.append(isCut ? "…" : "… (\(more.counted("more field")))") }
        guard !parts.isEmpty else { return "{}" }
        let line = "{ \(parts.joined(separator: ", ")) }"
        guard columns < .max else { return line }
        // What has many times the bytes of a line is not measured.
        let isShort = line.utf8.count / 16 <= columns && !line.utf8.contains(UInt8(ascii: "\n"))
        if isShort, width(line) + indent.count <= columns { return line }
        let lines = filled(Array(parts[..<positional]), indent: inner) + parts[positional...]
        return "{\n" + lines.map { inner + $0 }.joined(separator: ",\n") + "\n\(indent)}"
    }

    /// The entries that are not elements, by label; the number of omitted ones, and whether some were not visited.
    private func fields(
        _ table: LuaTable, beyond count: Int
    ) -> (named: [(String, LuaValue)], more: Int, isCut: Bool) {
        var named: [(String, LuaValue)] = []
        var (more, visits) = (0, 0)
        try? table.forEach { key, value in
            visits += 1
            guard visits <= limits.visits, visits & 1023 != 0 || !isInterrupted() else { return false }
            if case .integer(let index) = key, count > 0, (1...Int64(count)).contains(index) { return true }
            if named.count < limits.elements { named.append((label(key, in: table.state), value)) } else { more += 1 }
            return true
        }
        return (named.sorted { $0.0 < $1.0 }, more, visits > limits.visits)
    }

    /// Arranges several short elements per line.
    private func filled(_ parts: [String], indent: String) -> [String] {
        var lines: [String] = []
        var used = 0
        for (place, part) in parts.enumerated() {
            if place & 1023 == 1023, isInterrupted() { return lines + ["…"] }
            let wordWidth = part.utf8.contains(UInt8(ascii: "\n")) ? columns : width(part)
            if !lines.isEmpty, used + wordWidth + 2 + indent.count < columns, wordWidth <= 24 {
                lines[lines.count - 1] += ", " + part
                used += wordWidth + 2
            } else {
                lines.append(part)
                // Long elements get their own line.
                used = wordWidth <= 24 ? wordWidth : columns
            }
        }
        return lines
    }

    private func label(_ key: LuaValue, in state: LuaState) -> String {
        guard case .string(let name) = key else { return "[\(tostring(key, state))]" }
        if let text = name.text, LuaName.isValid(text) { return text }
        return "[\(name.quoted(limit: limits.string))]"
    }

    /// A float as by `tostring`, 1e+15, 2.0, if those fourteen digits read back as the number; else with as many digits as
    /// identify it.
    package static func text(_ number: Double) -> String {
        let short = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 40) { text in
            guard let start = text.baseAddress else { return "" }
            return String(decoding: text.prefix(Int(clua_numbertext(number, start, 40))).map(UInt8.init), as: UTF8.self)
        }
        return number.isFinite && Double(short) != number ? number.description : short
    }
}

/// Lua's names: letters, digits and underscores, except for reserved words.
package enum LuaName {
    package static let keywords: Set<String> = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil",
        "not", "or", "repeat", "return", "then", "true", "until", "while",
    ]

    package static func isStart(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
    }

    package static func isPart(_ byte: UInt8) -> Bool { isStart(byte) || (0x30...0x39).contains(byte) }

    /// Whether a text is a name: `item.room`, not `item["shelf 3"]`.
    package static func isValid(_ text: String) -> Bool {
        guard let first = text.utf8.first, isStart(first) else { return false }
        return text.utf8.allSatisfy(isPart) && !keywords.contains(text)
    }
}
