import Images
import Items
import Scripting
import TestSupport
import Testing

@Suite("Pictures of a host's items") struct ItemPicturesTests {
    private let embedding: Embedding
    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        embedding = try Embedding(scratch.file("c"))
        embedding.host.launch()
        _ = embedding.run(
            """
            gif = "R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs="
            items:createItem{ name = "Lamp", itemKey = "lamp" }
            """)
    }

    private var images: Int { (try? embedding.host.images.keys().count) ?? -1 }

    @Test func eachChunkThatChangesAPictureAloneIsAStep() throws {
        let (set, delete) = ("items[1].image = image.fromData(data.fromBase64(gif))", "items[1].image = nil")
        for chunk in [set, delete, set] { _ = embedding.run(chunk) }
        #expect(!embedding.host.items.hasUncommittedChanges)
        for expected in [0, 1, 0] {
            #expect(embedding.run("return items:undo(), #items") == "true 1")
            #expect(images == expected)
        }
        #expect(embedding.run("return items:undo(), #items") == "true 0")
        embedding.end()
    }

    @Test func aRemovalInSwiftTakesThePictureAlong() throws {
        _ = embedding.run("items[1].image = image.fromData(data.fromBase64(gif))")
        let items = embedding.host.items
        try items.removeItem(#require(items.item(forKey: "lamp")))
        try items.commit()
        #expect(images == 0)
        #expect(try items.undo())
        #expect(images == 1)
        embedding.end()
    }
}
