import ColumnEngine
import PropertyList

/// A target kind for the texts of a file, and for ``ItemStore/convert(_:to:)``.
package enum ItemFieldKind: String, Sendable, CaseIterable {
    /// Text, unchanged; numbers and booleans as printed, dates in ISO 8601.
    case string
    /// A 64-bit integer in decimal digits; booleans are 1 and 0.
    case integer
    /// A finite floating-point number.
    case real
    /// An integer where the text is one, else a real.
    case number
    /// `true` or `false`, 1 or 0.
    case boolean
    /// A date in ISO 8601.
    case date
}

extension ItemFieldKind {
    /// Converts a value. Blank text becomes no value, `.some(nil)`. Nil if the value cannot be converted.
    func converted(_ value: PropertyListValue) -> PropertyListValue?? {
        if self != .string, case .string(let text) = value {
            let trimmed = text.filter { !$0.isWhitespace }
            return trimmed.isEmpty ? .some(nil) : parse(text).map { .some($0) }
        }
        return convert(value).map { .some($0) }
    }

    private func parse(_ text: String) -> PropertyListValue? {
        let text = String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        switch self {
        case .integer:
            if let integer = Int64(text) { return .integer(integer) }
            return real(text).flatMap { Int64(exactly: $0) }.map { .integer($0) }
        case .real: return real(text).map { .real($0) }
        case .number:
            if let number = Int128(text) { return Int64(exactly: number).map { .integer($0) } ?? .wideInteger(number) }
            return real(text).map { .real($0) }
        case .date: return ISO8601.parse(text).map { .date($0) }
        case .boolean:
            switch text.lowercased() {
            case "true": return .boolean(true)
            case "false": return .boolean(false)
            default: return nil
            }
        case .string: return .string(text)
        }
    }

    /// A decimal number. `Double` would also accept hexadecimal ones.
    private func real(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ ("0"..."9").contains(Character(UnicodeScalar($0))) || "+-.eE".utf8.contains($0) }),
            let number = Double(text), number.isFinite
        else { return nil }
        return number
    }

    private func convert(_ value: PropertyListValue) -> PropertyListValue? {
        switch (self, value) {
        case (.integer, .integer), (.real, .real), (.date, .date), (.boolean, .boolean), (.string, .string): value
        case (.number, .integer), (.number, .wideInteger), (.number, .real), (.number, .single): value
        case (.integer, .boolean(let value)), (.number, .boolean(let value)): .integer(value ? 1 : 0)
        case (.integer, .real(let number)): Int64(exactly: number).map { .integer($0) }
        case (.integer, .single(let number)): Int64(exactly: number).map { .integer($0) }
        case (.real, .integer(let integer)): Double(exactly: integer).map { .real($0) }
        case (.real, .single(let number)): .real(Double(number))
        case (.boolean, .integer(let integer)) where 0...1 ~= integer: .boolean(integer == 1)
        case (.string, .integer(let integer)): .string(String(integer))
        case (.string, .real(let number)): .string("\(number)")
        case (.string, .single(let number)): .string("\(number)")
        case (.string, .boolean(let value)): .string(value ? "true" : "false")
        case (.string, .date(let date)): .string(date.exchangeText)
        default: nil
        }
    }
}

extension ItemStore {
    /// Converts a custom field's values; if one cannot be converted, none is. Blank text becomes no value. O(n).
    ///
    /// - Parameters:
    ///   - name: the field.
    ///   - kind: the new kind of values.
    /// - Returns: the number of items whose value changed.
    /// - Throws: `StoreError`: `unknownField`; `readOnlyField` for a field of the domain, whose kind is fixed, and for
    ///   one that is declared of another kind;
    ///   `invalidValue`, naming the first value that cannot be converted and its item.
    @discardableResult
    package func convert(_ name: String, to kind: ItemFieldKind) throws -> Int {
        let field = try columns.queriedField(name)
        if !columns.isCustom(field) {
            throw StoreError(.readOnlyField(field: name), "\(name) is a field of every item: its kind cannot change")
        }
        if let declared = columns.declaration(of: field)?.kind, declared != .any, declared.rawValue != kind.rawValue,
            declared != .number || ![.integer, .real].contains(kind)
        {
            throw StoreError(
                .readOnlyField(field: name),
                "\(name) is declared as \(declared.named): declare it anew to change its kind")
        }
        let count = try query().changeEach { row in
            let cell = columns.cell(row, field)
            guard !cell.isAbsent, let value = columns.value(cell) else { return false }
            guard let converted = kind.converted(value) else {
                throw StoreError(
                    .invalidValue(field: name),
                    "\(name) of the item \(columns.keyString(row)) is \(FieldValidation.describe(value)), "
                        + "which is not \(kind.rawValue.withArticle): nothing was converted")
            }
            if converted == value { return false }
            try set(row, field, converted)
            return true
        }
        columns.recountKinds(field)
        return count
    }
}
