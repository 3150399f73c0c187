import Foundation
import Items
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@Suite("The museum's objects")
struct MuseumTests {
    /// A line of comma-separated values; quotes are doubled within quotes. Enough for this file.
    private static func cells(_ text: [UInt8]) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var cell: [UInt8] = []
        var isQuoted = false
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            if isQuoted {
                if byte != 0x22 {
                    cell.append(byte)
                } else if index < text.count, text[index] == 0x22 {
                    cell.append(byte)
                    index += 1
                } else {
                    isQuoted = false
                }
            } else if byte == 0x22 {
                isQuoted = true
            } else if byte == 0x2C || byte == 0x0A {
                row.append(String(decoding: cell, as: UTF8.self))
                cell = []
                if byte == 0x0A {
                    rows.append(row)
                    row = []
                }
            } else if byte != 0x0D {
                cell.append(byte)
            }
        }
        return rows
    }

    @Test(.enabled(if: Project.shared != nil, Comment(rawValue: Project.sharedIsAbsent)))
    func aRoundTripKeepsEveryByte() throws {
        let path = try #require(Project.sharedData("carnegie.csv"))
        let rows = Self.cells([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
        let header = try #require(rows.first)
        let folder = try StoreFolder()
        let store = try folder.open()
        for (number, row) in rows.dropFirst().enumerated() {
            var fields = ItemFields(name: row[1], serialNumber: row[2], valueInDollars: Int64(number), itemKey: row[0])
            for (name, cell) in zip(header, row).dropFirst(3) { fields.custom[name] = .string(cell) }
            try store.createItem(fields)
        }
        #expect(store.count == 28_143)
        try store.commit()
        let replayed = try folder.open(isReadOnly: true)
        #expect(try replayed.records == store.records)
        try store.saveChanges()
        let archive = try folder.read(folder.archive)
        let again = try folder.open()
        #expect(try again.records == store.records)
        try #require(again[0]).setName("changed")
        try again.commit()
        try again.undo()
        #expect(try again.saveChanges())
        #expect(try folder.read(folder.archive) == archive)
    }
}
