import Foundation
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// What an import that asks shows of a file.
@Suite("The preview of an import")
struct ImportPreviewTests {
    private func preview(
        _ bytes: [UInt8], _ format: ItemFileFormat, _ change: (inout ItemFileOptions) -> Void = { _ in }
    ) throws -> ItemImportPreview {
        var options = ItemFileOptions(format: format)
        change(&options)
        return try ItemImportPreview(ImportFile(bytes), options, .household)
    }

    /// A line for each column: its name, field, kind and cells.
    private func lines(_ preview: ItemImportPreview) -> [String] {
        preview.columns.map { "\($0.name) → \($0.field): \($0.kindText): \($0.cells.joined(separator: " · "))" }
    }

    private static let records =
        #"{"Title":"Urn","n":1,"tags":["a"]}"# + "\n" + #"{"Title":"Bowl","n":2.5,"when":null,"x":1}"# + "\n"
        + #"{"Title":"Vase","serial number":"S1","x":"one"}"# + "\n"
    private static let expected = [
        "Title → name: string: Urn · Bowl · Vase", "n → n: real: 1 · 2.5", "serial number → serialNumber: string: S1",
        #"tags → tags: any: ["a"]"#, "when → when: any: ", "x → x: any: 1 · one",
    ]

    @Test("records have their columns by name, and values their own kinds") func records() throws {
        let lineByLine = try preview(Array(Self.records.utf8), .jsonLines)
        #expect(lines(lineByLine) == Self.expected)
        #expect(lineByLine.columns.map(\.isTyped) == [Bool](repeating: true, count: 6))
        let array = "[" + Self.records.split(separator: "\n").joined(separator: ",") + "]"
        let whole = try preview(Array(array.utf8), .json)
        #expect(lines(whole) == Self.expected)
        let wrapped = #"{"data":{"a":"# + array + #","b":[{"q":1}]}}"#
        let chosen = try preview(Array(wrapped.utf8), .json) { $0.recordPath = "data.a" }
        #expect(lines(chosen) == Self.expected)
        #expect(throws: StoreError.self) { try preview(Array(wrapped.utf8), .json) }
        // A long file is read at its beginning, and a faulty line is the import's.
        let long = "not JSON\n" + String(repeating: Self.records, count: 20_000)
        let beginning = try preview(Array(long.utf8), .jsonLines)
        #expect(beginning.columns.map(\.name) == lineByLine.columns.map(\.name))
        #expect(beginning.columns.map(\.kindText) == lineByLine.columns.map(\.kindText))
        #expect(beginning.columns[0].cells == ["Urn", "Bowl", "Vase"])
    }

    @Test("a sheet has its header, and its cells' kinds") func sheets() throws {
        for (name, format, sheet) in [("openpyxl.xlsx", ItemFileFormat.xlsx, "Tools"), ("odfpy.ods", .ods, "Werkzeug")]
        {
            let path = "\(Project.root)/Tests/Fixtures/spreadsheets/\(name).base64"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let bytes = try #require(Data(base64Encoded: text, options: .ignoreUnknownCharacters))
            let preview = try preview([UInt8](bytes), format)
            #expect(preview.form == "the sheet \"\(sheet)\"")
            let store = ItemStore()
            _ = try store.importReport([UInt8](bytes), path: name, ItemFileOptions(format: format))
            let fields = Set(try store.allItems.flatMap { try $0.customFieldNames } + ["name"])
            #expect(fields.isSubset(of: preview.columns.map(\.name)), "\(lines(preview))")
            #expect(preview.columns.contains { $0.kind == .real || $0.kind == .integer })
        }
    }

    @Test("columns that could be the name are named") func naming() throws {
        func likely(_ text: String) throws -> [String] { try preview(Array(text.utf8), .csv).likelyNames }
        #expect(try likely("sku,Marke,Bezeichnung,n\n0017,Bosch,Bohrer,3\n") == ["Bezeichnung"])
        #expect(try likely("sku,Marke,n\n0017,Bosch,3\n") == ["sku", "Marke"])
        #expect(try preview(Array("a\n1\n".utf8), .csv).titleField == "name")
    }

    @Test("other formats have no columns") func otherFormats() throws {
        #expect(try preview(Array("<plist/>".utf8), .propertyList).columns.isEmpty)
        #expect(try preview(Array("[]".utf8), .json).columns.isEmpty)
    }
}
