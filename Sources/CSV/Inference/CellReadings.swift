import PropertyList

/// The ways in which a cell's text can be read as a value, so that the value has this text alone.
///
/// A column has a kind if all of its cells have one way in common: no two different texts become the same value then.
struct CellReadings: OptionSet {
    let rawValue: UInt32

    // MARK: Numbers as programs write them

    /// No leading zeros and no signed zero: `7`, `-12`.
    static let integer = CellReadings(rawValue: 1)
    /// No redundant zeros: `5.875`, `13`.
    static let decimal = CellReadings(rawValue: 2)
    /// At least one digit after the point: `5.875`, `13.0`, `0.0`.
    static let float = CellReadings(rawValue: 4)
    /// The same, with zero as `0`.
    static let floatWithBareZero = CellReadings(rawValue: 8)
    /// A number of digits after the point that is the column's: `1.50`, `10.00`.
    static let fixed = CellReadings(rawValue: 1 << 4)

    // MARK: Numbers as people write them

    /// Commas between thousands, and a point: `1,622`, `0.5`; no redundant zeros.
    static let grouped = CellReadings(rawValue: 1 << 5)
    /// The same with the column's number of digits after the point: `1,622.00`.
    static let groupedFixed = CellReadings(rawValue: 1 << 6)
    /// A comma before the decimals: `12,5`, `1234`; no redundant zeros.
    static let comma = CellReadings(rawValue: 1 << 7)
    /// `12,50`.
    static let commaFixed = CellReadings(rawValue: 1 << 8)
    /// Points between thousands, and a comma: `1.234,5`.
    static let commaGrouped = CellReadings(rawValue: 1 << 9)
    /// `1.234,50`.
    static let commaGroupedFixed = CellReadings(rawValue: 1 << 10)
    /// At least one digit after the comma: `5,875`, `13,0`.
    static let commaFloat = CellReadings(rawValue: 1 << 27)

    // MARK: Booleans

    /// `true` and `false`.
    static let boolean = CellReadings(rawValue: 1 << 11)
    /// The other pairs of words, in the order of ``BooleanWords``.
    static func words(_ words: BooleanWords) -> CellReadings {
        CellReadings(rawValue: 1 << (11 + UInt32(words.rawValue)))
    }

    // MARK: Dates

    /// `1906-10-17`.
    static let day = CellReadings(rawValue: 1 << 20)
    /// `1906-10-17T09:30:00Z`, with the digits that identify the date; other years as `+012026-01-01T00:00:00Z`.
    static let moment = CellReadings(rawValue: 1 << 21)
    /// `17.10.1906`: the signs and the time are the column's.
    static let dayFirst = CellReadings(rawValue: 1 << 22)
    /// `10/17/1906`.
    static let monthFirst = CellReadings(rawValue: 1 << 23)
    /// `1906/10/17`.
    static let yearFirst = CellReadings(rawValue: 1 << 24)
    /// Days and months have two digits.
    static let padded = CellReadings(rawValue: 1 << 25)
    /// Days and months have no leading zero.
    static let unpadded = CellReadings(rawValue: 1 << 26)

    // In numbers, so that they are constants and not made at their first use.
    static let plainReals = CellReadings(rawValue: 0b1110)
    static let fixedPoints = CellReadings(rawValue: 0b101_0000)
    static let points = CellReadings(rawValue: 0b111_0000)
    static let fixedCommas = CellReadings(rawValue: 0b101_0000_0000)
    static let commas = CellReadings(rawValue: 1 << 27 | 0b111_1000_0000)
    static let numbers = CellReadings(rawValue: 1 << 27 | 0b111_1111_1111)
    static let orders = CellReadings(rawValue: 0b111 << 22)
    static let paddings = CellReadings(rawValue: 0b11 << 25)
    static let patterns = CellReadings(rawValue: 0b11111 << 22)
    static let dates = CellReadings(rawValue: 0b1111111 << 20)
    static let booleans = BooleanWords.allCases.reduce(into: CellReadings.boolean) { $0.formUnion(.words($1)) }
    static let all: CellReadings = [.numbers, .booleans, .dates]

    private static let points3 = CellReadings(rawValue: 0b10_1010_0000)

    /// The readings of up to fifteen digits without a leading zero; nil for another text, and for a zero.
    @inline(__always)
    static func plainWhole(_ text: UnsafeBufferPointer<UInt8>) -> CellReadings? {
        guard 1...15 ~= text.count, text[0] != 0x30 else { return nil }
        for byte in text where !byte.isDigit { return nil }
        return text.count <= 3 ? plainShort : plainLong
    }

    private static let plainShort = CellReadings(rawValue: 0b10_1010_0011)
    private static let plainLong = CellReadings(rawValue: 0b1000_0011)

    /// Readings of an integer in all styles.
    static func whole(_ digits: Int) -> CellReadings { digits <= 3 ? points3 : .comma }
}

/// What a text is by its characters alone: its readings, and what all texts of a column have to share.
struct CellFacts {
    var readings: CellReadings = []
    /// The digits behind the point, and behind the comma.
    var decimals: UInt8 = 0
    var commaDecimals: UInt8 = 0
    /// The sign before the decimals, if the text alone shows it: one sign before three digits may be between thousands.
    var decimal: NumberStyle.Decimal?
    /// The sign of a currency or of percents.
    var affix = NumberAffix.none
    /// The signs and the time of a date.
    var shape = DateShape()

    init() {}

    /// - Complexity: linear in the text; allocates only for reals of more than fifteen digits.
    @inline(__always)
    init(_ text: UnsafeBufferPointer<UInt8>) {
        guard let first = text.first else {
            self.init()
            return
        }
        if first &- 0x30 < 10 || first == UInt8(ascii: "-") {
            self.init(number: text)
        } else {
            self.init(other: text, first)
        }
    }

    /// A text that begins with a digit or a minus.
    private init(number text: UnsafeBufferPointer<UInt8>) {
        let start = text[0] == UInt8(ascii: "-") ? 1 : 0
        var end = start
        while end < text.count, text[end].isDigit { end += 1 }
        let digits = end - start
        let isZero = digits == 1 && text[start] == 0x30
        guard end < text.count else {
            if digits == 0 || text[start] == 0x30 && !isZero { return }
            readings = Self.whole(text, digits, isZero: isZero, isNegative: start > 0)
            return
        }
        if start == 0, digits == 1 || digits == 2 || digits == 4, text.count >= 8, dates(text, digits) { return }
        if start == 1 || text[0] == UInt8(ascii: "+"), text.count > 20 { longYear(text) }
        guard digits > 0, text[start] != 0x30 || isZero else { return }
        if text[end] == UInt8(ascii: "."), point(text, start, end, isZero) { return }
        styled(text)
    }

    /// A text that begins with another character: a boolean, an amount of money, a date of a far year.
    private init(other text: UnsafeBufferPointer<UInt8>, _ first: UInt8) {
        if first == UInt8(ascii: "+") {
            longYear(text)
        } else if let words = BooleanWords.of(text) {
            readings = words == .trueFalse ? .boolean : .words(words)
        } else {
            styled(text)
        }
    }

    private static func whole(
        _ text: UnsafeBufferPointer<UInt8>, _ digits: Int, isZero: Bool, isNegative: Bool
    ) -> CellReadings {
        if isZero { return isNegative ? [] : [.integer, .decimal, .floatWithBareZero, .whole(1)] }
        if digits <= 15 { return [.integer, .decimal, .whole(digits)] }
        return DecimalText.integer(text) == nil ? [] : .integer
    }

    /// Digits, a point and digits; false for what is behind other characters.
    private mutating func point(_ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int, _ isZero: Bool) -> Bool {
        var hasValue = !isZero
        var index = end + 1
        while index < text.count, text[index].isDigit {
            if text[index] != 0x30 { hasValue = true }
            index += 1
        }
        guard index == text.count, index > end + 1 else { return false }
        let (whole, count) = (end - start, index - end - 1)
        if count != 3 || whole > 3 || isZero { decimal = .point }
        let endsInZero = text[index - 1] == 0x30
        guard hasValue || start == 0 else { return true }
        if whole + count > 15 {
            // Reals preserve fifteen decimal digits.
            decimals = UInt8(clamping: count)
            if !endsInZero, Self.isShortest(text) { readings = .plainReals }
            return true
        }
        // 13.0 ends in a single zero; 13.00 and 2006.10 are not the only texts for their values.
        if !hasValue {
            if count == 1 { readings = .float }
        } else if !endsInZero {
            readings = .plainReals
        } else if count == 1 {
            readings = [.float, .floatWithBareZero]
        }
        readings.formUnion(whole <= 3 ? .fixedPoints : .fixed)
        decimals = UInt8(count)
        if whole <= 3 {
            if !endsInZero { readings.insert(.grouped) }
            if count == 3, !isZero { readings.insert(.commaGrouped) }
        }
        return true
    }

    /// Whether a real's text equals Swift's output.
    private static func isShortest(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count <= 24, let value = DecimalText.general(text) else { return false }
        return text.elementsEqual(value.description.utf8)
    }

    /// A date beyond the years 0 to 9999.
    private mutating func longYear(_ text: UnsafeBufferPointer<UInt8>) {
        guard text.count < 400, text.count > 8, text[7] == UInt8(ascii: "-"),
            let date = ISO8601.parse(String(decoding: text, as: UTF8.self)),
            text.elementsEqual(date.exchangeText.utf8)
        else { return }
        readings = .moment
    }

    /// A date; false for another text.
    private mutating func dates(_ text: UnsafeBufferPointer<UInt8>, _ digits: Int) -> Bool {
        if digits == 4, text[4] == UInt8(ascii: "-"), text.count >= 10, DateText.date(text) != nil {
            readings = text.count == 10 ? .day : .moment
            return true
        }
        guard let date = DateShape.Parts(text) else { return false }
        (readings, shape) = (date.readings, date.shape)
        return true
    }

    /// A number with signs or groups.
    private mutating func styled(_ text: UnsafeBufferPointer<UInt8>) {
        guard text.count <= 64, let number = StyledNumber(text) else { return }
        (readings, decimals, commaDecimals) = (number.readings, number.decimals, number.commaDecimals)
        (decimal, affix) = (number.decimal, number.affix)
    }
}

/// A number as people write it: with a sign of a currency, with thousands in groups.
struct StyledNumber {
    private(set) var readings: CellReadings = []
    private(set) var decimals: UInt8 = 0
    private(set) var commaDecimals: UInt8 = 0
    private(set) var decimal: NumberStyle.Decimal?
    private(set) var affix = NumberAffix.none

    init?(_ text: UnsafeBufferPointer<UInt8>) {
        guard let (range, affix, isNegative) = NumberAffix.core(of: text), affix != .none || text.count <= 24 else {
            return nil
        }
        self.affix = affix
        guard read(UnsafeBufferPointer(rebasing: text[range]), isNegative: isNegative) else { return nil }
    }

    private mutating func read(_ core: UnsafeBufferPointer<UInt8>, isNegative: Bool) -> Bool {
        var lengths = [0]
        var separators: [UInt8] = []
        var (digits, hasValue) = (0, false)
        for byte in core {
            if byte.isDigit {
                lengths[lengths.count - 1] += 1
                digits += 1
                if byte != 0x30 { hasValue = true }
            } else if byte == UInt8(ascii: ",") || byte == UInt8(ascii: ".") {
                separators.append(byte)
                lengths.append(0)
            } else {
                return false
            }
        }
        guard digits > 0, digits <= 15, let first = lengths.first, first > 0, hasValue || !isNegative else {
            return false
        }
        let isZero = first == 1 && core[0] == 0x30
        if core[0] == 0x30, !isZero { return false }
        guard let last = lengths.last, let separator = separators.last else {
            // Only with a sign: a number without one is plain.
            readings = [.integer, .decimal, .whole(first)]
            return true
        }
        let endsInZero = core[core.count - 1] == 0x30
        let groups = lengths.dropFirst()
        let isGrouping = first <= 3 && !isZero && groups.allSatisfy { $0 == 3 }
        let isComma = separator == UInt8(ascii: ",")
        if separators.allSatisfy({ $0 == separator }) {
            if separators.count == 1 {
                guard last > 0 else { return false }
                add(separator, last, isShort: first <= 3, isGrouped: false, endsInZero)
                if last != 3 || first > 3 || isZero { decimal = isComma ? .comma : .point }
            } else {
                decimal = isComma ? .point : .comma
            }
            // Thousands alone.
            if isGrouping { readings.insert(isComma ? .grouped : .commaGrouped) }
            return !readings.isEmpty
        }
        // Groups, then the decimals behind the other sign.
        let leading = Set(separators.dropLast())
        guard leading.count == 1, !leading.contains(separator), last > 0, first <= 3, !isZero,
            groups.dropLast().allSatisfy({ $0 == 3 })
        else { return false }
        add(separator, last, isShort: true, isGrouped: true, endsInZero)
        decimal = isComma ? .comma : .point
        return true
    }

    /// Adds the readings of a number with decimals.
    private mutating func add(_ separator: UInt8, _ count: Int, isShort: Bool, isGrouped: Bool, _ endsInZero: Bool) {
        if separator == UInt8(ascii: ",") {
            commaDecimals = UInt8(count)
            if !isGrouped {
                readings.formUnion(endsInZero ? .commaFixed : [.comma, .commaFixed])
                if !endsInZero || count == 1 { readings.insert(.commaFloat) }
            }
            if isShort { readings.formUnion(endsInZero ? .commaGroupedFixed : [.commaGrouped, .commaGroupedFixed]) }
        } else {
            decimals = UInt8(count)
            if !isGrouped { readings.formUnion(endsInZero ? .fixed : [.fixed, .decimal]) }
            if isShort { readings.formUnion(endsInZero ? .groupedFixed : [.grouped, .groupedFixed]) }
        }
    }
}

extension UInt8 {
    @inline(__always)
    var isDigit: Bool { self &- 0x30 < 10 }
}
