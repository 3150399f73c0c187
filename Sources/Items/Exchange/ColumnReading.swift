import CSV
import ColumnEngine
import PropertyList

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

    /// A kind that is given; the texts may be in any of its usual forms.
    ///
    /// - Parameters:
    ///   - kind: the kind.
    ///   - inferred: the form that all cells of the column show, if it is known.
    ///   - date: the pattern of dates, tried first.
    ///   - decimal: the sign before decimals.
    init(
        _ kind: ItemFieldKind, inferred: CellFormat? = nil, date: DateStyle? = nil,
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
            if let date { formats = [.moment(date)] }
            if let inferred, inferred.kind == .date { formats.append(inferred) }
            formats.append(.moment(nil))
        }
        (format, rest) = (formats.first ?? .text, Array(formats.dropFirst()))
    }

    /// The value of a text; nil for one that is not of the kind.
    @inline(__always)
    func value(_ text: UnsafeBufferPointer<UInt8>) -> PropertyListValue? {
        format.value(of: text) ?? otherValue(text)
    }

    /// The value of a text, with all of its digits; nil for one that is not of the kind.
    ///
    /// - Throws: `invalidValue` for a whole number in a column of reals that no real is: from 2^53 on most are not.
    @inline(__always)
    func exactValue(_ text: UnsafeBufferPointer<UInt8>, _ field: String) throws(StoreError) -> PropertyListValue? {
        let value = value(text)
        if isGiven, case .real(let real)? = value, real.magnitude >= 0x1p53 { try check(real, text, field) }
        return value
    }

    private func check(_ real: Double, _ text: UnsafeBufferPointer<UInt8>, _ field: String) throws(StoreError) {
        // What is in groups, or has another form, has fewer digits.
        guard text.dropFirst().allSatisfy({ 0x30...0x39 ~= $0 }) else { return }
        let digits = String(decoding: text, as: UTF8.self)
        guard Int128(digits).map({ Int128(exactly: real) != $0 }) ?? true else { return }
        throw Self.inexact(digits.shortened(to: 60), field)
    }

    /// The error of a whole number that no real is.
    static func inexact(_ number: String, _ field: String) -> StoreError {
        let advice = OptionWords.choose(
            "types = { [\(field.quoted())] = \"number\" }", "--types \(OptionWords.argument("\(field)=number"))",
            json: "\"types\": {\(field.quoted()): \"number\"}")
        return StoreError(
            .invalidValue(field: field),
            "\(field) takes a real, and none is \(number) exactly: a field that is not declared as a real has all digits by \(advice)"
        )
    }

    private func otherValue(_ text: UnsafeBufferPointer<UInt8>) -> PropertyListValue? {
        if kind == .number, 19...40 ~= text.count, let wide = Int128(String(decoding: text, as: UTF8.self)) {
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
            case .integer: "an integer"
            case .real, .number: "a number"
            case .boolean: "true or false"
            case .date: "a date in ISO 8601"
            case .string: "a text in UTF-8"
            }
        return FieldValidation.error(field, wanted, .string(String(decoding: text, as: UTF8.self)))
    }

    /// The advice for text that is not UTF-8.
    static var encodingAdvice: String { "give its encoding, such as \(OptionWords.option("encoding", "windows-1252"))" }
}

extension ItemFieldKind {
    /// The kind of a column's cells.
    init(_ kind: CellKind) {
        self =
            switch kind {
            case .string: .string
            case .integer: .integer
            case .real: .real
            case .boolean: .boolean
            case .date: .date
            }
    }

    /// The values of the kind in messages.
    var plural: String {
        switch self {
        case .string: "texts"
        case .integer: "integers"
        case .real, .number: "numbers"
        case .boolean: "booleans"
        case .date: "dates"
        }
    }
}
