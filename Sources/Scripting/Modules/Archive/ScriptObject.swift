import Items
import KeyedArchive
import Lua
import PropertyList

/// An instance of a script's class, on its way into an archive or out of one.
final class ScriptObject: KeyedEncodable {
    let table: LuaTable
    let scriptClass: ScriptClass
    /// Calls the instance's `encode`; nil for one that is being decoded.
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

/// An item of the store as an object of an archive: what a new store's own archive holds of it.
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
        try archiver.encode(fields.name, forKey: "name")
        try archiver.encode(fields.serialNumber, forKey: "serialNumber")
        try archiver.encode(fields.valueInDollars, forKey: "valueInDollars")
        try archiver.encode(fields.dateCreated, forKey: "dateCreated")
        try archiver.encode(fields.itemKey, forKey: "itemKey")
        for (name, value) in fields.custom.sorted(by: { $0.key < $1.key }) {
            try archiver.encode(value, forKey: name)
        }
    }
}
