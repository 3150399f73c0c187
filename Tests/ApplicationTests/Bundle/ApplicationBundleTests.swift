import Application
import Files
import TestSupport
import Testing

@Suite("Bundle")
struct BundleTests {
    @Test func findsResourcesInsideOnly() throws {
        let scratch = try TemporaryDirectory()
        try PosixFileLayer().makeDirectories(scratch.file("bundle/data"))
        for name in ["bundle/dogs.png", "bundle/data/seed", "outside"] {
            try AtomicFile.write([1], to: scratch.file(name), durable: false)
        }
        let bundle = ApplicationBundle(path: scratch.file("bundle"))
        #expect(bundle.path(forResource: "dogs", ofType: "png") == scratch.file("bundle/dogs.png"))
        #expect(bundle.path(forResource: "dogs.png") == scratch.file("bundle/dogs.png"))
        #expect(bundle.path(forResource: "data/seed", ofType: "") == scratch.file("bundle/data/seed"))
        for name in ["cats", "../outside", "data/../../outside", "/etc/passwd", ""] {
            #expect(bundle.path(forResource: name) == nil, "\(name)")
        }
    }
}
