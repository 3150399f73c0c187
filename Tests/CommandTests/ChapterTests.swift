import Foundation
import TestSupport
import Testing

/// The chapter as a reader goes through it: in a shell, by what each step says to try.
@Suite("The chapter in a terminal", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct ChapterTests {
    @Test("what each step says to try is noticed, Ctrl-Z and fg as well; it is left, and resumed")
    func steps() throws {
        let shell = try Program().shell()
        // A window in which the drawing of the states and the next step do not fit together.
        shell.resize(columns: 200, rows: 36)
        func start() throws { try shell.sendLine("\"$CUBBY\" chapter --no-color") }
        func leave() throws {
            try shell.sendLine(":quit")
            try shell.expect("$ ")
        }
        try start()
        var step = 0
        var title = ""
        repeat {
            step += 1
            try shell.expect("\(step) of 15: ")
            title = try shell.expect("\n").trimmingCharacters(in: .whitespacesAndNewlines)
            try shell.expect("Try:")
            let tries = try shell.expect("> ").split(whereSeparator: \.isNewline).filter { $0.hasPrefix("  ") }
            if step == 6 {
                try leave()
                try start()
                try shell.expect("goes on where it was left")
                try shell.expect("6 of 15: ")
                try shell.expect("Try:")
                try shell.expect("> ")
            }
            switch tries.map({ $0.trimmingCharacters(in: .whitespaces) }) {
            case ["Ctrl-Z, then fg in the shell"]:
                try shell.pressHome()
                try shell.sendLine("fg")
            case [":quit, then cubby chapter in the shell"]:
                try leave()
                try start()
            case let lines:
                #expect(!lines.isEmpty)
                for line in lines { try shell.sendLine(line) }
            }
            try shell.expect("✓ \(title)")
            if step == 7 || step == 10 {
                try shell.expect(":chapter shows step \(step + 1)")
                try shell.sendLine(":chapter")
            }
        } while step < 15
        try shell.expect("That was the chapter.")
        try shell.expect("> ")
        try leave()
        // Who does what a step says is not told that it is not done.
        #expect(!String(decoding: shell.rawTranscript, as: UTF8.self).contains("Not yet."))
        try start()
        try shell.expect("The chapter was gone through to its end.")
    }
}
