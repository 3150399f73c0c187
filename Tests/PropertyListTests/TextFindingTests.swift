import Testing

@testable import PropertyList

/// Texts of many dictionaries found together are those that are found one by one.
@Suite("Finding texts")
struct TextFindingTests {
    private static let texts = [
        "", "short", "fifteen letters", "a text of more than fifteen letters", String(repeating: "long ", count: 60),
    ]

    /// An array of references to dictionaries, and the table of objects that they are in.
    private static func archive(of number: Int) throws -> [UInt8] {
        var table: [PropertyListValue] = [.string("$null")]
        var elements: [PropertyListValue] = []
        for index in 0..<number {
            let text = PropertyListValue.string("\(texts[index % 5]) \(index)")
            var entries: PropertyListFields = ["a": .integer(Int64(index)), "name": text, "z": .real(0.5)]
            switch index % 11 {
            case 3: entries["other"] = .boolean(true)
            case 5: entries["name"] = .uid(0)
            case 6: entries["name"] = .string("Zoë \(index)")
            case 7: entries["name"] = .uid(UInt32(number * 9))
            case 8: break
            default:
                entries["name"] = .uid(UInt32(table.count))
                table.append(text)
            }
            elements.append(index % 13 == 12 ? .string("no reference") : .uid(UInt32(table.count)))
            table.append(.fields(entries))
        }
        return try PropertyListValue.array([.array(elements), .array(table)]).encoded(as: .binary)
    }

    private struct Finder {
        let reader: BinaryPropertyListReader
        let elements: BinaryPropertyListContainer
        let table: BinaryPropertyListContainer

        init?(_ bytes: [UInt8]) throws(PropertyListError) {
            reader = try BinaryPropertyListReader(bytes)
            guard let root = try reader.container(at: reader.topObject), root.count == 2,
                let elements = try reader.container(at: reader.reference(0, in: root)),
                let table = try reader.container(at: reader.reference(1, in: root)), table.count > 0
            else { return nil }
            (self.elements, self.table) = (elements, table)
        }

        private func resolve(_ number: Int) throws(PropertyListError) -> Int? {
            guard let uid = try reader.uid(at: number) else { return number }
            return Int(uid) < table.count ? reader.reference(Int(uid), in: table) : nil
        }

        func dictionary(_ index: Int) throws(PropertyListError) -> Int? {
            guard index < elements.count, try reader.uid(at: reader.reference(index, in: elements)) != nil else {
                return nil
            }
            return try resolve(reader.reference(index, in: elements))
        }

        /// The plain text of an element whose dictionary has the same keys as another one.
        func text(_ index: Int, like known: BinaryPropertyListContainer, slot: Int) throws(PropertyListError) -> String?
        {
            guard let number = try dictionary(index), let found = try reader.container(at: number),
                found.kind == .dictionary,
                reader.keyReferences(of: found).elementsEqual(reader.keyReferences(of: known)),
                let text = try resolve(reader.valueReference(slot, in: found))
            else { return nil }
            return try reader.asciiString(at: text).map { String(decoding: $0, as: UTF8.self) }
        }

        /// What is found together, and one by one.
        func both(_ indexes: [UInt32], slot: Int) throws -> (together: [String?], each: [String?])? {
            guard let number = try dictionary(0), let known = try reader.container(at: number),
                known.kind == .dictionary,
                let beginning = BinaryPropertyListReader.KnownBeginning(ofDictionary: number, slot: slot, in: reader)
            else { return nil }
            let together = indexes.withUnsafeBufferPointer { indexes in
                withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: indexes.count) { texts in
                    reader.findTexts(of: indexes, in: elements, through: table, beginning: beginning, into: texts)
                    return texts.map { $0.baseAddress == nil ? nil : String(decoding: $0, as: UTF8.self) }
                }
            }
            return (together, indexes.map { try? text(Int($0), like: known, slot: slot) })
        }
    }

    /// With references of one byte, of two and of four.
    @Test(arguments: [10, 300, 20_000])
    func foundTogether(_ number: Int) throws {
        let finder = try #require(try Finder(Self.archive(of: number)))
        let indexes = (0..<UInt32(number + 2)).filter { $0 % 7 != 1 }
        let found = try #require(try finder.both(indexes, slot: 1))
        #expect(found.together == found.each)
        #expect(found.together.contains("$null") && found.together.contains(nil))
        #expect(found.together.count { $0 != nil } > number / 3)
    }

    @Test func aSlotThatIsNoneHasNoTexts() throws {
        let finder = try #require(try Finder(Self.archive(of: 10)))
        #expect(try finder.both([0, 1], slot: 3) == nil)
        #expect(try finder.both([0, 1], slot: -1) == nil)
    }

    /// Of damaged bytes nothing is read beyond them, and what is found is what is there.
    @Test func damagedBytes() throws {
        let whole = try Self.archive(of: 40)
        for place in 8..<whole.count {
            for flipped in [0x01, 0x10, 0x80, 0xFF] as [UInt8] {
                var damaged = whole
                damaged[place] ^= flipped
                guard let finder = try? Finder(damaged), let found = try? finder.both(Array(0..<41), slot: 1) else {
                    continue
                }
                #expect(found.together == found.each)
            }
        }
    }
}
