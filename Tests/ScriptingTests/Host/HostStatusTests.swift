import Application
import Foundation
import PropertyList
import Scripting
import TestSupport
import Testing

/// What a host tells of itself.
@Suite("A host's status") struct HostStatusTests {
    private let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    private func status(_ embedding: Embedding) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(embedding.host.statusJSON)) as? [String: Any])
    }

    @Test("the lists of modules are in it, within the limits of all lists") func parts() throws {
        let embedding = try Embedding(scratch.file("c"))
        embedding.host.addStatus("watches") { (1...300).map { ["path": .string("/\($0)")] } }
        embedding.host.launch()
        let found = try status(embedding)
        let watches = try #require(found["watches"] as? [[String: Any]])
        #expect(watches.count == 200 && watches[0]["path"] as? String == "/1")
        #expect((found["leftOut"] as? [String: Any])?["watches"] as? Int == 100)
        embedding.end()
    }

    @Test("a timer is in it as long as it will fire, with the time of its next call") func timers() throws {
        let embedding = try Embedding(scratch.file("c"))
        embedding.host.launch()
        _ = embedding.run(
            """
            daily = timer.at("02:30", function() end)
            hourly = timer.every(3600, function() end)
            once = timer.after(7200, function() end)
            timer.after(0, function() end)
            timer.sleep(0)
            """)
        func timers() throws -> [[String: Any]] { try status(embedding)["timers"] as? [[String: Any]] ?? [] }
        let first = try timers()
        #expect(first.count == 3, "\(first)")
        let daily = try #require(first.first { ($0["title"] as? String)?.hasPrefix("at 02:30 local") == true })
        // To the accuracy of two looks at the clock.
        let next = daily["next"] as? String ?? ""
        #expect(next.contains("T02:30:00.") || next.contains("T02:29:59.9"), "\(daily)")
        let others = first.compactMap { $0["inSeconds"] as? Double }.filter { $0 > 3000 }
        #expect(others.count >= 2 && others == others.sorted())
        _ = embedding.run("daily:cancel() once:cancel() hourly:pause()")
        let rest = try timers()
        #expect(rest.count == 1 && rest[0]["paused"] as? Bool == true)
        embedding.end()
    }

    @Test("saves and commits have their times, a failed save its reason") func saves() throws {
        let embedding = try Embedding(scratch.file("c"))
        embedding.host.launch()
        #expect(try status(embedding)["lastSave"] == nil && status(embedding)["lastCommit"] == nil)
        _ = embedding.run("items:createItem()")
        #expect((try status(embedding)["lastCommit"] as? [String: Any])?["time"] is String)
        #expect(try status(embedding)["hasChanges"] as? Bool == true)
        _ = embedding.run("items:saveChanges()")
        let save = try status(embedding)["lastSave"] as? [String: Any]
        #expect(save?["ok"] as? Bool == true && save?["items"] as? Int == 1 && save?["error"] == nil)
        #expect(try status(embedding)["hasChanges"] as? Bool == false)
        embedding.end()
    }
}
