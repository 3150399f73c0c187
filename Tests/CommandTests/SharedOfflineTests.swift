import Foundation
import TestSupport
import Testing

/// A host of a shared collection whose server goes away, with the built program.
@Suite(
    "Shared collections without their server", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"),
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"))
final class SharedOfflineTests {
    private let program: Program
    private let server: PostgresServer

    init() throws {
        program = try Program()
        server = try PostgresServer()
        #expect(try program("shared", "init", server.url()).status == .exited(0))
    }

    deinit { server.stop() }

    private func host(_ name: String, _ words: String...) throws -> ProcessOutput {
        try program(["--container", program.scratch.file(name), "--shared", server.url()] + words)
    }

    private func conflicts(_ words: String...) throws -> ProcessOutput {
        try program(
            ["shared", "conflicts", "--container", program.scratch.file("laptop"), server.url()] + words)
    }

    @Test("read from the container, changed with --offline queue, and settled by number")
    func queue() throws {
        #expect(
            try host(
                "laptop", "-e", "items:createItem{ name = 'Vase', itemKey = 'k' } items:createItem{ itemKey = 'l' }"
            )
            .status == .exited(0))
        server.stop()
        let read = try host("laptop", "-e", "print(items:item('k').name, items.isConnected, items.isReadOnly)")
        #expect(read.status == .exited(0) && read.stdout == "Vase\tfalse\ttrue\n", "\(read.stderr)")
        #expect(read.stderr.contains("does not answer") && read.stderr.contains("as they were"))
        let refused = try host("laptop", "-e", "items:createItem()")
        #expect(refused.status == .exited(1) && refused.stderr.contains("can be read"), "\(refused.stderr)")
        #expect(try host("desk", "-e", "1").status == .exited(74))
        let kept = try host(
            "laptop", "--offline", "queue", "-e", "items:item('k').name = 'mine' print(items.isReadOnly)")
        #expect(kept.status == .exited(0) && kept.stdout == "false\n", "\(kept.stderr)")
        #expect(kept.stderr.contains("changes are kept"))
        // Whatever happens to the process: what a chunk committed is there.
        let killed = try run(
            "/usr/bin/timeout",
            [
                "-s", "KILL", "2", #require(Project.cubby), "--container", program.scratch.file("laptop"), "--shared",
                server.url(),
                "--offline", "queue", "-e",
                "timer.after(0, function() items:item('l').name = 'mine, too' end) app:run()",
            ])
        #expect(killed.status != .exited(0))
        let waiting = try host("laptop", "--offline", "queue", "-e", "print(items:item('k').name)")
        #expect(waiting.stdout == "mine\n", "\(waiting.stderr)")
        #expect(waiting.stderr.contains("2 commits of this host wait"), "\(waiting.stderr)")
        try server.start()
        #expect(
            try host("desk", "-e", "items:item('k').name = 'theirs' items:item('k').room = 'Hall'").status == .exited(0)
        )
        let back = try host(
            "laptop", "-e",
            "local c = items:conflicts()[1] print(items:item('k').name, c.field, c.mine, c.theirs, c.base, c.host)")
        #expect(back.stdout == "theirs\tname\tmine\ttheirs\tVase\tdesk\n", "\(back.stderr)")
        let shown = try conflicts()
        #expect(shown.status == .exited(0), "\(shown.stderr)")
        #expect(shown.stdout.contains("k mine  name   \"mine\"  \"theirs\"  \"Vase\"\n"), "\(shown.stdout)")
        #expect(try conflicts("--keep-mine", "2").status == .exited(64))
        #expect(try conflicts("--keep-mine", "1").stdout == "1 is settled: mine\n")
        #expect(try conflicts().stdout == "nothing is to be settled\n")
        let desk = try host("desk", "-e", "print(items:item('k').name, items:item('k').room)")
        #expect(desk.stdout == "mine\tHall\n")
    }
}
