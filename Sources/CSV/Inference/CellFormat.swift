package import PropertyList

/// The kinds of values that a column's texts can be; the names are those of fields.
package enum CellKind: String, Sendable, CaseIterable {
    case string, integer, real, boolean, date
}

/// How a column's texts are read.
package enum CellFormat: Hashable, Sendable {
    case text
    case integer(NumberStyle)
    case real(NumberStyle)
    case boolean(BooleanWords)
    /// A date without a time; nil for `2024-01-31`.
    case day(DateStyle?)
    /// A date with a time, in UTC; nil for `2024-01-31T10:00:00Z`.
    case moment(DateStyle?)

    /// The format of dates in a style.
    package init(_ style: DateStyle) { self = style.hasTime ? .moment(style) : .day(style) }

    package var kind: CellKind {
        switch self {
        case .text: .string
        case .integer: .integer
        case .real: .real
        case .boolean: .boolean
        case .day, .moment: .date
        }
    }

    /// The value of a text; nil for a text that is not of the format.
    package func value(of text: UnsafeBufferPointer<UInt8>) -> PropertyListValue? {
        switch self {
        case .text: String(validating: text, as: UTF8.self).map { .string($0) }
        case .integer(let style): style.integer(text).map { .integer($0) }
        case .real(let style): style.real(text).map { .real($0) }
        case .boolean(let words): words.value(of: text).map { .boolean($0) }
        case .day(nil): text.count == 10 ? DateText.date(text).map { .date($0) } : nil
        case .moment(nil):
            (DateText.date(text) ?? ISO8601.parse(String(decoding: text, as: UTF8.self))).map { .date($0) }
        case .day(let style?), .moment(let style?): style.date(text).map { .date($0) }
        }
    }
}

extension CellFormat {
    /// Whether a text reads as a value, and in no style as another one: the text and the value differ in kind alone.
    package static func reads(_ text: UnsafeBufferPointer<UInt8>, as value: PropertyListValue) -> Bool {
        switch value {
        case .integer(let integer) where DecimalText.integer(text) == integer: return true
        case .wideInteger(let integer): return String(integer).utf8.elementsEqual(text)
        case .single(let number): return reads(text, as: .real(Double(number)))
        case .integer, .real:
            let numbers = NumberStyle.Decimal.allCases.compactMap { NumberStyle.given($0).real(text) }
            return !numbers.isEmpty
                && numbers.allSatisfy { number in
                    value == .real(number) || Int64(exactly: number).map { value == .integer($0) } ?? false
                }
        case .boolean(let flag): return BooleanWords.any.value(of: text) == flag
        case .date(let date):
            return CellFormat.moment(nil).value(of: text) == value || DateStyle.reads(text, as: date)
        case .data(let bytes): return Base64.isValid(text) && Base64.decode(text) == bytes
        case .array, .set, .dictionary, .utf16, .uid:
            return (try? PropertyListValue(json: Array(text)))?.hasSameJSON(as: value) ?? false
        case .string, .null: return false
        }
    }
}

extension PropertyListValue {
    /// Whether exports write both values alike: in JSON dates and data are texts, and a whole number has one kind.
    package func hasSameJSON(as other: PropertyListValue) -> Bool {
        guard let json = try? json() else { return false }
        return json == (try? other.json())
    }
}

/// How a column writes numbers.
package struct NumberStyle: Hashable, Sendable {
    /// The sign before the decimals.
    package enum Decimal: String, Sendable, CaseIterable { case point, comma }

    package var decimal = Decimal.point
    /// Whether the other sign is between thousands.
    package var isGrouped = false
    /// The digits behind the decimal sign, if all numbers have as many.
    package var decimals: Int?
    package var affix = NumberAffix.none
    /// Whether any sign is taken, or none: for columns whose kind was given.
    package var takesAnyAffix = false

    package init(decimal: Decimal = .point, isGrouped: Bool = false, decimals: Int? = nil, affix: NumberAffix = .none) {
        (self.decimal, self.isGrouped, self.decimals, self.affix) = (decimal, isGrouped, decimals, affix)
    }

    /// The style of a column whose kind was given: groups and signs are taken off, and may be absent.
    package static func given(_ decimal: Decimal) -> NumberStyle {
        var style = NumberStyle(decimal: decimal, isGrouped: true)
        style.takesAnyAffix = true
        return style
    }

    private var isPlain: Bool { decimal == .point && !isGrouped && affix == .none && !takesAnyAffix }

    /// The integer of a text; nil for another one.
    package func integer(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        if isPlain || takesAnyAffix, let integer = DecimalText.integer(text) { return integer }
        return whole(text).flatMap(Int64.init(exactly:))
    }

    /// The integer of a text, of up to 128 bits; nil for another one. It is read from the digits: a real of them may be
    /// whole, or another number, where they are not.
    package func whole(_ text: UnsafeBufferPointer<UInt8>) -> Int128? {
        if isPlain { return DecimalText.whole(text) }
        // Without a point the digits are the same in all styles.
        if takesAnyAffix, decimal == .point || text.dropFirst().allSatisfy(\.isDigit),
            let whole = DecimalText.whole(text)
        {
            return whole
        }
        // Of so few digits a real has all; no integer is -0.
        return styled(text).flatMap { $0 == 0 && $0.sign == .minus ? nil : Int128(exactly: $0) }
    }

    /// The real of a text; nil for another one.
    package func real(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        if isPlain { return DecimalText.real(text) }
        if takesAnyAffix, decimal == .point, let plain = DecimalText.real(text) { return plain }
        return styled(text)
    }

    /// The number of at most fifteen digits in the style; nil for another text.
    private func styled(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        // A plus sign, which no other program needs.
        if takesAnyAffix, text.first == UInt8(ascii: "+"), text.count > 1, text[1].isDigit {
            return styled(UnsafeBufferPointer(rebasing: text[1...]))
        }
        guard text.count <= 64, let (range, given, isNegative) = NumberAffix.core(of: text),
            takesAnyAffix || affix.common(with: given) != nil
        else {
            return nil
        }
        let sign = UInt8(ascii: decimal == .point ? "." : ",")
        let group = UInt8(ascii: decimal == .point ? "," : ".")
        var (mantissa, digits, fraction, isBehind, sinceGroup) = (Int64(0), 0, 0, false, -1)
        for byte in text[range] {
            if byte.isDigit {
                digits += 1
                guard digits <= 15 else { return nil }
                mantissa = mantissa &* 10 &+ Int64(byte &- 0x30)
                if isBehind { fraction += 1 } else if sinceGroup >= 0 { sinceGroup += 1 }
            } else if byte == sign, !isBehind, digits > 0 {
                if sinceGroup >= 0, sinceGroup != 3 { return nil }
                (isBehind, sinceGroup) = (true, -1)
            } else if byte == group, isGrouped, !isBehind, sinceGroup == 3 || sinceGroup < 0 && 1...3 ~= digits {
                sinceGroup = 0
            } else {
                return nil
            }
        }
        guard digits > 0, sinceGroup < 0 || sinceGroup == 3, !isBehind || fraction > 0 else { return nil }
        let value = DecimalText.real(mantissa, fraction: fraction)
        return isNegative ? -value : value
    }
}

/// What comes off a number: a sign of a currency or of percents. Where it is belongs to the style, since `$5` and `5 $`
/// are two texts.
package struct NumberAffix: Hashable, Sendable {
    package enum Sign: UInt8, Hashable, Sendable, CaseIterable {
        case none, dollar, euro, pound, yen, percent, usd, eur, gbp, chf

        /// The sign as texts have it.
        package var text: String {
            switch self {
            case .none: ""
            case .dollar: "$"
            case .euro: "€"
            case .pound: "£"
            case .yen: "¥"
            case .percent: "%"
            case .usd: "USD"
            case .eur: "EUR"
            case .gbp: "GBP"
            case .chf: "CHF"
            }
        }
    }

    package private(set) var sign = Sign.none
    private var isBehind = false
    /// The blanks between the sign and the number, two bits each.
    private var blanks: UInt64 = 0
    /// Whether the minus is behind the sign; nil without both.
    private var hasInnerMinus: Bool?

    package static let none = NumberAffix()

    /// The style of two numbers; nil if they have none in common. Without a minus a number fits both places of it.
    func common(with other: NumberAffix) -> NumberAffix? {
        var (one, two) = (self, other)
        one.hasInnerMinus = hasInnerMinus ?? other.hasInnerMinus
        two.hasInnerMinus = other.hasInnerMinus ?? hasInnerMinus
        return one == two ? one : nil
    }

    private mutating func add(blank: Int) { blanks = blanks << 2 | UInt64(blank + 1) }

    private static let signs: [(sign: Sign, bytes: [UInt8])] = Sign.allCases.dropFirst().map {
        ($0, Array($0.text.utf8))
    }

    /// The sign of a number.
    package static func sign(of text: UnsafeBufferPointer<UInt8>) -> Sign { core(of: text)?.1.sign ?? .none }

    /// The digits of a number without its sign, whether it is before or behind them: `-$12`, `12 €`, `45%`.
    static func core(of text: UnsafeBufferPointer<UInt8>) -> (Range<Int>, NumberAffix, isNegative: Bool)? {
        var (start, end) = (0, text.count)
        var isNegative = false
        var affix = NumberAffix.none
        func takesMinus() -> Bool {
            guard start < end, text[start] == UInt8(ascii: "-") else { return false }
            start += 1
            return true
        }
        isNegative = takesMinus()
        guard start < end else { return nil }
        if !text[start].isDigit {
            guard let sign = signs.first(where: { text[start..<end].starts(with: $0.bytes) }), sign.sign != .percent
            else {
                return nil
            }
            affix.sign = sign.sign
            start += sign.bytes.count
            while let blank = blanks.firstIndex(where: text[start..<end].starts) {
                affix.add(blank: blank)
                start += blanks[blank].count
            }
            if isNegative {
                affix.hasInnerMinus = false
            } else if takesMinus() {
                (isNegative, affix.hasInnerMinus) = (true, true)
            }
        } else if !text[end - 1].isDigit {
            guard let sign = signs.first(where: { text[start..<end].reversed().starts(with: $0.bytes.reversed()) })
            else {
                return nil
            }
            (affix.sign, affix.isBehind) = (sign.sign, true)
            end -= sign.bytes.count
            if let blank = blanks.firstIndex(where: { text[start..<end].suffix($0.count).elementsEqual($0) }) {
                affix.add(blank: blank)
                end -= blanks[blank].count
            }
        }
        guard start < end, text[start].isDigit, text[end - 1].isDigit else { return nil }
        return (start..<end, affix, isNegative)
    }

    /// A space, and those that do not break.
    private static let blanks = [" ", "\u{A0}", "\u{202F}"].map { Array($0.utf8) }
}

/// The words that a column has for true and false.
package enum BooleanWords: UInt8, Hashable, Sendable, CaseIterable {
    case trueFalse, capitalTrueFalse, upperTrueFalse, yesNo, capitalYesNo, upperYesNo
    /// Only where it is asked for: any of `yes`, `ja`, `oui`, `sí`, `1`, … and of their opposites, in any case.
    case any

    /// The two words, true's first.
    package var words: (yes: String, no: String) {
        switch self {
        case .trueFalse, .any: ("true", "false")
        case .capitalTrueFalse: ("True", "False")
        case .upperTrueFalse: ("TRUE", "FALSE")
        case .yesNo: ("yes", "no")
        case .capitalYesNo: ("Yes", "No")
        case .upperYesNo: ("YES", "NO")
        }
    }

    private static let yes: Set<String> = [
        "true", "yes", "y", "t", "1", "on", "ja", "j", "oui", "si", "sí", "sim", "x", "wahr",
    ]
    private static let no: Set<String> = ["false", "no", "n", "f", "0", "off", "nein", "non", "não", "nao", "falsch"]

    /// The value of a text; nil for another one.
    package func value(of text: UnsafeBufferPointer<UInt8>) -> Bool? {
        if self == .any {
            guard text.count <= 8 else { return nil }
            let word = String(decoding: text, as: UTF8.self).lowercased()
            return Self.yes.contains(word) ? true : Self.no.contains(word) ? false : nil
        }
        if text.elementsEqual(words.yes.utf8) { return true }
        return text.elementsEqual(words.no.utf8) ? false : nil
    }

    /// The words of which a text is one; nil for another text.
    static func of(_ text: UnsafeBufferPointer<UInt8>) -> BooleanWords? {
        guard 2...5 ~= text.count else { return nil }
        return allCases.first { $0 != .any && $0.value(of: text) != nil }
    }
}
