/// Reads lines where no editor can work: from a pipe, or a terminal that knows no control sequences.
///
/// The terminal's own line discipline does the editing, echo and signals. The outcomes are those of ``LineEditor``; what is
/// written is the prompt, without any control sequence.
public struct PlainLineReader {
    /// Whether a text is run or waits for more lines; no other service is used.
    public var services: EditorServices
    /// Bytes of one entry that are kept; the rest is dropped.
    public static let maximumEntry = 64 << 20

    private var prompt = ""
    private var continuationPrompt = ""
    private var entry: [UInt8] = []
    private var line: [UInt8] = []
    private var queue: [UInt8] = []
    private var hasEnded = false
    /// Whether a line is being read, from `begin` to its submission or the end of input.
    public private(set) var isActive = false

    public init(services: EditorServices = EditorServices()) { self.services = services }

    /// Begins an entry. Empty prompts write nothing.
    public mutating func begin(prompt: StyledText, continuation: StyledText = "") -> [Outcome] {
        self.prompt = prompt.text
        continuationPrompt = continuation.text
        entry = []
        isActive = true
        var outcomes: [Outcome] = []
        write(self.prompt, &outcomes)
        process(&outcomes)
        return outcomes
    }

    /// Takes bytes; what follows a submitted entry is kept for the next.
    public mutating func feed(_ bytes: some Sequence<UInt8>) -> [Outcome] {
        queue += bytes
        var outcomes: [Outcome] = []
        process(&outcomes)
        return outcomes
    }

    /// The input has ended: what was begun is submitted as it is, and after it, at the next `begin`, the end reported.
    public mutating func end() -> [Outcome] {
        hasEnded = true
        var outcomes: [Outcome] = []
        process(&outcomes)
        return outcomes
    }

    /// Control-C, which comes as a signal here: what was begun is dropped and the prompt written again.
    public mutating func interrupt() -> [Outcome] {
        guard isActive else { return [] }
        entry = []
        line = []
        queue = []
        var outcomes: [Outcome] = []
        if !prompt.isEmpty { write("\n", &outcomes) }
        outcomes.append(.interrupt)
        write(prompt, &outcomes)
        return outcomes
    }

    /// The terminal is there again, after other programs wrote to it: the prompt is written anew.
    public func resume() -> [Outcome] {
        guard isActive else { return [] }
        var outcomes: [Outcome] = []
        write(entry.isEmpty ? prompt : continuationPrompt, &outcomes)
        return outcomes
    }

    private mutating func process(_ outcomes: inout [Outcome]) {
        var index = 0
        while isActive, index < queue.count {
            let byte = queue[index]
            index += 1
            if byte == 0x0A {
                if line.last == 0x0D { line.removeLast() }
                endLine(&outcomes)
            } else if line.count + entry.count < Self.maximumEntry {
                line.append(byte)
            }
        }
        queue.removeFirst(index)
        guard hasEnded, isActive, queue.isEmpty else { return }
        if line.isEmpty, entry.isEmpty {
            isActive = false
            outcomes.append(.endOfInput)
        } else {
            entry += line
            line = []
            submit(String(decoding: entry, as: UTF8.self), &outcomes)
        }
    }

    private mutating func endLine(_ outcomes: inout [Outcome]) {
        entry += line
        line = []
        let text = String(decoding: entry, as: UTF8.self)
        switch services.completeness(text) {
        case .complete, .invalid: submit(text, &outcomes)
        case .incomplete:
            entry.append(0x0A)
            write(continuationPrompt, &outcomes)
        }
    }

    private mutating func submit(_ text: String, _ outcomes: inout [Outcome]) {
        isActive = false
        entry = []
        outcomes.append(.submitted(text))
    }

    private func write(_ text: String, _ outcomes: inout [Outcome]) {
        if !text.isEmpty { outcomes.append(.write(Array(text.utf8))) }
    }
}
