import CFloor
import KeyedArchive
import PropertyList

/// The items by our codec, as the store writes and reads them: record by record.
enum CubbyCodec {
    /// From the columns, as the store does it.
    static func encode(_ store: SampleStore, _ archiver: KeyedArchiver) throws(ArchiveError) {
        let (name, serialNumber, itemKey) = (
            archiver.key("name"), archiver.key("serialNumber"), archiver.key("itemKey")
        )
        let (valueInDollars, dateCreated) = (archiver.key("valueInDollars"), archiver.key("dateCreated"))
        func text(_ start: UnsafePointer<CChar>, _ count: UInt32) -> UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: Int(count))
        }
        try archiver.encodeRecords(store.rows, of: ArchivedClass("Item")) { (row, archiver) throws(ArchiveError) in
            try archiver.encode(utf8: text(row.name, row.name_length), forKey: name)
            try archiver.encode(utf8: text(row.serial, row.serial_length), forKey: serialNumber)
            try archiver.encode(row.value, forKey: valueInDollars)
            try archiver.encode(PropertyListDate(secondsSinceReferenceDate: row.date), forKey: dateCreated)
            try archiver.encode(utf8: text(row.key, row.key_length), forKey: itemKey)
        }
    }

    /// From strings, as another program would.
    static func encode(_ items: [SampleItem], _ archiver: KeyedArchiver) throws(ArchiveError) {
        let (name, serialNumber, itemKey) = (
            archiver.key("name"), archiver.key("serialNumber"), archiver.key("itemKey")
        )
        let (valueInDollars, dateCreated) = (archiver.key("valueInDollars"), archiver.key("dateCreated"))
        try archiver.encodeRecords(items, of: ArchivedClass("Item")) { (item, archiver) throws(ArchiveError) in
            try archiver.encode(item.name, forKey: name)
            try archiver.encode(item.serialNumber, forKey: serialNumber)
            try archiver.encode(Int64(item.valueInDollars), forKey: valueInDollars)
            try archiver.encode(PropertyListDate(secondsSinceReferenceDate: item.dateCreated), forKey: dateCreated)
            try archiver.encode(item.itemKey, forKey: itemKey)
        }
    }

    static func write(_ store: SampleStore) throws -> [UInt8] {
        let archiver = KeyedArchiver(expectedObjects: store.rows.count * 5 + 64)
        try encode(store, archiver)
        return try archiver.finishEncoding()
    }

    static func write(_ items: [SampleItem]) throws -> [UInt8] {
        let archiver = KeyedArchiver(expectedObjects: items.count * 5 + 64)
        try encode(items, archiver)
        return try archiver.finishEncoding()
    }

    static func write(_ store: SampleStore, to path: String) throws {
        let file = try PropertyListFile(replacing: path)
        let archiver = KeyedArchiver(writingTo: file)
        try encode(store, archiver)
        try archiver.finishWriting()
        try file.commit()
    }

    /// Reads every field of every item into items of its own; the sum of what they hold.
    static func read(_ bytes: [UInt8]) throws -> Int {
        let reader = try KeyedArchiveReader(bytes)
        guard let root = try reader.rootUID(), let elements = try reader.record(at: root)?.elements() else { return 0 }
        let keys = ["name", "serialNumber", "valueInDollars", "dateCreated", "itemKey"]
        var shape: ArchiveShape?
        var slots: [Int] = []
        var items: [SampleItem] = []
        items.reserveCapacity(elements.count)
        for index in 0..<elements.count {
            guard let record = try reader.record(at: elements.uid(at: index)) else { continue }
            if record.shape !== shape {
                shape = record.shape
                slots = keys.compactMap { record.shape.slot(of: $0) }
            }
            items.append(
                SampleItem(
                    name: try record.decodeString(at: slots[0]) ?? "",
                    serialNumber: try record.decodeString(at: slots[1]) ?? "",
                    valueInDollars: Int(try record.decodeInteger(at: slots[2]) ?? 0),
                    dateCreated: try record.decodeDate(at: slots[3])?.secondsSinceReferenceDate ?? 0,
                    itemKey: try record.decodeString(at: slots[4]) ?? ""))
        }
        return SampleItem.sum(items)
    }

    /// Opens an archive and reads one field of its first item. The bytes are there already, as those of a mapped file.
    static func firstName(_ bytes: [UInt8]) throws -> String? {
        try bytes.withUnsafeBytes { bytes in
            let storage = PropertyListStorage(adopting: bytes, deallocator: nil)
            let reader = try KeyedArchiveReader(storage)
            guard let root = try reader.rootUID(), let elements = try reader.record(at: root)?.elements() else {
                return nil
            }
            return try reader.record(at: elements.uid(at: 0))?.decodeString(forKey: "name")
        }
    }
}
