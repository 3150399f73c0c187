import Application
import Files
import Foundation
import PropertyList
import TestSupport
import Testing

@Suite("Defaults")
struct DefaultsTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    func defaults(_ layer: any FileLayer = PosixFileLayer()) -> Defaults {
        Defaults(folder: scratch.path, domain: "test", using: layer)
    }

    @Test func setsOverRegisters() throws {
        let defaults = defaults()
        defaults.register(["a": .integer(1), "b": .integer(2)])
        try defaults.set(.string("x"), forKey: "a")
        #expect(defaults.value(forKey: "a") == .string("x"))
        #expect(defaults.value(forKey: "b") == .integer(2))
        #expect(defaults.value(forKey: "c") == nil)
        #expect(defaults.dictionary == ["a": .string("x"), "b": .integer(2)])
        try defaults.set(nil, forKey: "a")
        #expect(defaults.value(forKey: "a") == .integer(1))
        #expect(!defaults.hasChanges)
    }

    @Test func lasts() throws {
        let first = defaults()
        try first.set(.array([.boolean(true), .real(0.5)]), forKey: "list")
        try first.set(.string("gone"), forKey: "old")
        try first.synchronize()
        try first.set(nil, forKey: "old")
        try first.synchronize()
        #expect(scratch.names() == ["test.plist"])
        #expect(defaults().dictionary == ["list": .array([.boolean(true), .real(0.5)])])
    }

    @Test func mergesWithAnotherProcess() throws {
        let (one, other) = (defaults(), defaults())
        try one.set(.integer(1), forKey: "one")
        try other.set(.integer(2), forKey: "other")
        try one.synchronize()
        try other.synchronize()
        #expect(one.dictionary == ["one": .integer(1), "other": .integer(2)])
        #expect(other.dictionary == one.dictionary)
    }

    @Test func readsWhatSomebodyElseWroteAsXML() throws {
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>name</key><string>Bär</string></dict></plist>
            """
        try Data(xml.utf8).write(to: URL(fileURLWithPath: scratch.file("test.plist")))
        #expect(defaults().value(forKey: "name") == .string("Bär"))
    }

    @Test func keepsDamagedPreferencesAside() throws {
        try Data("rubbish".utf8).write(to: URL(fileURLWithPath: scratch.file("test.plist")))
        let defaults = defaults()
        guard case .damaged = defaults.problem else {
            Issue.record("\(String(describing: defaults.problem))")
            return
        }
        try defaults.set(.integer(1), forKey: "a")
        try defaults.synchronize()
        #expect(defaults.problem == nil)
        #expect(scratch.names() == ["test.plist", "test.plist.damaged"])
        #expect(try String(contentsOfFile: scratch.file("test.plist.damaged"), encoding: .utf8) == "rubbish")
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func aDateThatIsNotFiniteComesBack(seconds: Double) throws {
        let value = PropertyListValue.date(PropertyListDate(secondsSinceReferenceDate: seconds))
        let first = defaults()
        try first.set(value, forKey: "when")
        try first.synchronize()
        #expect(defaults().value(forKey: "when") == value)
    }

    @Test func refusesWhatAPropertyListCannotHold() {
        // Of as many levels as a file may have, the dictionary of the preferences is one.
        let bad = (0..<PropertyListLimits.standard.maximumDepth).reduce(PropertyListValue.array([])) { value, _ in
            .array([value])
        }
        let error = #expect(throws: DefaultsError.self) { try defaults().set(bad, forKey: "when") }
        #expect(error?.message.hasPrefix("the value for \"when\" cannot be kept: ") == true)
    }

    @Test func aFullDiskLosesNothing() throws {
        let first = defaults()
        try first.set(.integer(1), forKey: "a")
        try first.synchronize()
        // Every call but the looking, until one goes through.
        for step in 1...40 {
            let layer = FaultyFileLayer(failAt: step)
            let defaults = defaults(layer)
            try? defaults.set(.integer(2), forKey: "b")
            do {
                try defaults.synchronize()
            } catch {
                #expect(defaults.hasChanges || layer.failedCall == "syncDirectory")
            }
            #expect(self.defaults().value(forKey: "a") == .integer(1))
            let again = self.defaults()
            try again.set(nil, forKey: "b")
            try again.synchronize(durable: false)
        }
        #expect(scratch.names() == ["test.plist"])
    }

    @Test("a flipped bit is noticed, whatever it changes; the next write keeps the file beside")
    func checksum() throws {
        let first = defaults()
        try first.set(.string("some text"), forKey: "name")
        try first.set(.integer(1000), forKey: "number")
        try first.synchronize()
        let values = first.dictionary
        let bytes = Array(try scratch.read("test.plist"))
        // Other readers find the same values.
        let foundation = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any]
        #expect(foundation?["name"] as? String == "some text" && foundation?["number"] as? Int == 1000)
        var noticed = 0
        for position in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[position] ^= 1 << UInt8(bit)
                try scratch.write(flipped, to: "test.plist")
                let found = defaults()
                #expect(found.problem != nil || found.dictionary == values, "bit \(bit) of byte \(position)")
                if found.problem != nil { noticed += 1 }
            }
        }
        #expect(noticed > bytes.count * 7)
        var flipped = bytes
        let text = try #require(bytes.indices.first { bytes[$0...].starts(with: "some".utf8) })
        flipped[text] = UInt8(ascii: "c")
        try scratch.write(flipped, to: "test.plist")
        let found = defaults()
        #expect(found.problem == .changed(path: found.path) && found.value(forKey: "name") == .string("come text"))
        try found.set(.integer(1), forKey: "one")
        try found.synchronize()
        #expect(found.problem == nil && defaults().problem == nil)
        #expect(Array(try scratch.read("test.plist.damaged")) == flipped)
    }

    @Test("what another program has written has no checksum, and is read as it is")
    func rewritten() throws {
        let first = defaults()
        try first.set(.string("mine"), forKey: "name")
        try first.synchronize()
        var list = try #require(
            PropertyListSerialization.propertyList(from: scratch.read("test.plist"), format: nil) as? [String: Any])
        list["name"] = "theirs"
        try scratch.write(
            PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0), to: "test.plist")
        let found = defaults()
        #expect(found.problem == nil && found.value(forKey: "name") == .string("theirs"))
    }
}
