import TestSupport
import Testing

/// The user's clock as the command has it.
@Suite("The user's clock", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct ClockTests {
    let program: Program

    init() throws { program = try Program() }

    @Test("a time of day that passes while the process is stopped is made up for once")
    func stopped() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try shell.enter(
            "rung = 0 t = timer.at((date() + 3):format('%H:%M:%S'), 'UTC', function() rung = rung + 1 end) print('wai' .. 'ting')",
            andExpect: "waiting")
        try shell.pressHome()
        try shell.sendLine("sleep 4; fg")
        try shell.expect("> ")
        try shell.enter(
            "while rung == 0 do timer.sleep(0.01) end timer.sleep(1.1) print('rung ' .. rung .. ' ti' .. 'mes')",
            andExpect: "rung 1 times")
    }
}
