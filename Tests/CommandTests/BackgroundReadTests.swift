import TestSupport
import Testing

/// A read of the terminal by a script in the background.
@Suite("Reads in the background", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct BackgroundReadTests {
    let program: Program

    init() throws { program = try Program() }

    @Test("a script that reads the terminal in the background is stopped, as any program, and waits on after fg")
    func readInBackground() throws {
        try program.scratch.write(
            "io.write('con' .. 'tinue? ') io.stdout:flush() print('ans' .. 'wer', io.read())", to: "ask.lua")
        let shell = try program.shell()
        try shell.sendLine("\"$CUBBY\" run ask.lua")
        try shell.expect("continue? ")
        try shell.pressHome()
        try shell.sendLine("bg")
        try shell.waitForProcess(named: "cubby", states: "T")
        try shell.sendLine("echo \"shell\" reads")
        try shell.expect("shell reads")
        try shell.sendLine("fg")
        try shell.waitForProcess(named: "cubby", states: "S")
        try shell.sendLine("yes")
        try shell.expect("answer\tyes")
        // Started there: stopped at its read.
        try shell.sendLine("\"$CUBBY\" run ask.lua &")
        try shell.expect("continue? ")
        try shell.waitForProcess(named: "cubby", states: "T")
        try shell.sendLine("fg")
        try shell.waitForProcess(named: "cubby", states: "S")
        try shell.sendLine("no")
        try shell.expect("answer\tno")
    }

    @Test("a read in the background is not stopped when fg, which sends no signal to a running job, comes first")
    func foregroundBeforeTheStop() throws {
        // The stop waits for the task, and the task for a file.
        try program.scratch.write(
            """
            local task = app:beginBackgroundTask("work")
            timer.after(0, function()
              while not fs.exists(app.container.tmp .. "/go") do timer.sleep(0.01) end
              app:endBackgroundTask(task)
            end)
            print("wor" .. "king")
            print("ans" .. "wer", io.read())
            """, to: "ask.lua")
        let shell = try program.shell()
        try shell.sendLine("\"$CUBBY\" run ask.lua &")
        try shell.expect("working")
        let process = try shell.waitForProcess(named: "cubby")
        try shell.sendLine("fg")
        try shell.waitForForeground(of: process)
        try program.scratch.write("", to: "container/tmp/go")
        try shell.sendLine("yes")
        try shell.expect("answer\tyes")
    }
}
