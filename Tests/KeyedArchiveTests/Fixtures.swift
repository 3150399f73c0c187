import Foundation
import KeyedArchive
import PropertyList

extension ArchiveGraph {
    /// An archive that was opened and saved without a change. Rings in it are broken afterwards: nobody else would.
    static func saved(_ bytes: [UInt8], as format: PropertyListFormat? = nil) throws -> [UInt8] {
        let graph = try ArchiveGraph(bytes)
        defer { graph.dismantle() }
        return try graph.encoded(as: format)
    }
}

/// The item of the book's chapters.
final class Item: KeyedCoding {
    static let archivedClass = ArchivedClass("Item")
    static let supportsSecureCoding = true

    var name: String?
    var serialNumber: String?
    var valueInDollars = 0
    var dateCreated = PropertyListDate(secondsSinceReferenceDate: 0)
    var itemKey = ""
    weak var owner: Item?
    var contained: Item?

    init(_ name: String?, _ serialNumber: String? = nil, value: Int = 0) {
        self.name = name
        self.serialNumber = serialNumber
        valueInDollars = value
    }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        try archiver.encode(name, forKey: "name")
        try archiver.encode(serialNumber, forKey: "serialNumber")
        try archiver.encode(valueInDollars, forKey: "valueInDollars")
        try archiver.encode(dateCreated, forKey: "dateCreated")
        try archiver.encode(itemKey, forKey: "itemKey")
        try archiver.encode(contained, forKey: "containedItem")
        try archiver.encodeConditionalObject(owner, forKey: "container")
    }

    init(coder: KeyedUnarchiver) throws(ArchiveError) {
        coder.adopt(self)
        name = try coder.decodeString(forKey: "name")
        serialNumber = try coder.decodeString(forKey: "serialNumber")
        valueInDollars = try coder.decodeInteger(forKey: "valueInDollars")
        dateCreated = try coder.decodeDate(forKey: "dateCreated") ?? dateCreated
        itemKey = try coder.decodeString(forKey: "itemKey") ?? ""
        contained = try coder.decodeObject(of: Item.self, forKey: "containedItem")
        owner = try coder.decodeObject(of: Item.self, forKey: "container")
    }
}
