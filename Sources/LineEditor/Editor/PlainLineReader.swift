/// Reads lines without editing: from a pipe, or a terminal without control sequences.
///
/// The terminal's line discipline does editing, echo and signals. The outcomes are those of ``TerminalLineEditor``; the
/// output is the prompt alone, without control sequences.
package struct PlainLineReader {
    /// Only the completeness service is used.
    package var services: EditorServices
    /// Maximum size of an entry in bytes; the rest is dropped.
    package static let maximumEntry = 64 << 20

    private var prompt = ""
    private var continuationPrompt = ""
    private var entry: [UInt8] = []
    private var line: [UInt8] = []
    private var queue: [UInt8] = []
    private var hasEnded = false
    /// Whether a line is being read, from `begin` until its submission or the end of input.
    package private(set) var isActive = false

    /// Creates a reader of standard input.
    package init(services: EditorServices = EditorServices()) { self.services = services }

    /// Begins an entry. Empty prompts write nothing.
    package mutating func begin(prompt: StyledText, continuation: StyledText = "") -> [EditorOutcome] {
        self.prompt = prompt.text
        continuationPrompt = continuation.text
        entry = []
        isActive = true
        return write(self.prompt) + process()
    }

    /// Processes bytes; those after a submitted entry are kept for the next one.
    package mutating func feed(_ bytes: some Sequence<UInt8>) -> [EditorOutcome] {
        queue += bytes
        return process()
    }

    /// Ends the input: submits the unfinished entry, and reports the end at the next `begin`.
    package mutating func end() -> [EditorOutcome] {
        hasEnded = true
        return process()
    }

    /// Control-C, received as a signal: drops the unfinished entry and writes the prompt again.
    package mutating func interrupt() -> [EditorOutcome] {
        guard isActive else { return [] }
        entry = []
        line = []
        queue = []
        return (prompt.isEmpty ? [] : write("\n")) + [.interrupt] + write(prompt)
    }

    /// Writes the prompt again after other programs used the terminal.
    package func resume() -> [EditorOutcome] {
        guard isActive else { return [] }
        return write(entry.isEmpty ? prompt : continuationPrompt)
    }

    private mutating func process() -> [EditorOutcome] {
        var outcomes: [EditorOutcome] = []
        var index = 0
        while isActive, index < queue.count {
            let byte = queue[index]
            index += 1
            if byte == 0x0A {
                if line.last == 0x0D { line.removeLast() }
                outcomes += endLine()
            } else if line.count + entry.count < Self.maximumEntry {
                line.append(byte)
            }
        }
        queue.removeFirst(index)
        guard hasEnded, isActive, queue.isEmpty else { return outcomes }
        if !line.isEmpty || !entry.isEmpty { return outcomes + submit(takeLine()) }
        isActive = false
        return outcomes + [.endOfInput]
    }

    /// Takes the line into the entry, and returns the entry's text.
    private mutating func takeLine() -> String {
        entry += line
        line = []
        return String(decoding: entry, as: UTF8.self)
    }

    private mutating func endLine() -> [EditorOutcome] {
        let text = takeLine()
        switch services.completeness(text) {
        case .complete, .invalid: return submit(text)
        case .incomplete:
            entry.append(0x0A)
            return write(continuationPrompt)
        }
    }

    private mutating func submit(_ text: String) -> [EditorOutcome] {
        isActive = false
        entry = []
        return [.submitted(text)]
    }

    private func write(_ text: String) -> [EditorOutcome] { text.isEmpty ? [] : [.write(Array(text.utf8))] }
}
