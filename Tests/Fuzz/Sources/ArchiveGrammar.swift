import PropertyList

/// Makes a keyed archive of any bytes: well-formed below, any nonsense above. Bytes that are changed at random hardly ever
/// give a binary property list that is one; of this grammar every sentence is.
package enum ArchiveGrammar {
    private static let keys = [
        "$class", "$classname", "$classes", "$classhints", "NS.objects", "NS.keys", "NS.time", "NS.string", "NS.data",
        "NS.object.0", "NS.object.1", "NS.object0", "NS.count0", "NS.count", "NS.uuidbytes", "NS.base", "NS.relative",
        "NS.special", "NS.pointval", "NS.rectval", "NS.rangeval.location", "NS.rangeval.length", "NSRangeCount",
        "NSRangeData", "NSLocation", "NSLength", "NSIndexPathLength", "NSIndexPathData", "NS.name", "NS.identifier",
        "NSPattern", "NSOptions", "NSTransformStruct", "NS.mantissa", "NS.exponent", "NS.length", "NS.negative",
        "name", "$0", "$1", "$$esc", "root", "itemKey", "dateCreated", "valueInDollars", "NSString", "NSAttributes",
        "NSAttributeInfo", "NS.size", "NS.type",
    ]
    private static let names = [
        "NSObject", "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet",
        "NSOrderedSet", "NSCountedSet", "NSDate", "NSNull", "NSMutableString", "NSMutableData", "NSUUID", "NSURL",
        "NSValue", "NSIndexSet", "NSIndexPath", "NSTimeZone", "NSLocale", "NSRegularExpression", "NSAffineTransform",
        "NSDecimalNumber", "Item", "Homepwner.Item", "$null", "_NSKeyedCoderOldStyleArray", "NSAttributedString",
    ]

    /// Where in the bytes the sentence is read; behind the end everything is 0.
    private struct Source {
        let bytes: [UInt8]
        var position = 0

        mutating func next() -> Int {
            guard position < bytes.count else { return 0 }
            defer { position += 1 }
            return Int(bytes[position])
        }

        var isAtEnd: Bool { position >= bytes.count }
    }

    package static func archive(from bytes: [UInt8]) -> [UInt8] {
        var source = Source(bytes: bytes)
        var objects: [PropertyListValue] = [.string("$null")]
        while !source.isAtEnd, objects.count < 200 { objects.append(entry(&source)) }
        let root: PropertyListValue = .dictionary([
            "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"),
            "$top": .dictionary(["root": .uid(1), "$0": .uid(2), "n": .integer(7)]), "$objects": .array(objects),
        ])
        return (try? root.encoded(as: .binary)) ?? []
    }

    private static func entry(_ source: inout Source) -> PropertyListValue {
        switch source.next() % 8 {
        case 0...3: return .fields(instance(&source))
        case 4, 5:
            let name = names[source.next() % names.count]
            return .dictionary(["$classname": .string(name), "$classes": .array([.string(name), .string("NSObject")])])
        default: return value(&source, 0)
        }
    }

    private static func instance(_ source: inout Source) -> PropertyListFields {
        var entries: PropertyListFields = ["$class": .uid(UInt32(source.next() % 32))]
        for _ in 0..<source.next() % 6 { entries[keys[source.next() % keys.count]] = value(&source, 0) }
        return entries
    }

    private static func value(_ source: inout Source, _ depth: Int) -> PropertyListValue {
        switch source.next() % 14 {
        case 0...4: return .uid(UInt32(source.next() % 32))
        case 5, 6:
            guard depth < 3 else { return .null }
            var elements: [PropertyListValue] = []
            for _ in 0..<source.next() % 8 { elements.append(value(&source, depth + 1)) }
            return .array(elements)
        case 7: return .integer(Int64(source.next()) - 8)
        case 8: return .integer(Int64(source.next()) << 56 | Int64(source.next()))
        case 9: return .real(Double(bitPattern: UInt64(source.next()) << 56 | UInt64(source.next()) << 48))
        case 10: return .boolean(source.next() % 2 == 1)
        case 11: return .string(names[source.next() % names.count])
        case 12:
            let count = source.next() % 32
            return .data((0..<count).map { _ in UInt8(truncatingIfNeeded: source.next()) })
        default:
            return .string(String(decoding: (0..<source.next() % 24).map { _ in UInt8(source.next()) }, as: UTF8.self))
        }
    }
}
