import Items
import KeyedArchive
import Lua
import PropertyList

/// An instance of a script's class, during encoding or decoding.
final class ScriptObject: KeyedEncodable {
    let table: LuaTable
    let scriptClass: ScriptClass
    /// Calls the instance's `encode`; nil while decoding.
    private weak var encoder: ArchiveEncoder?

    init(_ table: LuaTable, _ scriptClass: ScriptClass, _ encoder: ArchiveEncoder? = nil) {
        self.table = table
        self.scriptClass = scriptClass
        self.encoder = encoder
    }

    var classForKeyedArchiver: ArchivedClass { scriptClass.archivedClass }
    var allowsSecureCoding: Bool { scriptClass.isSecure }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        try encoder?.encode(self)
    }
}

/// An item of the store as an archived object, in the form of a new store's archive.
final class ItemObject: KeyedEncodable {
    static let archivedClass = ArchivedClass("Item")

    private let item: Item

    init(_ item: Item) { self.item = item }

    var classForKeyedArchiver: ArchivedClass { Self.archivedClass }
    var allowsSecureCoding: Bool { true }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        let fields: ItemFields
        do {
            fields = try item.allFields
        } catch {
            throw ArchiveError(code: .invalidValue, message: error.message)
        }
        if fields.carried["name"] == nil { try archiver.encode(fields.name, forKey: "name") }
        if fields.carried["serialNumber"] == nil { try archiver.encode(fields.serialNumber, forKey: "serialNumber") }
        if fields.carried["valueInDollars"] == nil {
            try archiver.encode(fields.valueInDollars, forKey: "valueInDollars")
        }
        if fields.carried["dateCreated"] == nil { try archiver.encode(fields.dateCreated, forKey: "dateCreated") }
        try archiver.encode(fields.itemKey, forKey: "itemKey")
        for (name, value) in fields.carried.sorted(by: { $0.key < $1.key }) where value != .null {
            try archiver.encode(value, forKey: name)
        }
        for (name, value) in fields.custom.sorted(by: { $0.key < $1.key }) {
            try archiver.encode(value, forKey: name)
        }
    }
}
