import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// The network as the command grants it: in the host, in the kernel, and to programs that scripts start.
@Suite("The network of the command", .serialized)
struct NetworkCommandTests {
    let program: Program
    let server: LoopbackServer

    init() throws {
        program = try Program()
        server = try LoopbackServer { _, client in LoopbackServer.send("in", to: client) }
    }

    private var target: String { "127.0.0.1:\(server.port)" }
    private var code: String { "local r, err = http.get('http://\(target)/') print(r and r.body, err)" }
    /// A program that connects in a process that it forks.
    private var script: String {
        "print(os.execute([[/bin/bash -c '(exec 3<>/dev/tcp/127.0.0.1/\(server.port)) 2>/dev/null']]))"
    }

    @Test("is closed, and open to what was granted, by the option or the configuration") func grants() throws {
        let closed = try program("-e", code)
        #expect(closed.stdout.contains("--allow-net \(target) grants it"), "\(closed.stdout) \(closed.stderr)")
        #expect(server.requests.isEmpty)
        #expect(try program("--allow-net", target, "-e", code).stdout == "in\tnil\n")
        #expect(try program("--allow-net", "127.0.0.1", "-e", code).stdout.contains("--allow-net \(target)"))
        let granted = try program("config", "grant", "net", target)
        #expect(
            granted.status == .exited(0) && granted.stdout.hasPrefix("granted net \(target)\n"), "\(granted.stderr)")
        #expect(granted.stdout.contains("of any host"))
        #expect(try program("-e", code).stdout == "in\tnil\n")
        #expect(try program("config").stdout.contains(" net    \(target)"))
        #expect(try program("config", "revoke", "net", target).stdout == "revoked net \(target)\n")
        #expect(try program("-e", code).stdout.hasPrefix("nil"))
        #expect(try program("config", "revoke", "net", target).status == .exited(64))
        server.stop()
    }

    @Test(
        "what is no host is refused on the command line",
        arguments: ["https://example.org", "example.org:0", "*.org", "::1:80:x"])
    func usage(text: String) throws {
        let option = try program("--allow-net", text, "-e", "1")
        #expect(option.status == .exited(64) && option.stderr.contains("cannot be granted"), "\(option.stderr)")
        let grant = try program("config", "grant", "net", text)
        #expect(grant.status == .exited(64) && grant.stderr.contains("cannot be granted"), "\(grant.stderr)")
        server.stop()
    }

    @Test(
        "programs are under it, and one line a run says so when they fail",
        .enabled(if: Self.kernelHoldsNetwork, "needs Landlock ABI 4"))
    func programs() throws {
        let closed = try program("--allow-run", "-e", script + script)
        #expect(closed.stdout == "nil\texit\t1\nnil\texit\t1\n")
        #expect(
            closed.stderr.components(separatedBy: "the network is closed to programs that scripts start").count == 2,
            "\(closed.stderr)"
        )
        #expect(
            closed.stderr.contains("--allow-net HOST:PORT, or cubby config grant net HOST:PORT"), "\(closed.stderr)")
        let open = try program("--allow-run", "--allow-net", target, "-e", script)
        #expect(open.stdout == "true\texit\t0\n" && open.stderr.isEmpty, "\(open.stdout) \(open.stderr)")
        let pipe = try program("--allow-run", "-e", "print(io.popen('exit 3'):close())")
        #expect(pipe.stdout == "nil\texit\t3\n" && pipe.stderr.contains("exit ended with status 3"), "\(pipe.stderr)")
        // The prompt has no kernel's fence; its programs have this part.
        let prompt = try program.terminal("--allow-run")
        defer { prompt.terminate() }
        try prompt.waitForPrompt()
        try prompt.sendLine(script)
        try prompt.expect("the network is closed to programs that scripts start")
        server.stop()
    }

    @Test("the prompt asks, and a yes holds until its end") func question() throws {
        let prompt = try program.terminal()
        defer { prompt.terminate() }
        try prompt.waitForPrompt()
        try prompt.sendLine(code)
        try prompt.expect("Allow connecting to \(target), and programs of scripts to port \(server.port) of any host?")
        try prompt.sendLine("y")
        try prompt.expect("in\tnil")
        server.stop()
    }

    /// As `cubby doctor` tells.
    private static let kernelHoldsNetwork: Bool = {
        guard let program = try? Program(), let text = try? program("doctor").stdout else { return false }
        return text.contains("Landlock ABI") && !text.contains("cannot hold the network")
    }()
}
