import LineEditor

/// Completes the prompt's commands, their arguments, and questions with `?`.
struct CommandCompletion {
    private let completer: Completer

    init(_ completer: Completer) { self.completer = completer }

    /// Nil for Lua.
    func complete(_ bytes: [UInt8]) -> CompletionResult? {
        let text = String(decoding: bytes, as: UTF8.self)
        let marks = bytes.prefix { $0 == UInt8(ascii: "?") || $0 == 0x20 }.count
        if bytes.first == UInt8(ascii: "?") { return shifted(String(decoding: bytes[marks...], as: UTF8.self), marks) }
        guard let command = CommandLine.parse(text) else { return nil }
        guard bytes.count > command.nameRange.upperBound else {
            let word = command.name
            let found = Command.all.filter { $0.name.hasPrefix(word) }.map {
                Candidate(
                    $0.name, label: ":" + $0.name, kind: .command, detail: $0.arguments,
                    suffix: $0.arguments.isEmpty ? "" : " ", documentation: $0.documentation)
            }
            return completer.result(found, command.nameRange.lowerBound + 1..<bytes.count)
        }
        let rest = String(decoding: bytes[command.restOffset...], as: UTF8.self)
        switch Command.named(command.name)?.completion {
        case .words(let words)?:
            let found = Matching.filter(words, by: rest) { $0 }.map { Candidate($0, kind: .string) }
            return completer.result(found, command.restOffset..<bytes.count)
        case .files?: return FileCompletion().result(text, cursor: bytes.count)
        case .fields?:
            let word = rest.split(separator: " ", omittingEmptySubsequences: false).last ?? ""
            let found = Matching.filter(ChosenColumns.known(completer.host), by: String(word)) { $0 }.map {
                Candidate($0, kind: .field, suffix: " ")
            }
            return completer.result(found, bytes.count - word.utf8.count..<bytes.count)
        case .lua?: return shifted(rest, command.restOffset)
        case .commands?:
            let found = Command.all.filter { $0.name.hasPrefix(rest.drop { $0.is(":") }) }.map {
                Candidate(":" + $0.name, kind: .command, documentation: $0.documentation)
            }
            return completer.result(found, command.restOffset..<bytes.count)
        case .nothing?, nil: return CompletionResult(replacement: bytes.count..<bytes.count, candidates: [])
        }
    }

    private func shifted(_ text: String, _ offset: Int) -> CompletionResult? {
        guard let inner = completer.complete(text, text.utf8.count) else {
            return CompletionResult(replacement: offset..<offset, candidates: [])
        }
        return CompletionResult(
            replacement: inner.replacement.lowerBound + offset..<inner.replacement.upperBound + offset,
            candidates: inner.candidates)
    }
}
