import TestSupport
import Testing

/// The user's clock as the command has it.
@Suite("The user's clock", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct ClockTests {
    let program: Program

    init() throws { program = try Program() }

    @Test(
        "TZ decides what is shown, also within the kernel's fence",
        arguments: [
            ("Europe/Berlin", "1970-01-01 01:00:00 +0100"), ("America/New_York", "1969-12-31 19:00:00 -0500"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "1970-01-01 01:00:00 +0100"), ("", "1970-01-01 00:00:00 +0000"),
            ("Nowhere/Else", "1970-01-01 00:00:00 +0000"),
        ])
    func zone(variable: String, shown: String) throws {
        var environment = program.environment
        environment["TZ"] = variable
        let result = try run(
            program.path, ["-e", "print(date(0)) print(tostring(date(0)))"], environment: environment,
            directory: program.scratch.path)
        #expect(result.status == .exited(0))
        #expect(result.stdout == "\(shown)\n1970-01-01 00:00:00 +0000\n")
    }

    @Test("a time of day that passes while the process is stopped is made up for once")
    func stopped() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try shell.enter(
            "rung = 0 t = timer.at((date() + 4):format('%H:%M:%S'), 'UTC', function() rung = rung + 1 end) print('wai' .. 'ting')",
            andExpect: "waiting")
        try shell.pressHome()
        try shell.sendLine("sleep 5; fg")
        try shell.expect("> ")
        try shell.enter(
            "while rung == 0 do timer.sleep(0.01) end timer.sleep(1.5) print('rung ' .. rung .. ' ti' .. 'mes')",
            andExpect: "rung 1 times")
    }
}
