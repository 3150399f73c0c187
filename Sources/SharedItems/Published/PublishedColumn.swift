import ColumnEngine
import Files
import PropertyList

/// A column of a published table, which has the values of one field.
package struct PublishedColumn: Sendable, Hashable {
    /// The field's name.
    package let field: String
    /// The column's name: the field's, unless the table has another column of that name or PostgreSQL cannot have it.
    package let name: String
    let type: PublishedType?
}

/// The type of a column; the raw value is PostgreSQL's name of it.
enum PublishedType: String, Sendable {
    case text, bigint, numeric, boolean, bytea, jsonb
    case double = "double precision"
    case day = "date"
    case moment = "timestamptz"
}

extension PublishedColumn {
    /// The columns that each table has, and those that PostgreSQL has in all tables.
    private static let reserved: Set<String> = [
        "key", "fields", "escaped", "rank", "revision", "tableoid", "xmin", "cmin", "xmax", "cmax", "ctid",
    ]
    /// PostgreSQL's limit of a name in bytes.
    static let nameLimit = 63

    /// A column for each field that every item has, then for each declared one. Of the columns that the table has, those of
    /// the same field and type stay.
    static func all(
        _ schema: ItemSchema, _ declarations: FieldDeclarations, keeping former: [PublishedColumn] = []
    ) -> [PublishedColumn] {
        var types: [(field: String, type: PublishedType)] = schema.fields.map {
            ($0.name, PublishedType($0.kind.kind, declarations[$0.name]?.format))
        }
        for declared in declarations.all where !declared.isFree && !schema.has(declared.name) {
            types.append((declared.name, PublishedType(declared)))
        }
        let retained = types.map { wanted in former.first { $0.field == wanted.field && $0.type == wanted.type } }
        var names = NameSet(reserved).union(retained.compactMap { $0?.name })
        return zip(types, retained).map { wanted, retained in
            if let retained { return retained }
            let name = unused(PublishedText.name(wanted.field), names)
            names.insert(name)
            return PublishedColumn(field: wanted.field, name: name, type: wanted.type)
        }
    }

    private static func unused(_ name: String, _ names: NameSet) -> String {
        var candidate = shortened(name, to: nameLimit)
        var number = 1
        while names.contains(candidate) {
            number += 1
            candidate = shortened(name, to: nameLimit - 8) + "_\(number)"
        }
        return candidate
    }

    /// The beginning of a name, as far as it has so many bytes.
    static func shortened(_ name: String, to limit: Int) -> String {
        if name.utf8.count <= limit { return name }
        var result = String.UnicodeScalarView()
        var count = 0
        for scalar in name.unicodeScalars {
            count += UTF8.width(scalar)
            if count > limit { break }
            result.append(scalar)
        }
        return String(result)
    }
}

extension PublishedType {
    /// The type for a field of every item.
    init(_ kind: FieldKind, _ format: FieldDeclaration.Format?) {
        self =
            switch kind {
            case .text: .text
            case .integer: format == .money ? .numeric : .bigint
            case .date: format == .day ? .day : .moment
            case .mixed: .jsonb
            }
    }

    /// The type for what is declared of a field.
    init(_ declaration: FieldDeclaration) {
        self =
            switch declaration.kind {
            case .string: .text
            case .integer: declaration.format == .money ? .numeric : .bigint
            case .real: declaration.format == .money ? .numeric : .double
            // Of a double precision column large integers would be other ones.
            case .number: .numeric
            case .boolean: .boolean
            case .date: declaration.format == .day ? .day : .moment
            case .data: .bytea
            case .array, .dictionary, .any: .jsonb
            }
    }

    /// A value as PostgreSQL reads it for a column of the type; nil if the column cannot have it. It is not asked for columns
    /// of `jsonb`.
    func text(of value: PropertyListValue) -> String? {
        switch (self, value) {
        case (.text, .string(let text)): text
        case (.bigint, .integer(let number)): "\(number)"
        case (.bigint, .wideInteger(let number)): Int64(exactly: number).map { "\($0)" }
        case (.bigint, .real(let number)): Int64(exactly: number).map { "\($0)" }
        case (.double, .real(let number)): Self.text(number)
        case (.double, .single(let number)): Self.text(Double(number))
        case (.double, .integer(let number)): Double(exactly: number).map(Self.text)
        case (.double, .wideInteger(let number)): Double(exactly: number).map(Self.text)
        case (.numeric, .integer(let number)): "\(number)"
        case (.numeric, .wideInteger(let number)): "\(number)"
        // PostgreSQL 13 has no infinite ones.
        case (.numeric, .real(let number)): number.isInfinite ? nil : number.isNaN ? "NaN" : "\(number)"
        case (.numeric, .single(let number)): number.isInfinite ? nil : number.isNaN ? "NaN" : "\(number)"
        case (.boolean, .boolean(let flag)): flag ? "true" : "false"
        case (.day, .date(let date)): Self.day(date)
        case (.moment, .date(let date)): Self.moment(date)
        case (.bytea, .data(let bytes)): "\\x" + bytes.hexadecimal
        default: nil
        }
    }

    private static func text(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        return "\(number)"
    }

    /// The years that PostgreSQL has in full.
    private static let years = -4711...294_275

    /// A date with microseconds, which is what PostgreSQL has.
    private static func moment(_ date: PropertyListDate) -> String? {
        guard var seconds = date.wholeSecondsSince1970 else { return nil }
        let second = date.secondsSinceReferenceDate
        var microseconds = Int(((second - second.rounded(.down)) * 1_000_000).rounded())
        if microseconds == 1_000_000 { (seconds, microseconds) = (seconds + 1, 0) }
        let parts = CalendarDate(localSeconds: seconds)
        guard let day = day(parts) else { return nil }
        let time = "\(padded(parts.hour, 2)):\(padded(parts.minute, 2)):\(padded(parts.second, 2))"
        return "\(day.text) \(time).\(padded(microseconds, 6))+00\(day.era)"
    }

    /// A date at midnight in UTC.
    private static func day(_ date: PropertyListDate) -> String? {
        guard date.secondsSinceReferenceDate == date.secondsSinceReferenceDate.rounded(),
            let parts = CalendarDate(date), parts.hour == 0, parts.minute == 0, parts.second == 0
        else { return nil }
        return day(parts).map { $0.text + $0.era }
    }

    private static func day(_ parts: CalendarDate) -> (text: String, era: String)? {
        guard years.contains(parts.year) else { return nil }
        // The year before 1 is 1 BC.
        let year = parts.year > 0 ? parts.year : 1 - parts.year
        return (
            "\(padded(year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2))", parts.year > 0 ? "" : " BC"
        )
    }

    private static func padded(_ number: Int, _ length: Int) -> String {
        let digits = String(number)
        let missing = length - digits.utf8.count
        return missing > 0 ? String(repeating: "0", count: missing) + digits : digits
    }
}
