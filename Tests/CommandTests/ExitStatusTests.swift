import Foundation
import Glibc
import TestSupport
import Testing

/// Every row of the tables in docs/exit-status.md.
@Suite("Exit status", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct ExitStatusTests {
    private typealias ExitStatus = TestSupport.ExitStatus

    let program: Program

    init() throws { program = try Program() }

    /// The cells of each row of the page's tables.
    static let tables: [[[String]]] = {
        let page = (try? String(contentsOfFile: "\(Project.root)/docs/exit-status.md", encoding: .utf8)) ?? ""
        var tables: [[[String]]] = []
        var isInside = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                isInside = false
                continue
            }
            if !isInside { tables.append([]) }
            isInside = true
            let cells = line.dropFirst().dropLast().split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            tables[tables.count - 1].append(cells)
        }
        // Without the heads.
        return tables.map { Array($0.dropFirst(2)) }
    }()

    static let statuses = tables.first?.compactMap { $0.first.flatMap(Int32.init) } ?? []
    static let failures = tables.count > 1 ? tables[1] : []

    private func ready(_ arguments: String...) throws -> PseudoTerminal {
        let terminal = try program.terminal(arguments, columns: 200, rows: 50, environment: [:])
        try terminal.expect("ready")
        return terminal
    }

    @Test("the page has both tables")
    func page() {
        #expect(Self.statuses == [0, 1, 64, 65, 69, 70, 74, 75, 130])
        #expect(Self.failures.count == 6)
    }

    @Test("a status of the first table comes when the page says so", arguments: statuses)
    func status(_ status: Int32) throws {
        for observed in try observations(of: status) { #expect(observed == .exited(status)) }
    }

    private func observations(of status: Int32) throws -> [TestSupport.ExitStatus] {
        let serving = "print('rea' .. 'dy') app:run()"
        switch status {
        case 0:
            let host = try ready("-e", serving)
            host.terminate()
            // Until it is gone it has the container.
            let ended = try host.waitForExit()
            return [try program("-e", "items:createItem()").status, ended]
        case 1:
            return try ["error('no')", "this is not Lua", "while true do end"].map {
                try program("--time-limit", "0.1", "-e", $0).status
            }
        case 64: return [try program("--no-such-option").status]
        case 65:
            let file = try program.scratch.write("bplist00 no more", to: "damaged.plist")
            return [try program("check", file).status]
        case 69:
            let host = try ready("-e", serving)
            defer { host.terminate() }
            let peers = try (1...8).map { _ in try AttachPeer(program) }
            defer { withExtendedLifetime(peers) {} }
            return [try program("attach", "-e", "return 1").status]
        case 70:
            let stuck = "io.popen('exec sleep 20 >&- 2>&-'):close()"
            return [
                try program("--time-limit", "0.1", "--stop-patience", "0.2", "--allow-run", "-e", stuck).status
            ]
        case 74:
            return [try program("run", program.scratch.file("absent.lua")).status, try program("attach").status]
        case 75:
            let host = try ready("-e", serving)
            defer { host.terminate() }
            return [try program("-e", "").status]
        case 130:
            let host = try ready("-e", "print('rea' .. 'dy') while true do end")
            try host.send(control: "c")
            return [try host.waitForExit()]
        default: throw TestFailure("the page has a status without a case: \(status)")
        }
    }

    // MARK: Failures beside the script

    private static let losesSave =
        "items:createItem() timer.sleep(0) assert(os.execute('rm -r \"' .. app.container.documents .. '\"')) "
    private static let handlers = [
        "app:on('didSave', function() error('no') end) items:createItem()",
        "app:on('didEnterBackground', function() error('no') end)",
        "app:on('willTerminate', function() error('no') end)",
        "app.delegate = { applicationDidEnterBackground = function() error('no') end }",
        "notifications:addObserver('note', function() error('no') end) notifications:post('note')",
        "timer.after(0, function() error('no') end) timer.sleep(0.05)",
        "app:on('user.x', function() error('no') end) app:emit('user.x')",
    ]

    @Test("a failure of the second table gives the statuses of its row", arguments: failures)
    func failure(row: [String]) throws {
        try #require(row.count == 4)
        for (option, cell) in zip([nil, "--strict", "--no-strict"], row.dropFirst()) {
            for own: Int32 in [0, 3] {
                let expected = cell.hasPrefix("the script's") ? own : Int32(cell.prefix { $0.isNumber }) ?? -1
                let isOnlyForZero = cell.contains("if the script's is 0")
                for observed in try observations(of: row[0], option: option, own: own) {
                    #expect(
                        observed == .exited(isOnlyForZero && own != 0 ? own : expected),
                        "\(row[0]), \(option ?? "no option"), the script's \(own)")
                }
            }
        }
    }

    private func observations(of failure: String, option: String?, own: Int32) throws -> [TestSupport.ExitStatus] {
        let options = option.map { [$0] } ?? []
        let end = own == 0 ? "" : " os.exit(\(own))"
        switch failure {
        case "the final save":
            defer { try? FileManager.default.removeItem(atPath: program.container) }
            return [try program(options + ["--allow-run", "-e", Self.losesSave + end]).status]
        case "a handler, an observer or a timer, while a script ran":
            return try Self.handlers.map { try program(options + ["-e", $0 + end]).status }
        case "`init.lua`, which is skipped":
            let scripts = program.container + "/Library/Scripts"
            try FileManager.default.createDirectory(atPath: scripts, withIntermediateDirectories: true)
            try Data("error('no')".utf8).write(to: URL(fileURLWithPath: scripts + "/init.lua"))
            defer { try? FileManager.default.removeItem(atPath: program.container) }
            return [try program(options + ["-e", end]).status]
        case "the same, and a signal or Home ended the application":
            guard own == 0 else { return [] }
            let serving = "timer.after(0, function() error('no') end) timer.sleep(0.05) print('rea' .. 'dy') app:run()"
            return try [SIGTERM, SIGHUP].map { signal in
                let host = try program.terminal(options + ["-e", serving], columns: 80, rows: 24, environment: [:])
                try host.expect("ready")
                kill(host.pid, signal)
                return try host.waitForExit()
            }
        case "the same, at a prompt":
            guard own == 0 else { return [] }
            let prompt = try program.terminal(options, columns: 200, rows: 50, environment: [:])
            try prompt.waitForPrompt()
            try prompt.enter("timer.after(0, function() error(\"bro\" .. \"ken\") end)", andExpect: "broken")
            try prompt.send(control: "d")
            return [try prompt.waitForExit()]
        case "standard output or standard error, or a file that the script left open":
            return try [
                "print(1) \(end)' >/dev/full", "io.stderr:write(1) \(end)' 2>&-",
                "file = io.open(app.container.tmp .. \"/big\", \"w\") file:write((\"x\"):rep(1 << 20)) \(end)'",
            ].map { code in
                let command = "ulimit -f 256; $CUBBY \(option ?? "") -e '\(code)"
                return try run("/bin/bash", ["-c", command], environment: program.environment).status
            }
        default: throw TestFailure("the page has a failure without a case: \(failure)")
        }
    }

    @Test("a signal does not hide that the final save failed")
    func lostSaveAtSignal() throws {
        let host = try ready("--allow-run", "-e", Self.losesSave + "print('rea' .. 'dy') app:run()")
        host.terminate()
        #expect(try host.waitForExit() == .exited(74))
    }
}
