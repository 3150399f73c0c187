import Files
import Foundation
import PropertyList
import SQLite
import TestSupport

@testable import Items

/// Files of a folder, for statements of tests.
final class FolderFiles: SQLFiles {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path + "/" + name))
    }

    func withFile(_ path: String, _ body: (ImportFile) throws -> Void) throws {
        let layer = PosixFileLayer()
        let file = try layer.open(folder.path + "/" + path, .read)
        defer { layer.close(file) }
        try body(try ImportFile(file, layer))
    }

    func databasePlace(_ path: String, isReadOnly: Bool) throws -> SQLitePlace {
        let descriptor = Foundation.open(folder.path, O_RDONLY | O_DIRECTORY)
        return SQLitePlace(
            path: folder.path + "/" + path, folder: descriptor,
            temporaryFolder: Foundation.open(folder.path, O_RDONLY | O_DIRECTORY))
    }
}

/// A store with SQL.
struct SQLFixture {
    let store: ItemStore
    let files: FolderFiles
    let sql: ItemSQL

    init(_ store: ItemStore = ItemStore()) throws {
        self.store = store
        files = try FolderFiles()
        sql = ItemSQL(store, files)
    }

    /// The rows of a statement, as texts.
    func rows(_ text: String, _ parameters: PropertyListValue...) throws -> [String] {
        let statement = try sql.prepare(text)
        for (place, value) in parameters.enumerated() { try statement.bind(value, at: place) }
        var rows: [String] = []
        while let row = try statement.next() { rows.append(row.map(Self.text).joined(separator: "|")) }
        return rows
    }

    @discardableResult
    func run(_ text: String) throws -> Int { try sql.prepare(text).run() }

    /// The error of a statement.
    func error(_ text: String) -> SQLError? {
        do { _ = try rows(text) } catch { return error as? SQLError }
        return nil
    }

    static func text(_ value: PropertyListValue) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .string(let text): text
        case .data(let bytes): "x" + bytes.map { String($0, radix: 16) }.joined(separator: ",")
        default: "\(value)"
        }
    }

    func add(_ name: String, _ value: Int64, _ custom: PropertyListFields = [:]) throws {
        try store.createItem(ItemFields(name: name, valueInDollars: value, custom: custom))
    }
}
