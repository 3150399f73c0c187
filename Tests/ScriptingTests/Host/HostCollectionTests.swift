import Items
import Scripting
import TestSupport
import Testing

@Suite("A host's items as models")
struct HostCollectionTests {
    struct Lamp: Codable, Sendable, Equatable, Identifiable {
        var id: String
        var room: String
        var watts: Double
        var isOn: Bool?
    }

    @Test("a script and the program see the same items")
    func same() throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("c"))
        let lamps = embedding.host.collection(of: Lamp.self)
        let watts = ItemAttribute("watts", \Lamp.watts)
        try lamps.insert(Lamp(id: "desk", room: "Study", watts: 40, isOn: true))
        #expect(embedding.run("items:createItem{ itemKey = 'hall', room = 'Hall', watts = 15 } return #items") == "2")
        #expect(
            embedding.run("return items[1].room, items[1].isOn, items[1].itemKey, items[1].itemKind")
                == "Study true Lamp:desk Lamp")
        #expect(try lamps.fetch(where: watts < 20) == [Lamp(id: "hall", room: "Hall", watts: 15)])
        try lamps.update(Lamp(id: "desk", room: "Attic", watts: 60))
        #expect(embedding.run("return items[1].room, items[1].isOn, items[1].watts") == "Attic nil 60.0")
        #expect(embedding.run("items:undo() return items[1].room") == "Study")
        embedding.end()
    }
}
