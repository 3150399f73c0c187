import CSV
import ColumnEngine
import PropertyList

/// The kinds of the columns of comma-separated values: given, or shown by all of a column's cells.
struct CSVColumnKinds {
    let store: ItemStore
    let options: ItemFileOptions
    let path: String
    let form: CSVForm

    /// Gives each column its kind, and says what was inferred and assumed.
    ///
    /// - Returns: the columns that become texts where their fields have other values.
    func infer(_ row: ImportedRow, _ places: [Int?], _ merger: ItemMerger) throws -> OtherKinds {
        let included = places.map { $0.map { isIncluded(row.columns[$0]) } ?? false }
        let (results, decimals) =
            options.infersKinds && included.contains(true) ? try results(included) : ([], [])
        var watched = OtherKinds()
        var said = SaidKinds()
        for (cell, place) in places.enumerated() {
            guard let place else { continue }
            let column = row.columns[place]
            let found = included[cell] && !results.isEmpty ? results[cell] : ColumnResult(.text)
            let pattern = options.kinds?.kind(of: column.fieldName)?.dateStyle
            let result = pattern.map { ColumnResult(CellFormat($0)) } ?? found
            let decimal = decimals.isEmpty ? options.decimal : decimals[cell]
            if let kind = givenKind(column) {
                if case .decimals? = result.doubt, [.real, .integer, .number].contains(kind), options.decimal == nil {
                    throw StoreError(.unreadableFile, "\(path): \(result.remark(column.fieldName) ?? "")", path: path)
                }
                row.setReading(reading(kind, column, result, decimal), at: place)
                said.add(column.fieldName, kind, result, isGiven: true)
                continue
            }
            let kind = ItemFieldKind(result.format.kind)
            let before = try priorKind(column)
            if before == .string, kind != .string {
                row.setReading(.text, at: place)
                said.addFormer(column.fieldName)
                continue
            }
            row.setReading(ColumnReading(inferred: result.format), at: place)
            said.add(column.fieldName, kind, result, isGiven: false)
            if let before, before != .string, kind == .string, options.infersKinds {
                watched.watch(place, column, before, decimal)
            } else if let remark = result.remark(column.fieldName) {
                merger.remark(.doubts, 1, remark)
            }
        }
        if let line = said.line(form.dialect.phrase) { options.onKinds?("\(path): \(line)") }
        return watched
    }

    /// The results of a pass over all rows, and the columns' signs before decimals.
    private func results(_ included: [Bool]) throws -> ([ColumnResult], [NumberStyle.Decimal?]) {
        let nulls = CellNulls(options.nulls)
        var inference = TableInference(columns: included.count, isIncluded: { included[$0] }, nulls: nulls)
        var dated = options.dateStyle == nil ? [] : included.indices.filter { included[$0] }
        var hasDates = Set<Int>()
        var count = 0
        try form.forEachRow { cells in
            try form.report(count, isFirstPass: true)
            count += 1
            inference.add(cells)
            if let style = options.dateStyle, !dated.isEmpty { check(cells, style, &dated, &hasDates, nulls) }
            return !inference.isDone || !dated.isEmpty
        }
        var results = inference.results(decimal: options.decimal, delimiter: form.delimiter)
        if let style = options.dateStyle {
            for column in dated where hasDates.contains(column) {
                results[column] = ColumnResult(CellFormat(style))
            }
        }
        let shared = inference.decimal
        return (results, inference.columns.map { options.decimal ?? $0.decimal ?? shared })
    }

    /// Removes the columns with a text that is not of the given pattern.
    private func check(
        _ cells: CSVRow, _ style: DateStyle, _ dated: inout [Int], _ hasDates: inout Set<Int>, _ nulls: CellNulls
    ) {
        cells.withUnsafeBytes { bytes in
            let texts = bytes.bindMemory(to: UInt8.self)
            dated.removeAll { column in
                guard column < cells.count else { return false }
                let text = UnsafeBufferPointer(rebasing: texts[cells.range(of: column)])
                if text.isEmpty || nulls.contains(text) { return false }
                hasDates.insert(column)
                return style.date(text) == nil
            }
        }
    }

    /// Whether a column's cells are looked at: not those of the key, and of fields that are texts.
    private func isIncluded(_ column: ImportedColumn) -> Bool {
        if options.key.contains(column.fieldName) && store.columns.isCustom(column.field) { return false }
        return givenKind(column) != .string && column.field != store.columns.keyField
    }

    /// The kind that is the field's own, or the caller's; nil for a kind to be inferred.
    private func givenKind(_ column: ImportedColumn) -> ItemFieldKind? {
        if let given = column.reading { return given.kind }
        if column.container != nil { return .string }
        switch store.schema.kind(column.field)?.kind {
        case .integer?: return .integer
        case .date?: return .date
        case .text?: return .string
        default: return column.field == store.columns.keyField ? .string : nil
        }
    }

    private func reading(
        _ kind: ItemFieldKind, _ column: ImportedColumn, _ result: ColumnResult, _ decimal: NumberStyle.Decimal?
    ) -> ColumnReading {
        ColumnReading(
            kind, inferred: result.format, pattern: options.kinds?.kind(of: column.fieldName)?.dateStyle,
            date: options.dateStyle, decimal: decimal)
    }

    /// The one kind of the field's values so far; nil for a field without values, and with several kinds of them.
    private func priorKind(_ column: ImportedColumn) throws -> ItemFieldKind? {
        if store.columns.hasTexts(column.field) { return .string }
        return try (column.priorKinds ?? FieldKinds(store.columns, column.field)).kind
    }
}

/// The kinds of values that a field has.
struct FieldKinds: Hashable {
    /// Of the cells that are not boxes.
    private let bits: UInt16
    private let boxed: Set<ValueKind>

    /// - Throws: `WorkStopped`.
    init(_ columns: ColumnStore, _ field: ItemField) throws(WorkStopped) {
        let kinds = columns.cellKinds(field)
        let boxes = Self.bits(.box)
        // A field that no item has had is taken for one of texts.
        bits = kinds & ~Self.texts == 0 && !columns.hasTexts(field) ? 0 : kinds & ~boxes
        var boxed: Set<ValueKind> = []
        if kinds & boxes != 0 {
            var pace = InterruptionPace()
            for row in columns.slots where row != ItemOrder.hole {
                if pace.isDue() { throw WorkStopped() }
                let cell = columns.cell(row, field)
                if cell.kind == .box, let kind = ValueKind(cell, columns) { boxed.insert(kind) }
            }
        }
        self.boxed = boxed
    }

    private static let texts = bits(.shortText, .longText)

    private static func bits(_ kinds: Cell.Kind...) -> UInt16 { kinds.reduce(0) { $0 | 1 << UInt16($1.rawValue) } }

    private static let table: [(kind: ItemFieldKind, bits: UInt16)] = [
        (.integer, bits(.integer)), (.real, bits(.integer, .real, .single)), (.boolean, bits(.yes, .no)),
        (.date, bits(.date)), (.string, bits(.shortText, .longText)),
    ]

    /// Whether the field has no values.
    var isEmpty: Bool { bits == 0 && boxed.isEmpty }

    /// The one kind of all values that texts have; nil for none, and for several.
    var kind: ItemFieldKind? {
        if isEmpty { return nil }
        // Integers of more than 64 bits are in boxes.
        if boxed == [.number] { return bits & ~Self.bits(.integer, .real, .single) == 0 ? .number : nil }
        return boxed.isEmpty ? Self.table.first { bits & ~$0.bits == 0 }?.kind : nil
    }

    /// The kinds of the values as remarks tell them apart.
    var values: Set<ValueKind> {
        var values = boxed
        if bits & Self.bits(.integer, .real, .single) != 0 { values.insert(.number) }
        if bits & Self.bits(.yes, .no) != 0 { values.insert(.boolean) }
        if bits & Self.bits(.date) != 0 { values.insert(.date) }
        if bits & Self.texts != 0 { values.insert(.string) }
        return values
    }

    /// Whether values are of kinds that texts do not show.
    var hasObjects: Bool { !boxed.isDisjoint(with: [.array, .dictionary, .data]) }

    /// The kinds in remarks.
    var name: String { kind?.rawValue ?? values.map(\.rawValue).sorted().joined(separator: " or ") }
}

/// Columns that become texts where their fields have values of another kind: counted by their cells.
struct OtherKinds {
    private struct Column {
        let place: Int
        let name: String
        let field: ItemField
        let kind: ItemFieldKind
        let reading: ColumnReading
        var count = 0
        var misfits = 0
        var examples: [[UInt8]] = []
    }

    private var columns: [Column] = []

    var isEmpty: Bool { columns.isEmpty }

    mutating func watch(
        _ place: Int, _ column: ImportedColumn, _ kind: ItemFieldKind, _ decimal: NumberStyle.Decimal?
    ) {
        let reading = ColumnReading(kind, decimal: decimal)
        columns.append(
            Column(place: place, name: column.fieldName, field: column.field, kind: kind, reading: reading))
    }

    /// Takes the row's cells, which are texts.
    mutating func add(_ row: ImportedRow) {
        for index in columns.indices {
            guard case .text(let text) = row.cells[columns[index].place] else { continue }
            columns[index].count += 1
            if columns[index].reading.value(text) != nil { continue }
            columns[index].misfits += 1
            let example = Array(text.prefix(200))
            if columns[index].examples.count < 3, !columns[index].examples.contains(example) {
                columns[index].examples.append(example)
            }
        }
    }

    /// Says what became text.
    func remark(_ merger: ItemMerger) {
        // Texts that read as the values that are there have changed none.
        for column in columns where column.count > 0 && merger.store.columns.hasTexts(column.field) {
            let texts = column.examples.map { text in
                VisibleText.line(String(decoding: text, as: UTF8.self).shortened(to: 40)).quoted()
            }
            let one = column.kind.one
            let kind = column.misfits == 1 ? "is not \(one.withArticle)" : "are not \(one)s"
            let what =
                column.misfits == 0
                ? "its cells are not in one style"
                : "\(column.misfits.grouped) of \(column.count.grouped) cells \(kind) (\(texts.joined(separator: ", ")))"
            merger.remark(.formerKinds, 1, "\(column.name): \(what): text; it was \(column.kind.rawValue)")
        }
    }
}

/// The line that tells what was inferred of a file.
private struct SaidKinds {
    private var groups: [(kind: ItemFieldKind, assumption: String?, names: [String])] = []
    private var former: [String] = []

    mutating func add(_ name: String, _ kind: ItemFieldKind, _ result: ColumnResult, isGiven: Bool) {
        let assumption = result.assumption
        // What the caller or the field decides is said only with what was assumed of the texts.
        if kind == .string || isGiven && assumption == nil { return }
        let name = name.shortened(to: 200)
        if let place = groups.firstIndex(where: { $0.kind == kind && $0.assumption == assumption }) {
            groups[place].names.append(name)
        } else {
            groups.append((kind, assumption, [name]))
        }
    }

    /// A field that stays text since it has texts.
    mutating func addFormer(_ name: String) { former.append(name.shortened(to: 200)) }

    /// - Parameter form: what was assumed of the file.
    /// - Returns: the line; nil for nothing to say.
    func line(_ form: String?) -> String? {
        if groups.isEmpty, form == nil, former.isEmpty { return nil }
        var said = form.map { [$0] } ?? []
        for kind in ItemFieldKind.allCases {
            for group in groups.filter({ $0.kind == kind }).sorted(by: { $0.assumption == nil && $1.assumption != nil })
            {
                let assumption = group.assumption.map { " (\($0))" } ?? ""
                said.append("\(group.names.joined(separator: ", ")) \(kind.rawValue)\(assumption)")
            }
        }
        if !former.isEmpty { said.append("\(former.joined(separator: ", ")) text, as the items' values are") }
        said.append(groups.isEmpty && former.isEmpty ? "all columns are text" : "other columns are text")
        return said.joined(separator: "; ")
    }
}

/// How a column's texts become values.
struct ColumnReading: Sendable {
    /// The kind of the values; `string` leaves the texts as they are.
    let kind: ItemFieldKind
    /// Whether the kind is the field's own or the caller's: a text that is not of it is an error.
    let isGiven: Bool
    /// Tried in this order.
    private let format: CellFormat
    private let rest: [CellFormat]

    static let text = ColumnReading(inferred: .text)

    /// The form that all cells of a column show.
    init(inferred format: CellFormat) {
        kind = ItemFieldKind(format.kind)
        (isGiven, self.format, rest) = (false, format, [])
    }

    /// A kind that is given; the texts may be in any of its usual forms. Dates of one column have their parts in one order.
    ///
    /// - Parameters:
    ///   - kind: the kind.
    ///   - inferred: the form that all cells of the column show, if it is known.
    ///   - pattern: the pattern of the column's dates, which no other form replaces.
    ///   - date: the pattern of dates in the file, for a column that does not show another one.
    ///   - decimal: the sign before decimals.
    init(
        _ kind: ItemFieldKind, inferred: CellFormat? = nil, pattern: DateStyle? = nil, date: DateStyle? = nil,
        decimal: NumberStyle.Decimal? = nil
    ) {
        (self.kind, isGiven) = (kind, true)
        var formats: [CellFormat] = []
        let style = NumberStyle.given(decimal ?? .point)
        switch kind {
        case .string: formats = [.text]
        case .integer, .real:
            switch inferred {
            case .integer(let style)?, .real(let style)?: formats = [kind == .integer ? .integer(style) : .real(style)]
            // A comma is not the sign of decimals by a guess.
            default:
                if decimal != .comma { formats = [kind == .integer ? .integer(NumberStyle()) : .real(NumberStyle())] }
            }
            formats.append(kind == .integer ? .integer(style) : .real(style))
        case .number:
            if let inferred, inferred.kind == .integer || inferred.kind == .real { formats = [inferred] }
            if decimal != .comma { formats += [.integer(NumberStyle()), .real(NumberStyle())] }
            formats += [.integer(style), .real(style)]
        case .boolean: formats = [.boolean(.any)]
        case .date:
            if let pattern {
                formats = [CellFormat(pattern)]
            } else {
                if let inferred, inferred.kind == .date {
                    formats = [inferred]
                } else if let date {
                    formats = [.moment(date)]
                }
                if date?.hasOrderOfISO8601 ?? true { formats.append(.moment(nil)) }
            }
        }
        (format, rest) = (formats.first ?? .text, Array(formats.dropFirst()))
    }

    /// Whether its texts are days.
    var isOfDays: Bool { if case .day = format { true } else { false } }

    /// The value of a text; nil for one that is not of the kind.
    @inline(__always)
    func value(_ text: UnsafeBufferPointer<UInt8>) -> PropertyListValue? {
        format.value(of: text) ?? otherValue(text)
    }

    /// The value of a text, with all of its digits; nil for one that is not of the kind.
    ///
    /// - Throws: `invalidValue` for a number of which a real has not all whole digits: from 2^53 on most are so.
    @inline(__always)
    func exactValue(_ text: UnsafeBufferPointer<UInt8>, _ field: String) throws(StoreError) -> PropertyListValue? {
        let value = value(text)
        if isGiven, case .real(let real)? = value, real.magnitude >= 0x1p53 { try check(real, text, field) }
        return value
    }

    /// The sign of a currency or of percents that comes off a number, unless the column's style has it; `none` for none.
    func unsaidSign(of text: UnsafeBufferPointer<UInt8>) -> NumberAffix.Sign {
        guard isGiven, [.integer, .real, .number].contains(kind) else { return .none }
        let sign = NumberAffix.sign(of: text)
        switch format {
        case .integer(let style), .real(let style): return style.affix.sign == sign ? .none : sign
        default: return sign
        }
    }

    private func check(_ real: Double, _ text: UnsafeBufferPointer<UInt8>, _ field: String) throws(StoreError) {
        // What is in groups has fewer digits.
        if DecimalText.hasWholeDigits(real, of: text) { return }
        // No number has digits behind so many, nor more than 128 bits.
        let advised = DecimalText.whole(text) == nil ? ItemFieldKind.string : .number
        throw Self.inexact(String(decoding: text, as: UTF8.self).shortened(to: 60), field, kind, advised)
    }

    /// The error of a number whose digits a field does not have.
    ///
    /// - Parameters:
    ///   - number: its text.
    ///   - field: the field's name.
    ///   - kind: the kind that is given.
    ///   - advised: the kind of values that have the digits.
    /// - Returns: the error, with the option that helps.
    static func inexact(
        _ number: String, _ field: String, _ kind: ItemFieldKind = .real, _ advised: ItemFieldKind = .number
    ) -> StoreError {
        let advice = OptionWords.kind(advised.rawValue, of: field)
        let given = kind.rawValue.withArticle
        return StoreError(
            .invalidValue(field: field),
            "\(field) takes \(given), and none is \(number) exactly: a field that is not declared as \(given) has all digits by \(advice)"
        )
    }

    private func otherValue(_ text: UnsafeBufferPointer<UInt8>) -> PropertyListValue? {
        // The last format has the sign before decimals alone. With an exponent it is a real that has all digits.
        if kind == .number, case .real(let style)? = rest.last, let wide = style.whole(text) {
            if DecimalText.hasExponent(text), let real = DecimalText.real(text),
                DecimalText.hasAllDigits(real, of: text)
            {
                return .real(real)
            }
            return Int64(exactly: wide).map { .integer($0) } ?? .wideInteger(wide)
        }
        for format in rest {
            if let value = format.value(of: text) { return value }
        }
        return nil
    }

    /// The error of a text that is not of the kind.
    func error(_ text: UnsafeBufferPointer<UInt8>, _ field: String) -> StoreError {
        let wanted =
            switch kind {
            case .integer, .real, .number: kind.one.withArticle
            case .boolean: "true or false"
            case .date:
                switch format {
                case .day(let style?), .moment(let style?):
                    "a date as \(style.pattern)\(rest.isEmpty ? "" : ", or in ISO 8601")"
                default: "a date in ISO 8601"
                }
            case .string: "a text in UTF-8"
            }
        return FieldValidation.error(field, wanted, .string(String(decoding: text, as: UTF8.self)))
    }

    /// The advice for text that is not UTF-8.
    static var encodingAdvice: String { "give its encoding, such as \(OptionWords.option("encoding", "windows-1252"))" }
}

extension ItemFieldKind {
    /// The kind of a column's cells.
    init(_ kind: CellKind) { self = ItemFieldKind(rawValue: kind.rawValue) ?? .string }

    /// A value of the kind in messages, without its article.
    fileprivate var one: String {
        switch self {
        case .string: "text"
        case .real, .number: "number"
        case .integer, .boolean, .date: rawValue
        }
    }
}
