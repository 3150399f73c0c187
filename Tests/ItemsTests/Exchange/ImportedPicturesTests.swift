import Files
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Pictures of a folder, by a field of their items.
@Suite("Imported pictures")
struct ImportedPicturesTests {
    private let scene: AttachmentScene

    init() throws { scene = try AttachmentScene() }

    private func add(_ key: String, _ serial: PropertyListValue?) throws {
        var fields = ItemFields(itemKey: key)
        try fields.set(serial, forField: "serial")
        try scene.items.createItem(fields)
    }

    private var rows: [UInt32] { scene.items.columns.slots.filter { $0 != ItemOrder.hole } }

    private func pictures(_ names: [String], by field: String = "serial", replaces: Bool = false) throws
        -> ImportedPictures
    {
        try ImportedPictures(in: "dir", names, by: field, of: rows, scene.items, replaces: replaces)
    }

    /// The files of each item, by its value, and the counts of what is left.
    private func matches(_ names: [String]) throws -> [String] {
        try pictures(names).assignments.map { "\($0.value): \($0.names.joined(separator: " "))" }
    }

    @Test("a name is a value, or a value and a number, and numbers are in their order")
    func names() throws {
        for (key, value) in [("1", "A1"), ("2", "A1-2"), ("3", "x-1"), ("4", "ü.b"), ("5", "A1-2-3")] {
            try add(key, .string(value))
        }
        try add("6", .integer(7))
        let names = [
            "A1.jpg", "A1.PNG", "A1-10.jpg", "A1-3.heic", "A1-2.jpg", "A1-2-1.jpg", "x-1.webp", "ü.b.gif", "7.tif",
        ]
        #expect(
            try matches(names) == [
                "A1: A1.PNG A1.jpg A1-3.heic A1-10.jpg", "A1-2: A1-2.jpg A1-2-1.jpg", "x-1: x-1.webp", "ü.b: ü.b.gif",
                "7: 7.tif",
            ])
        #expect(try matches(["a1.jpg", "A1.txt", "A1", "A1.jpg.txt", ".jpg", "-2.jpg", "A1-x.jpg", "A1-.jpg"]) == [])
    }

    @Test("a value is the whole name of a file, which several items can share")
    func wholeNames() throws {
        for (key, value) in [("1", "lamp.png"), ("2", "lamp.png"), ("3", "lamp"), ("4", "chair.JPG")] {
            try add(key, .string(value))
        }
        #expect(
            try matches(["lamp.png", "lamp-2.png", "lamp.jpg", "chair.JPG", "chair.jpg"]) == [
                "lamp.png: lamp.png", "lamp.png: lamp.png", "lamp: lamp.jpg lamp-2.png", "chair.JPG: chair.JPG",
            ])
    }

    @Test("a name in another Unicode form is that of its value, unless one has its bytes")
    func unicodeForms() throws {
        let forms = [("é", "e\u{301}"), ("ü.b-2", "u\u{308}.b-2"), ("가", "\u{1100}\u{1161}"), ("Å", "\u{212B}")]
        for (place, form) in forms.enumerated() { try add("\(place)", .string(form.0)) }
        let found = try pictures(forms.map { "\($0.1).jpg" } + ["e\u{301}-2.jpg", "e.jpg", "\u{301}.jpg"])
        #expect(
            found.assignments.map { $0.names.map { Array($0.utf8) } }
                == [
                    ["e\u{301}.jpg", "e\u{301}-2.jpg"], ["u\u{308}.b-2.jpg"], ["\u{1100}\u{1161}.jpg"],
                    ["\u{212B}.jpg"],
                ].map { $0.map { Array($0.utf8) } })
        var said = ItemImportReport()
        said.add(found, count: 0, failures: [])
        #expect(said.count(.otherForms) == 5)
        #expect(
            said.remarks.contains {
                $0.description.hasPrefix("5 files in dir found by serial in another Unicode form of the name: ")
            })
        // An item of its own for each form: each file is that of the bytes, and a third form that of none.
        try add("nfd", .string("e\u{301}"))
        let exact = try pictures(["e\u{301}.jpg", "é.jpg"]).assignments
        #expect(exact.map { Array($0.names[0].utf8) } == [Array("é.jpg".utf8), Array("e\u{301}.jpg".utf8)])
        said = ItemImportReport()
        said.add(try pictures(["e\u{301}.jpg", "é.jpg"]), count: 0, failures: [])
        #expect(said.count(.otherForms) == 0)
        try add("a", .string("ṩ"))
        try add("b", .string("s\u{323}\u{307}"))
        var report = ItemImportReport()
        report.add(try pictures(["\u{1E61}\u{323}.jpg"]), count: 0, failures: [])
        #expect(report.count(.leftPictures) == 1)
    }

    @Test("every item and every file is attached or named")
    func accounting() throws {
        var generator = TestGenerator(seed: 4)
        for number in 0..<300 {
            let value: PropertyListValue? = number % 20 == 0 ? nil : .string("S\(generator.number(250))")
            try add("k\(number)", value)
        }
        var names: [String] = []
        for number in 0..<250 where number % 3 > 0 {
            names.append("S\(number).jpg")
            if number % 5 == 0 { names.append("S\(number)-2.png") }
        }
        names += ["S1.txt", "other.jpg"]
        let pictures = try pictures(names)
        var report = ItemImportReport()
        report.add(pictures, count: 0, failures: [])
        #expect(pictures.assignments.count + report.count(.withoutPicture) == 300)
        #expect(pictures.assignments.reduce(0) { $0 + $1.names.count } + report.count(.leftPictures) == names.count)
    }

    @Test("what is left is said, by its name")
    func remarks() throws {
        for (key, value) in [("1", "A"), ("2", "B"), ("3", "D"), ("4", "D")] { try add(key, .string(value)) }
        try add("5", nil)
        try scene.attachments.setBytes([1], forKey: "1")
        var report = ItemImportReport()
        report.add(try pictures(["A.jpg", "C.jpg", "D.jpg", "notes.txt"]), count: 0, failures: ["x\u{1B}: no picture"])
        #expect(
            report.remarks.map(\.description) == [
                "3 items without a picture in dir, by serial: B, D, D",
                "1 item without a serial, by which pictures are found",
                "1 item with pictures already, which stay (update = true, --update, replaces them): A",
                "2 files in dir of no item, by serial: C.jpg, notes.txt",
                "1 file in dir of several items, by serial: D.jpg", "left out: x\\27: no picture",
            ])
        let error = #expect(throws: StoreError.self) { try pictures([], by: "nosuch") }
        #expect(error?.code == .unknownField("nosuch"))
    }

    @Test("pictures come with the rows of a file, in their transaction, and the same ones are not set again")
    func withRows() throws {
        try add("1", .string("A"))
        func run(_ text: String, isDryRun: Bool = false) throws -> ItemImportReport {
            var options = ItemFileOptions(format: .csv)
            (options.key, options.updates, options.isDryRun) = (["serial"], true, isDryRun)
            options.afterRows = { rows, report in
                let pictures = try ImportedPictures(
                    in: "dir", ["A.jpg", "B.jpg", "B-2.jpg", "C.jpg"], by: "serial", of: rows, scene.items,
                    replaces: true)
                var count = 0
                for each in pictures.assignments {
                    let bytes = each.names.map { Array($0.utf8) }
                    count += try ImportedPictures.set(bytes, of: each.row, in: scene.items)
                }
                report.add(pictures, count: count, failures: [])
            }
            return try scene.items.importReport(Array(text.utf8), path: "f", options)
        }
        let text = "serial,name\nA,Lamp\nB,Bear\n"
        #expect(try run(text, isDryRun: true).pictures == 3)
        #expect(scene.items.count == 1 && scene.folder.attachmentNames.isEmpty)
        let report = try run(text)
        #expect((report.created, report.updated, report.pictures, report.count(.leftPictures)) == (1, 1, 3, 1))
        let bear = try #require(scene.items[1])
        #expect(try scene.attachments.allBytes(forKey: bear.itemKey).map(\.count) == [5, 7])
        #expect(try run(text).pictures == 0)
        try scene.items.undo()
        #expect(scene.items.count == 1 && scene.folder.attachmentNames.isEmpty)
    }
}
