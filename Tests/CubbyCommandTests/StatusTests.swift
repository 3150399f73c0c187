import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// `cubby status`: of a host that runs, of one that is busy, and of a container without a host.
@Suite("Status", .serialized)
struct StatusTests {
    let program: Program

    init() throws { program = try Program() }

    private func status(_ arguments: String...) throws -> [String: Any] {
        let result = try program(["status", "--json"] + arguments)
        try #require(result.status == .exited(0), "\(result.stderr)")
        return try #require(try JSONSerialization.jsonObject(with: Data(result.stdout.utf8)) as? [String: Any])
    }

    private func list(_ status: [String: Any], _ name: String) -> [[String: Any]] {
        status[name] as? [[String: Any]] ?? []
    }

    private func end(_ host: PseudoTerminal) throws {
        host.terminate()
        #expect(try host.waitForExit() == .exited(0))
    }

    /// The names, sizes and times of a folder's contents.
    private func listing(_ path: String) throws -> [String] {
        try #require(FileManager.default.enumerator(atPath: path)).compactMap { $0 as? String }.sorted().map { name in
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
            return "\(name) \(attributes[.size] ?? 0) \(attributes[.modificationDate] ?? 0)"
        }
    }

    @Test("a container without a host: what its files tell, and nothing is written") func notRunning() throws {
        #expect(try program("status").status == .exited(74))
        #expect(try program("status", program.scratch.file("nowhere")).stderr.contains("there is no container at"))
        _ = try program("-e", "items:createItem()")
        let before = try listing(program.container)
        let found = try status()
        #expect(found["running"] as? Bool == false && found["endedInOrder"] as? Bool == true)
        #expect(found["container"] as? String == program.container)
        #expect((found["lastSave"] as? [String: Any])?["time"] is String)
        #expect((found["lastCommit"] as? [String: Any])?["time"] is String)
        #expect(found["process"] == nil && found["hooks"] == nil)
        let text = try program("status", program.container)
        #expect(text.stdout.contains("running      no\n"), "\(text.stdout)")
        #expect(try listing(program.container) == before)
    }

    @Test("a folder that is no container, a file, and a wrong command line") func refused() throws {
        let folder = program.scratch.file("empty")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(try program("status", folder).status == .exited(74))
        try program.scratch.write("x", to: "odd/Documents")
        #expect(try program("status", program.scratch.file("odd")).status == .exited(65))
        #expect(try program("status", "--timeout", "0").status == .exited(64))
        #expect(try program("status", "--container", "a", "b").status == .exited(64))
        #expect(try program("status", "--container", ":memory:").status == .exited(64))
    }

    @Test("a host tells its state, handlers, timers, background tasks and errors") func running() throws {
        let host = try program.host(
            """
            app:on("user.a", { id = "one" }, function() end)
            app:on("user.a", { desc = "bad", group = "g" }, function() error("no " .. ("x"):rep(2000)) end)
            app:emit("user.a")
            timer.every(3600, function() end)
            late = timer.at("02:30", function() end)
            timer.after(600, function() end):cancel()
            app:beginBackgroundTask("push", function() end)
            items:createItem() items:createItem() items:saveChanges() items:createItem()
            print("al" .. "so") app:run()
            """)
        try host.expect("also")
        let found = try status()
        #expect(found["running"] as? Bool == true && found["answers"] as? Bool == true)
        #expect(found["busy"] as? Bool == false && found["suspended"] as? Bool == false)
        #expect((found["process"] as? [String: Any])?["pid"] is Int)
        #expect(found["state"] as? String == "active" && found["items"] as? Int == 3)
        #expect(found["hasChanges"] as? Bool == true)
        #expect((found["run"] as? String)?.utf8.count == 6)
        let save = try #require(found["lastSave"] as? [String: Any])
        #expect(save["items"] as? Int == 2 && save["ok"] as? Bool == true && save["time"] is String)
        #expect((found["lastCommit"] as? [String: Any])?["time"] is String)
        let hooks = list(found, "hooks").filter { $0["event"] as? String == "user.a" }
        #expect(hooks.map { $0["title"] as? String } == ["one", "bad"])
        #expect(hooks.map { $0["calls"] as? Int } == [1, 1] && hooks.map { $0["failures"] as? Int } == [0, 1])
        #expect(hooks.last?["group"] as? String == "g")
        #expect((hooks.last?["lastError"] as? String)?.hasSuffix("more bytes)") == true)
        let timers = list(found, "timers")
        #expect(timers.count == 2, "\(timers)")
        #expect(
            timers.contains { ($0["title"] as? String)?.hasPrefix("every 3600") == true && $0["calls"] as? Int == 0 })
        #expect(timers.allSatisfy { ($0["next"] as? String)?.hasSuffix("Z") == true })
        #expect(list(found, "backgroundTasks").map { $0["name"] as? String } == ["push"])
        #expect(list(found, "errors").count == 1 && found["failures"] as? Int == 1)
        #expect((found["memory"] as? [String: Any])?["scripts"] is Int)
        // The same for a reader, and by way of the option.
        let text = try program("status", "--container", program.container).stdout
        for part in ["yes: ", "active", "push (", "every 3600", "user.a", "bad"] {
            #expect(text.contains(part), "\(text)")
        }
        host.terminate()
        _ = try host.waitForExit()
    }

    @Test("lists have limits, and what they leave out is a number") func limits() throws {
        let host = try program.host(
            "for i = 1, 700 do timer.after(3600, function() end) end print('al' .. 'so') app:run()")
        try host.expect("also")
        let found = try status()
        #expect(list(found, "timers").count == 200)
        #expect((found["leftOut"] as? [String: Any])?["timers"] as? Int == 500)
        #expect(try program("status").stdout.contains("500 more of timers are left out"))
        try end(host)
    }

    @Test("a question changes nothing for the scripts") func undisturbed() throws {
        let names = "local n = {} for k in pairs(_G) do n[#n + 1] = k end table.sort(n) return table.concat(n, ' ')"
        let host = try program.host(
            """
            function names() \(names) end
            before = ""
            before = names()
            app:on("user.x", function() end)
            timer.every(0.005, function() if fs.exists(app.container.tmp .. "/end") then print(names() == before and "the same" or "changed") app:terminate() end end)
            print("al" .. "so") app:run()
            """)
        try host.expect("also")
        for _ in 1...3 { #expect(try status()["answers"] as? Bool == true) }
        try program.scratch.write("", to: "container/tmp/end")
        try host.expect("the same")
        _ = try host.waitForExit()
    }

    @Test("a busy host is said to be busy, with what can be told without it") func busy() throws {
        let host = try program.host("items:createItem() items:saveChanges() print('lo' .. 'op') while true do end")
        try host.expect("loop")
        let found = try status("--timeout", "0.05")
        #expect(found["running"] as? Bool == true && found["busy"] as? Bool == true)
        #expect(found["answers"] as? Bool == false && found["hooks"] == nil)
        #expect((found["lastSave"] as? [String: Any])?["time"] is String)
        #expect(try program("status", "--timeout", "0.05").stdout.contains("busy, and does not answer: "))
        try end(host)
    }

    @Test("only the host's user is answered, and odd questions end their connection alone") func keys() throws {
        let host = try program.host()
        let stranger = try AttachPeer(program, greets: false)
        try stranger.send("T", String(repeating: "0", count: 64))
        #expect(try stranger.next()?.text.contains("key") == true)
        #expect(try stranger.next() == nil)
        let odd = try AttachPeer(program, greets: false)
        try odd.send(bytes: Array("T".utf8) + [255, 255, 255, 255])
        #expect(try odd.next() == nil)
        let silent = try AttachPeer(program, greets: false)
        try silent.send(bytes: Array("T".utf8))
        #expect(try status()["answers"] as? Bool == true)
        try end(host)
    }

    @Test("a host that did not end in order is told of") func disorder() throws {
        _ = try program("-e", "items:createItem()")
        try program.scratch.write("1 1 cubby\n", to: "container/.lock")
        let found = try status()
        #expect(found["running"] as? Bool == false && found["endedInOrder"] as? Bool == false)
        #expect(try program("status").stdout.contains("no; the last process did not end in order"))
    }
}
