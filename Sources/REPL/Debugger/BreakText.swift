import LineEditor
import Lua
import Scripting
import Wording

/// The text of a break: why and where the script is paused.
struct BreakText {
    let host: ScriptHost
    let stop: ScriptBreak
    let printer: ValuePrinter
    /// Number of lines shown before and after the current line.
    private static let margin = 2

    private var calls: [LuaBreakCall] { stop.stop.calls }

    /// The reason, and the place of a function.
    func heading(_ call: Int) -> StyledText {
        var text = StyledText()
        switch stop.stop.reason {
        case .call: text.append("breakpoint()", .heading)
        case .breakpoint(let breakpoint, let failure):
            text.append("breakpoint \(breakpoint.number)", .heading)
            if let failure { text.append(" (its condition failed: \(failure.message))", .warning) }
        case .step: text.append("step", .heading)
        case .error(let value): text.append("error: \(message(value))", .error)
        }
        text.append(stop.stop.reason.isFailure ? "\n\(place(call))" : " · \(place(call))")
        if let title = stop.title { text.append(" · \(title)", .dimmed) }
        text.append("\n")
        return text
    }

    private func message(_ value: LuaValue) -> String { value.textValue ?? printer.describe(value) }

    /// `main.lua:12 in discount`.
    func place(_ call: Int) -> String {
        guard calls.indices.contains(call) else { return "" }
        let at = calls[call]
        return "\(at.source)\(at.line.map { ":\($0)" } ?? "")" + (at.kind == .chunk ? "" : " in \(at.title)")
    }

    /// The current line of a function, marked, with the lines around it, coloured; nil if the text is unknown.
    func source(_ call: Int, isColored: Bool) -> StyledText? {
        guard calls.indices.contains(call), let line = calls[call].line else { return nil }
        let at = calls[call]
        let last = line + Self.margin
        let width = String(last).count
        var text = StyledText()
        for number in max(line - Self.margin, 1)...last {
            guard let source = host.sources.line(number, of: at.chunk) else {
                if number >= line { break } else { return nil }
            }
            let digits = String(number)
            let margin =
                "\(number == line ? "→" : " ") \(String(repeating: " ", count: width - digits.count))\(digits) | "
            text.append(margin, number == line ? .emphasis : .dimmed)
            let shown = String(source.prefix(200))
            text.pieces += isColored ? Self.colored(shown).pieces : [StyledText.Piece(shown, .plain)]
            text.append("\n")
        }
        return text.pieces.isEmpty ? nil : text
    }

    /// A line of Lua in the editor's colours.
    private static func colored(_ line: String) -> StyledText {
        let bytes = Array(line.utf8)
        var styles = [Style](repeating: .plain, count: bytes.count)
        for span in LuaHighlighter.spans(line) where span.range.upperBound <= bytes.count {
            for index in span.range { styles[index] = span.style }
        }
        var text = StyledText()
        var start = 0
        for index in bytes.indices where index + 1 == bytes.count || styles[index + 1] != styles[index] {
            text.append(String(decoding: bytes[start...index], as: UTF8.self), styles[index])
            start = index + 1
        }
        return text
    }

    /// The call stack, with the selected function marked.
    func calls(selected: Int) -> String {
        let width = String(calls.count).count
        var text = ""
        var coroutine = 0
        for (number, call) in calls.enumerated() {
            if call.coroutine != coroutine { text += "  resumed by\n" }
            coroutine = call.coroutine
            let digits = String(number)
            text +=
                "\(number == selected ? "→" : " ") \(String(repeating: " ", count: width - digits.count))\(digits)  "
            text += "\(place(number))\n"
        }
        return text
    }

    /// The variables of a function, one per line.
    func variables(_ variables: [LuaBreak.Variable], extra: [LuaValue] = []) -> String {
        var lines = variables.map { "\($0.name) = \(printer.describe($0.value))" }
        if !extra.isEmpty { lines.append("... = " + extra.map { printer.describe($0) }.joined(separator: ", ")) }
        return lines.map { "  \($0)\n" }.joined()
    }
}

extension LuaBreak.Reason {
    /// Whether it has a message, after which the place starts a new line.
    fileprivate var isFailure: Bool {
        switch self {
        case .error, .breakpoint(_, failure: .some): true
        default: false
        }
    }
}
