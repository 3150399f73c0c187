import Foundation
import LineEditor

let (input, output): (Int32, Int32) = (0, 1)
let terminal = TerminalMode.supportsEditing { ProcessInfo.processInfo.environment[$0] } ? TerminalMode() : nil
let file = URL(fileURLWithPath: ".shopping")
signal(SIGWINCH) { _ in }  // poll ends when the window has another size

var things = ["butter"]
let answer = { (line: String) -> String in
    let words = line.components(separatedBy: " ")
    switch words[0] {
    case "add": things += words.dropFirst()
    case "drop": things.removeAll { words.dropFirst().contains($0) }
    default: return "add or drop things"
    }
    return things.joined(separator: ", ")
}

var services = EditorServices()
services.highlight = { text in
    let command = text.prefix { $0 != " " }
    return [StyledSpan(0..<command.utf8.count, ["add", "drop"].contains(command) ? .keyword : .error)]
}
services.complete = { text, cursor in
    let before = String(decoding: text.utf8.prefix(cursor), as: UTF8.self)
    let word = before.components(separatedBy: " ").last ?? ""
    let words = (word == before ? ["add", "drop"] : things).filter { $0.hasPrefix(word) }
    return CompletionResult(
        replacement: cursor - word.utf8.count..<cursor, candidates: words.map { CompletionCandidate($0) })
}

let history = try? JSONDecoder().decode([String].self, from: Data(contentsOf: file))
let size = { TerminalSize(descriptor: output) ?? TerminalSize(columns: 80, rows: 24) }
let editor = TerminalLineEditor(
    renderer: TerminalRenderer(columns: size().columns, rows: size().rows, palette: .standard),
    services: services, history: EditorHistory(history ?? []))

/// The next bytes; none if the wait is over or the window has another size, nil at the end.
func nextBytes(for milliseconds: Int32, of input: Int32) -> [UInt8]? {
    var ready = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, milliseconds) == 1 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(input, &bytes, bytes.count)
    return count > 0 ? Array(bytes[..<count]) : nil
}

try terminal?.enter()
var outcomes = editor.begin(prompt: "> ")
session: while true {
    while outcomes.isEmpty {
        guard let bytes = nextBytes(for: editor.isWaiting ? 40 : -1, of: input) else { break session }
        outcomes = editor.resize(columns: size().columns, rows: size().rows)
        outcomes += bytes.isEmpty ? editor.flush() : editor.feed(bytes)
    }
    switch outcomes.removeFirst() {
    case .write(let bytes): write(output, bytes, bytes.count)
    case .submitted(let line):
        outcomes += [.write(Array("\(answer(line))\r\n".utf8))] + editor.begin(prompt: "> ")
    case .suspend:
        terminal?.leave()
        raise(SIGTSTP)
        try terminal?.enter()
        outcomes += editor.resumeDisplay()
    case .endOfInput: break session
    default: break
    }
}
terminal?.leave()
try JSONEncoder().encode(editor.history.entries).write(to: file)
