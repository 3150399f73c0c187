import Foundation
import TestSupport
import Testing

/// The classroom experiment, `#function` printed in every method of the delegate, over a whole day; what it prints is in
/// docs/life-cycle.md. With CUBBY_RECORD set it is written there anew.
@Suite("A day in the life", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct ClassroomDayTests {
    static let document = "\(Project.root)/docs/life-cycle.md"
    static let (begin, end) = ("<!-- day -->\n```text\n", "```\n<!-- /day -->")

    @Test("is as the document shows it")
    func day() throws {
        let program = try Program()
        try program.scratch.write(
            "function mark(text) io.stderr:write('\\n# ', text, '\\n') end io.stderr:write('# Morning: launched\\n')",
            to: "container/Library/Scripts/init.lua")
        let shell = try program.shell()
        try shell.startPrompt("--trace-lifecycle --log-format bare 2>day")
        var number = 0
        func note(_ text: String, _ code: String = "") throws {
            number += 1
            try shell.enter("mark(\"\(text)\") \(code) print(\"no\" .. \"te \(number)\")", andExpect: "note \(number)")
        }
        try note("A call comes in, and is ignored", "app:interrupt() app:endInterruption()")
        try note("The lock button, and unlocked again", "app:lock() app:unlock()")
        try note("Home: Ctrl-Z; and back: fg", "items:createItem()")
        try shell.pressHome()
        try shell.sendLine("fg")
        try shell.enter("print(\"ba\" .. \"ck\")", andExpect: "back")
        try note("Memory is short", "app:simulateMemoryWarning()")
        try note("Home: Ctrl-Z; woken without the terminal: bg; and back: fg")
        try shell.pressHome()
        try shell.sendLine("bg")
        // It sleeps also before it has served SIGCONT, and would then be told of bg and fg as one return.
        try program.waitForLine("applicationDidResumeInBackground", in: "day")
        try shell.waitForProcess(named: "cubby", states: "S")
        try shell.sendLine("fg")
        try shell.enter("print(\"ba\" .. \"ck\")", andExpect: "back")
        try note("Evening: Ctrl-D", "items:createItem()")
        try shell.send(control: "d")
        try shell.expect("$ ")

        let printed = try String(decoding: program.scratch.read("day"), as: UTF8.self)
        let text = try String(contentsOfFile: Self.document, encoding: .utf8)
        let start = try #require(text.range(of: Self.begin))
        let stop = try #require(text.range(of: Self.end, range: start.upperBound..<text.endIndex))
        if Project.environment("CUBBY_RECORD") != nil {
            try text.replacingCharacters(in: start.upperBound..<stop.lowerBound, with: printed)
                .write(toFile: Self.document, atomically: true, encoding: .utf8)
        } else {
            // Line by line: what a failure shows are the lines that differ.
            let document = text[start.upperBound..<stop.lowerBound].split(separator: "\n")
            let difference = printed.split(separator: "\n").difference(from: document)
            #expect(difference.isEmpty, "\(difference.map { "\($0)" }.joined(separator: ", "))")
        }
    }
}
