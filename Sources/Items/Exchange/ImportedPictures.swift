import ColumnEngine
import PropertyList

/// Items by the texts of a field, found by the names of files.
private struct NamedItems {
    private var exact: [ExactText: [Int]] = [:]
    /// The texts beyond ASCII, which Swift compares by canonical equivalence: é is e with an accent.
    private var equivalent: [String: [Int]] = [:]
    /// No file's name has a longer text; a bound, since equivalence takes more time than the comparison of bytes.
    private static let limit = 1024

    mutating func add(_ text: String, at place: Int) {
        exact[ExactText(text), default: []].append(place)
        if Self.hasForms(text) { equivalent[text, default: []].append(place) }
    }

    /// The items whose text has these bytes; without any, those whose text is canonically equivalent; nil for none.
    subscript(name: String) -> (places: [Int], isExact: Bool)? {
        if let places = exact[ExactText(name)] { return (places, true) }
        return Self.hasForms(name) ? equivalent[name].map { ($0, false) } : nil
    }

    private static func hasForms(_ text: String) -> Bool {
        text.utf8.count <= limit && !text.utf8.allSatisfy { $0 < 0x80 }
    }
}

/// The pictures of a folder, by the items that their names say: `A1.jpg` belongs to the item whose field is `A1`, and
/// `A1-2.jpg` to it as a further one, unless another item's field is `A1-2`. A field `A1.jpg` names its file as a whole. A name with the bytes of a field comes before
/// one in another Unicode form of the same text, as macOS writes the names of files.
package struct ImportedPictures {
    /// An item and its files, in order.
    package struct Assignment: Sendable {
        package let row: UInt32
        package let value: String
        package let names: [String]
    }

    /// The items that get pictures, in the items' order.
    package private(set) var assignments: [Assignment] = []
    /// Items that have pictures already and keep them, by their values.
    private var keeping: [String] = []
    /// Items without a picture in the folder, by their values.
    private var lacking: [String] = []
    /// Items without a value of the field.
    private var unnamed = 0
    /// Files that belong to no item.
    private var strange: [String] = []
    /// Files that belong to several items.
    private var ambiguous: [String] = []
    /// Files whose names are their items' texts in another Unicode form.
    private var otherForms: [String] = []
    private let folder: String
    private let field: String

    /// The extensions of pictures, in lowercase.
    static let extensions: Set<String> = [
        "avif", "gif", "heic", "heif", "jpe", "jpeg", "jpg", "png", "tif", "tiff", "webp",
    ]

    /// Finds the items of a folder's files.
    ///
    /// - Parameters:
    ///   - folder: the folder's path, for remarks.
    ///   - names: the names of its files.
    ///   - field: the field whose text is the name of an item's files.
    ///   - rows: the items.
    ///   - store: their store.
    ///   - replaces: whether items that have pictures get those of the folder instead.
    /// - Throws: `StoreError` for a field that no item has, and for a store without pictures; `WorkStopped`.
    package init(
        in folder: String, _ names: [String], by field: String, of rows: [UInt32], _ store: ItemStore, replaces: Bool
    ) throws {
        (self.folder, self.field) = (folder, field)
        guard let attachments = store.attachments else {
            throw StoreError(.inputOutput, "this store keeps no pictures")
        }
        let columns = store.columns
        let number = rows.isEmpty ? nil : try columns.queriedField(field)
        var values: [(row: UInt32, text: String)] = []
        var places = NamedItems()
        var pace = InterruptionPace()
        for row in rows {
            if pace.isDue() { throw WorkStopped() }
            guard let text = number.flatMap({ Self.text(row, $0, columns) }), !text.isEmpty else {
                unnamed += 1
                continue
            }
            places.add(text, at: values.count)
            values.append((row, text))
        }
        var files = [[(number: Int, name: String)]](repeating: [], count: values.count)
        for name in names {
            if pace.isDue() { throw WorkStopped() }
            guard let picture = Self.parse(name) else {
                strange.append(name)
                continue
            }
            // A field may have the whole name of a file, which several items can share.
            if let whole = places[name] {
                for place in whole.places { files[place].append((0, name)) }
                if !whole.isExact { otherForms.append(name) }
                continue
            }
            let exact = places[picture.stem].map { ($0, 0) }
            let found =
                exact
                ?? picture.numbered.flatMap { base, number in
                    places[base].map { ($0, number) }
                }
            switch found {
            case nil: strange.append(name)
            case let (match, number)? where match.places.count == 1:
                files[match.places[0]].append((number, name))
                if !match.isExact { otherForms.append(name) }
            default: ambiguous.append(name)
            }
        }
        for ((row, text), files) in zip(values, files) {
            if files.isEmpty {
                lacking.append(text)
            } else if !replaces, !attachments.files(forKey: columns.keyString(row)).isEmpty {
                keeping.append(text)
            } else {
                let sorted = files.sorted { $0.number != $1.number ? $0.number < $1.number : $0.name < $1.name }
                assignments.append(Assignment(row: row, value: text, names: sorted.map(\.name)))
            }
        }
    }

    private static func text(_ row: UInt32, _ field: ItemField, _ columns: ColumnStore) -> String? {
        if field == columns.keyField { return columns.keyString(row) }
        return columns.value(row, field).flatMap(ImportKeys.text)
    }

    /// The parts of a picture's name: `A1-2` of `A1-2.jpg`, and `A1` and 2; nil for what is no picture by its name.
    private static func parse(_ name: String) -> (stem: String, numbered: (base: String, number: Int)?)? {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex,
            extensions.contains(name[name.utf8.index(after: dot)...].lowercased())
        else { return nil }
        let stem = name[..<dot]
        guard let dash = stem.utf8.lastIndex(of: UInt8(ascii: "-")), dash > stem.startIndex else {
            return (String(stem), nil)
        }
        let digits = stem[stem.utf8.index(after: dash)...]
        guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
            let number = Int(digits)
        else { return (String(stem), nil) }
        return (String(stem), (String(stem[..<dash]), number))
    }

    /// Sets an item's pictures, unless it has the same ones.
    ///
    /// - Parameters:
    ///   - pictures: the bytes, in order.
    ///   - row: the item's row.
    ///   - store: the item's store.
    /// - Returns: the number of pictures set.
    /// - Throws: `StoreError` if the pictures cannot be read or written.
    package static func set(_ pictures: [[UInt8]], of row: UInt32, in store: ItemStore) throws(StoreError) -> Int {
        guard let attachments = store.attachments, !pictures.isEmpty else { return 0 }
        let key = store.columns.keyString(row)
        let present = attachments.files(forKey: key)
        var isSame = present.count == pictures.count
        for (file, picture) in zip(present, pictures) where isSame {
            isSame = try attachments.bytes(of: file) == picture
        }
        if isSame { return 0 }
        try attachments.setAllBytes(pictures, forKey: key)
        return pictures.count
    }

    // MARK: What is said

    /// The names in a sentence at most.
    private static let namesLimit = 100

    /// What was left: items without pictures, items that keep theirs, and files.
    var remarks: [ItemImportRemark] {
        var remarks: [ItemImportRemark] = []
        func add(_ kind: ItemImportRemark.Kind, _ names: [String], _ sentence: (Int) -> String) {
            guard !names.isEmpty else { return }
            var list = names.prefix(Self.namesLimit).map { $0.shortened(to: 200) }.joined(separator: ", ")
            if names.count > Self.namesLimit { list += " and \((names.count - Self.namesLimit).grouped) more" }
            let text = VisibleText.line("\(sentence(names.count)): \(list)")
            remarks.append(ItemImportRemark(kind: kind, count: names.count, description: text))
        }
        add(.withoutPicture, lacking) { "\($0.counted("item")) without a picture in \(folder), by \(field)" }
        if unnamed > 0 {
            remarks.append(
                ItemImportRemark(
                    kind: .withoutPicture, count: unnamed,
                    description: "\(unnamed.counted("item")) without a \(field), by which pictures are found"))
        }
        add(.presentPictures, keeping) {
            "\($0.counted("item")) with pictures already, which stay (update = true, --update, replaces them)"
        }
        add(.otherForms, otherForms) {
            "\($0.counted("file")) in \(folder) found by \(field) in another Unicode form of the name"
        }
        add(.leftPictures, strange) { "\($0.counted("file")) in \(folder) of no item, by \(field)" }
        add(.leftPictures, ambiguous) { "\($0.counted("file")) in \(folder) of several items, by \(field)" }
        return remarks
    }
}

extension ItemImportReport {
    /// Adds the outcome of pictures.
    ///
    /// - Parameters:
    ///   - pictures: the matches of their folder.
    ///   - count: the number of pictures that items have now.
    ///   - failures: the pictures that could not be read, with their reasons.
    package mutating func add(_ pictures: ImportedPictures, count: Int, failures: [String]) {
        self.pictures += count
        remarks += pictures.remarks
        for failure in failures {
            remarks.append(
                ItemImportRemark(kind: .leftPictures, count: 1, description: VisibleText.line("left out: \(failure)")))
        }
    }
}

extension ItemStore {
    /// Imports nothing but what the options' ``ItemFileOptions/afterRows`` does with all items, in one transaction.
    ///
    /// - Throws: errors of that function; `readOnly`.
    package func importToAllItems(_ options: ItemFileOptions) throws -> ItemImportReport {
        if isReadOnly { throw readOnlyError }
        return try importing(isDryRun: options.isDryRun) {
            var report = ItemImportReport()
            columns.recordWholeRead()
            let rows = columns.slots.filter { $0 != ItemOrder.hole }
            try performBulkChange { try options.afterRows?(rows, &report) }
            return report
        }
    }
}
