import CSV
import PropertyList

extension ItemFileOptions {
    /// The options of a file table: those of an import, as a dictionary of JSON.
    ///
    /// - Parameters:
    ///   - format: the file's format.
    ///   - text: JSON; empty for the default options.
    ///   - name: the table's name in messages.
    /// - Throws: `SQLError` for an option that is not known, or that has another value than it takes.
    init(_ format: ItemFileFormat, json text: String, of name: String) throws(SQLError) {
        self.init(format: format)
        keyField = "itemKey "
        keepsOrder = true
        if text.isEmpty { return }
        let value: PropertyListValue
        do { value = try PropertyListValue(json: Array(text.utf8)) } catch {
            throw SQLError(.syntax, "the options of \(name) are not JSON: \(error)")
        }
        guard let options = value.fields else {
            throw SQLError(.syntax, "the options of \(name) are an object of JSON, such as {\"delimiter\": \";\"}")
        }
        for (option, value) in options.sortedByName { try set(option, value, name) }
    }

    private static let all = [
        "comment", "date", "decimal", "delimiter", "encoding", "header", "map", "null", "path", "sheet", "skip",
        "types",
    ]

    private mutating func set(_ option: String, _ value: PropertyListValue, _ name: String) throws(SQLError) {
        func wrong(_ expected: String) -> SQLError {
            let got =
                (try? value.json()).map { (bytes: [UInt8]) in String(decoding: bytes, as: UTF8.self) } ?? "\(value)"
            return SQLError(.syntax, "\(name), option '\(option)': \(expected) expected, got \(got)")
        }
        switch (option, value) {
        case ("delimiter", .string(let text)):
            let names: [String: UInt8] = ["tab": 9, "\\t": 9, "comma": 0x2C, "semicolon": 0x3B, "pipe": 0x7C]
            guard let byte = names[text] ?? (text.utf8.count == 1 ? text.utf8.first : nil), byte < 0x80,
                ![0x22, 0x0A, 0x0D, 0].contains(byte)
            else { throw wrong("one ASCII character, or \"tab\",") }
            delimiter = byte
        case ("delimiter", _): throw wrong("one ASCII character, or \"tab\",")
        case ("encoding", .string(let text)):
            guard let known = ItemFileEncoding(rawValue: text) else { fallthrough }
            encoding = known
        case ("encoding", _):
            throw wrong(ItemFileEncoding.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))
        case ("skip", .integer(let count)) where count >= 0 && count < 1 << 31: skippedLines = Int(count)
        case ("skip", _): throw wrong("a number of lines")
        case ("comment", .string(let text)) where !text.isEmpty && text.utf8.count <= 64: comment = text
        case ("comment", _): throw wrong("a text of 1 to 64 bytes")
        case ("header", .boolean(let flag)): if !flag { header = .none }
        case ("header", .array(let names)):
            let texts = names.compactMap(\.text)
            guard !names.isEmpty, texts.count == names.count else { throw wrong("false, or the columns' names") }
            header = .names(texts)
        case ("header", _): throw wrong("false, or the columns' names")
        case ("null", .string(let text)): nulls = [text]
        case ("null", .array(let texts)):
            nulls = texts.compactMap(\.text)
            if nulls.count != texts.count { throw wrong("a text, or several") }
        case ("null", _): throw wrong("a text, or several")
        case ("decimal", .string(let text)):
            guard let known = NumberStyle.Decimal(rawValue: text) else { fallthrough }
            decimal = known
        case ("decimal", _): throw wrong("\"point\" or \"comma\"")
        case ("date", .string(let text)):
            do throws(DatePatternError) { dateStyle = try DateStyle(pattern: text) } catch {
                throw SQLError(.syntax, "\(name), option 'date': \(error)")
            }
        case ("date", _): throw wrong("a pattern such as \"dd.MM.yyyy\"")
        case ("sheet", .string(let text)): sheet = text
        case ("sheet", _): throw wrong("the sheet's name")
        case ("path", .string(let text)): recordPath = text
        case ("path", _): throw wrong("keys with points between them")
        case ("types", .string("text")): kinds = .text
        case ("types", .string("infer")): kinds = .inferred
        case ("types", _):
            guard let fields = value.fields else { throw wrong("\"infer\", \"text\", or kinds by column") }
            try setKinds(fields, name)
        case ("map", _):
            guard let fields = value.fields else { throw wrong("new names by column") }
            for (column, other) in fields.sortedByName {
                switch other {
                case .string(let text): names[column] = .some(text)
                case .boolean(false): names[column] = .some(nil)
                default: throw wrong("new names by column, or false")
                }
            }
        default:
            throw SQLError(
                .syntax,
                "\(name) has no option '\(option)'\(NearestNames.hint(for: option, among: Self.all)): it takes \(Self.all.joined(separator: ", "))"
            )
        }
    }

    private mutating func setKinds(_ fields: PropertyListFields, _ name: String) throws(SQLError) {
        var kinds: [String: ItemColumnKind] = [:]
        for (field, word) in fields.sortedByName {
            var kind: ItemColumnKind?
            do throws(DatePatternError) {
                kind = try word.text.flatMap { word throws(DatePatternError) in try ItemColumnKind(word) }
            } catch { throw SQLError(.syntax, "\(name), option 'types': \(error)") }
            guard let kind else {
                let all = ItemFieldKind.allCases.map(\.rawValue).joined(separator: ", ")
                throw SQLError(.syntax, "\(name), option 'types': \(field) is one of \(all), date(PATTERN)")
            }
            kinds[field] = kind
        }
        self.kinds = .named(kinds)
    }
}
