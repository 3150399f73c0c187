import Testing

@testable import PropertyList

/// The meaning of the bytes of binary property lists.
@Suite("Bytes and their meaning")
struct BinaryLayoutTests {
    private func parts(_ bytes: [UInt8]) throws -> [BinaryLayout.Part] {
        BinaryLayout(try BinaryPropertyListReader(bytes)).parts
    }

    /// A property list of objects, each in its bytes, with references and offsets of a byte.
    private func list(_ objects: [[UInt8]], offsets: [UInt8]? = nil) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var starts: [UInt8] = []
        for object in objects {
            starts.append(UInt8(bytes.count))
            bytes += object
        }
        let table = UInt8(bytes.count)
        let offsets = offsets ?? starts
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [UInt8(offsets.count), 0, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
        return bytes
    }

    @Test("parts are the whole file, in the order of its bytes")
    func wholeFile() throws {
        let value = PropertyListValue.array([
            .string(String(repeating: "long ", count: 100)), .data(Array(repeating: 7, count: 300)), .integer(-1),
            .real(0.5), .single(1.5), .boolean(false), .string("né"), .uid(70000), .dictionary(["k": .array([])]),
            .date(PropertyListDate(secondsSinceReferenceDate: 1)), .set([.integer(1)]), .null,
        ])
        let bytes = try value.encoded(as: .binary)
        let parts = try parts(bytes)
        var end = 0
        for part in parts {
            #expect(part.range.lowerBound == end && !part.range.isEmpty, "\(part)")
            end = part.range.upperBound
        }
        #expect(end == bytes.count)
        let meanings = parts.map(\.meaning)
        for text in [
            "integer of 8 bytes: -1", "real of 4 bytes: 1.5", "UID 70000", "data, 300 bytes", "false", "null",
            "set, 1 element: ",
        ] {
            #expect(meanings.contains { $0.contains(text) }, "\(text)")
        }
        #expect(meanings.contains { $0.contains("ASCII, 500 characters: \"long ") && $0.hasSuffix("\"…") })
    }

    @Test("bytes that nothing has, shared bytes and objects that cannot be read are said")
    func oddities() throws {
        let unused = try parts(list([[0xA0], [0x10, 0x05]], offsets: [8]))
        #expect(unused.contains { $0.kind == .unused && $0.range == 9..<11 })
        let shared = try parts(list([[0xA1, 0x01], [0x52, 0x51, 0x61]], offsets: [8, 10, 11]))
        #expect(shared.contains { $0.isShared && $0.meaning.hasPrefix("#2 ASCII, 1 character: \"a\"") })
        let damaged = try parts(list([[0xA1, 0x01], [0x7F]], offsets: [8, 10, 200]))
        #expect(damaged.count { $0.kind == .damage } == 2)
    }

    @Test("references that a hostile file shares are not shown for each of its containers")
    func sharedReferences() throws {
        // Two hundred arrays are the same bytes, of two hundred references.
        let array: [UInt8] = [0xAF, 0x10, 200] + (0..<200).map { UInt8($0) }
        let reader = try BinaryPropertyListReader(list([array], offsets: Array(repeating: 8, count: 200)))
        let length = BinaryLayout(reader, limit: .max).parts.reduce(0) { $0 + $1.meaning.utf8.count }
        #expect(length < 100_000)
    }
}
