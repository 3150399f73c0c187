import Foundation
import LineEditor
import TestSupport
import Testing

/// The example of `docs/products/line-editor.md`: the page has the same lines, and what a terminal shows of them.
@Suite("Line editor: the documented example") struct DocumentedPromptTests {
    private static let page = "docs/products/line-editor.md"

    @Test("keys are completed, coloured and remembered, and the page shows the screen")
    func example() throws {
        let (keys, shown) = (Pipe(), Pipe())
        try keys.fileHandleForWriting.write(contentsOf: Data("a\t milk\rd\t b\t\r\u{10}\u{10}\u{10}\r\u{4}".utf8))
        try keys.fileHandleForWriting.close()
        let (input, output) = (keys.fileHandleForReading.fileDescriptor, shown.fileHandleForWriting.fileDescriptor)
        let terminal: TerminalMode? = nil
        let directory = try TemporaryDirectory()
        let file = URL(fileURLWithPath: directory.file("history"))
        try JSONEncoder().encode(["add bread"]).write(to: file)

        // Page begins.
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
        // Page ends.

        try shown.fileHandleForWriting.close()
        var screen = Screen(columns: 80, rows: 24)
        screen.apply(Array(try shown.fileHandleForReading.readToEnd() ?? Data()))
        let page = try DocumentedText.file(Self.page)
        let expected = try DocumentedText.between("```text\n", "```", in: page)
        #expect(expected == screen.lines.joined(separator: "\n") + "\n")
        #expect(screen.unknown == [] && screen.styles[0][2] == "35" && screen.styles[0][6] == "")
        #expect(
            try JSONDecoder().decode([String].self, from: Data(contentsOf: file))
                == ["add milk", "drop butter", "add bread"])

        let lines = try DocumentedText.example(in: #filePath)
        let program = try DocumentedText.between("another size\n\n", "```", in: page)
        #expect(program == lines)
    }

    @Test("the page has the error of what is no terminal as it is said")
    func noTerminal() throws {
        let pipe = Pipe()
        let error = try #require(throws: TerminalError.self) {
            try TerminalMode(input: pipe.fileHandleForReading.fileDescriptor).enter()
        }
        #expect(try DocumentedText.file(Self.page).contains("`\(error)`"), "\(error)")
    }
}
