import CommandTestSupport
import TestSupport
import Testing

/// A question stands by itself, whatever a script has written before it.
@Suite("Questions of the prompt")
struct QuestionTests {
    @Test(
        "begin a line, without attributes, behind what a script left unfinished",
        arguments: [
            ("", ""), ("io.write('Allow reading nothing? ')", "\n"), ("io.write('x\\27[8m')", "\n"),
            ("io.write('\\27]0;title')", "\n"), ("io.stdout:write('line\\n\\27[30;40m')", ""),
            ("io.stderr:write('x')", "\n"),
        ])
    func start(before: String, lineEnd: String) throws {
        let program = try Program()
        let file = try program.scratch.write("granted", to: "outside/file")
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.begin("\(before) fs.read('\(file)') print('go' .. 'ne on')", andExpect: "[n]o: ")
        try terminal.sendLine("n")
        try terminal.expect("gone on")
        let shown = String(decoding: terminal.rawTranscript, as: UTF8.self).replacing("\r\n", with: "\n")
        let question = "\u{1B}\\\u{1B}[0m\u{1B}[?25h\(lineEnd)Allow reading \(file)? "
        #expect(shown.contains(question), "\(shown.debugDescription)")
    }

    @Test("of a timer, while a line is typed: the line comes back as it was")
    func whileTyping() throws {
        let program = try Program()
        let file = try program.scratch.write("granted", to: "outside/file")
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.send("timer.after(0.01, function() print('rea' .. 'd ' .. fs.read('\(file)')) end)\r")
        try terminal.expect("[n]o: ")
        try terminal.sendLine("y")
        try terminal.expect("read granted")
        try terminal.enter("'still ' .. 'typing'", andExpect: "\"still typing\"")
        // So does it after a line that a timer reads.
        try terminal.send(
            "timer.after(0.01, function() io.write('na' .. 'me? ') print('hel' .. 'lo ' .. io.read()) end)\r")
        try terminal.expect("name? ")
        try terminal.sendLine("Ada")
        try terminal.expect("hello Ada")
        try terminal.enter("'and ' .. 'again'", andExpect: "\"and again\"")
    }

    @Test("a read that fails leaves the terminal as the prompt needs it, and lines typed ahead of one are entries")
    func afterReads() throws {
        let program = try Program()
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.enter("pcall(io.read, 'x')", andExpect: "invalid format")
        try terminal.send("1 + 1\u{1}20 + \r")
        try terminal.expect("\n22")
        try terminal.begin("print('rea' .. 'dy') timer.sleep(0.1) print('<' .. io.read() .. '>')", andExpect: "ready")
        try terminal.send("first\r6 * 7\r")
        try terminal.expect("<first>")
        try terminal.expect("\n42")
    }
}
