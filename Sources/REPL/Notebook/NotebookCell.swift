import Jupyter
import Lua
import PropertyList

/// A cell of a notebook: what its front end asks for, and what came of it.
struct NotebookCell {
    let request: JupyterMessage
    let code: String
    /// Whether nothing of it is shown but what it prints.
    let isSilent: Bool
    /// Whether it is kept in the history, and has a number.
    let isStored: Bool
    /// Whether its front end answers questions.
    let allowsInput: Bool
    /// Whether cells that wait are not run after its failure.
    let stopsOnError: Bool
    let number: Int
    /// What its function has returned, until that is shown.
    var values: [LuaValue]?
    var error: LuaError?
    /// The text of its failure.
    var failure = ""

    /// - Parameters:
    ///   - request: the front end's.
    ///   - count: the number of entries before it.
    init(_ request: JupyterMessage, after count: Int) {
        let fields = request.content.fields ?? [:]
        func flag(_ name: String, _ usual: Bool) -> Bool { (fields[name] ?? .boolean(usual)) == .boolean(true) }
        self.request = request
        code = fields["code"]?.text ?? ""
        isSilent = flag("silent", false)
        isStored = !isSilent && flag("store_history", true)
        allowsInput = flag("allow_stdin", true)
        stopsOnError = flag("stop_on_error", true)
        number = isStored ? count + 1 : count
    }

    /// The statement below a line `%%sql`, which becomes blank: the statement's lines keep their numbers.
    static func sql(_ code: String) -> String? {
        let line = code.prefix { !$0.isNewline }
        guard line.trimmed == "%%sql" else { return nil }
        return String(repeating: " ", count: line.utf8.count) + code[line.endIndex...]
    }

    /// The name of its failure.
    var errorName: String {
        switch error?.kind {
        case .cancelled, .shutdown: "Interrupted"
        case .deadline, .memory, .output, .callDepth: "LimitReached"
        case .runtime, .argument: "Error"
        case .syntax: "SyntaxError"
        case nil: CommandLine.parse(code) == nil ? "SyntaxError" : "CommandError"
        }
    }

    /// The failure, as a reply and all front ends have it.
    var failureFields: PropertyListFields {
        let lines = failure.split(separator: "\n").map(String.init)
        return [
            "ename": .string(errorName), "evalue": .string(lines.first ?? "the host has ended"),
            "traceback": .array(lines.map(PropertyListValue.string)),
        ]
    }
}

/// What a cell may still print. What is beyond is left out, and counted.
struct NotebookOutput {
    static let lineLimit = 100_000
    static let byteLimit = 16 << 20

    private var lines = 0
    private var bytes = 0
    private(set) var leftOut = (lines: 0, bytes: 0)

    /// Counts a text.
    ///
    /// - Returns: the part of it that is shown.
    mutating func take(_ text: [UInt8]) -> ArraySlice<UInt8> {
        var end = text.startIndex
        while end < text.endIndex, leftOut.bytes == 0, lines < Self.lineLimit, bytes < Self.byteLimit {
            if text[end] == 0x0A { lines += 1 }
            bytes += 1
            end += 1
        }
        leftOut = (leftOut.lines + text[end...].count { $0 == 0x0A }, leftOut.bytes + text.endIndex - end)
        return text[..<end]
    }

    /// Says what was left out; nil if nothing was.
    var notice: String? {
        guard leftOut.bytes > 0 else { return nil }
        let rest = leftOut.lines > 0 ? leftOut.lines.counted("line") : leftOut.bytes.counted("byte")
        return "… and \(rest) more: a cell shows \(Self.lineLimit.grouped) lines or \(Self.byteLimit >> 20) MB\n"
    }
}
