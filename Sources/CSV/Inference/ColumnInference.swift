import PropertyList

/// Finds out what a column's texts are, one cell after the other.
///
/// A column gets a kind if all of its cells are written in one style, so that no two different texts become the same value.
/// What could be read in two ways stays text and is said. Memory: some words a column.
package struct ColumnInference: Sendable {
    /// Whether further cells count: not after one that no style has.
    package private(set) var isOpen = true
    /// The cells with a text.
    package private(set) var count = 0
    /// The texts that stand for nothing in other programs, with their numbers, in a column that would have a kind without
    /// them: at most four.
    package private(set) var fillers: [(text: [UInt8], count: Int)] = []

    private var readings = CellReadings.all
    private var decimals: UInt8?
    private var commaDecimals: UInt8?
    /// Whether a number has decimals, if the sign before them is the point, or the comma.
    private var hasDecimals = false
    private var hasCommaDecimals = false
    /// The signs before decimals that cells show.
    private var decimalSigns: Set<NumberStyle.Decimal> = []
    private var affix: NumberAffix?
    private var shape: DateShape?
    /// The first cell, of numbers the first one with a point or a comma, for messages.
    private var example: [UInt8] = []
    /// The first number that is not in the column's style, in a column of numbers: one with an exponent, or with more
    /// digits than it needs. Empty for none.
    private var oddNumber: [UInt8] = []
    /// The first date that is not in the column's style, in a column of dates; empty for none.
    private var oddDate: [UInt8] = []
    /// The patterns that fit all such dates; none for those in ISO 8601.
    private var oddPatterns: [DateStyle] = []

    package init() {}

    /// Takes the next cell; an empty one has no influence.
    @inline(__always)
    package mutating func add(_ text: UnsafeBufferPointer<UInt8>) {
        guard isOpen, !text.isEmpty else { return }
        take(text)
    }

    private mutating func take(_ text: UnsafeBufferPointer<UInt8>) {
        count += 1
        // Most cells of numbers are plain.
        if affix == NumberAffix.none, let whole = CellReadings.plainWhole(text) {
            let common = readings.intersection(whole)
            if !common.isEmpty {
                readings = common
                return
            }
        }
        let facts = CellFacts(text)
        var common = readings.intersection(facts.readings)
        if !common.isDisjoint(with: .numbers) {
            if let affix, affix.common(with: facts.affix) == nil { common.subtract(.numbers) }
            if let decimals, decimals != facts.decimals { common.subtract(.fixedPoints) }
            if let commaDecimals, commaDecimals != facts.commaDecimals { common.subtract(.fixedCommas) }
        }
        if !common.isDisjoint(with: .patterns) {
            if let shape, shape != facts.shape { common.subtract(.patterns) }
            if common.isDisjoint(with: .orders) || common.isDisjoint(with: .paddings) { common.subtract(.patterns) }
        }
        guard !common.isEmpty else { return close(at: text, facts) }
        readings = common
        if example.isEmpty { example = Array(text) }
        if !common.isDisjoint(with: .numbers) {
            take(facts, text)
            if !common.isDisjoint(with: .fixedPoints) { decimals = facts.decimals }
            if !common.isDisjoint(with: .fixedCommas) { commaDecimals = facts.commaDecimals }
        }
        if !common.isDisjoint(with: .patterns) { shape = facts.shape }
    }

    /// Takes what a number shows of the column's signs.
    private mutating func take(_ facts: CellFacts, _ text: UnsafeBufferPointer<UInt8>) {
        affix = affix?.common(with: facts.affix) ?? affix ?? facts.affix
        if !hasDecimals, !hasCommaDecimals, facts.decimals + facts.commaDecimals > 0 { example = Array(text) }
        if facts.decimals > 0 { hasDecimals = true }
        if facts.commaDecimals > 0 { hasCommaDecimals = true }
        if let decimal = facts.decimal { decimalSigns.insert(decimal) }
    }

    /// Counts a text that stands for nothing; any other one ends the inference, unless it is a value in another style.
    private mutating func close(at text: UnsafeBufferPointer<UInt8>, _ facts: CellFacts) {
        if let place = fillers.firstIndex(where: { $0.text.elementsEqual(text) }) {
            fillers[place].count += 1
        } else if fillers.count < 4, Self.isFiller(text) {
            fillers.append((Array(text), 1))
        } else if !readings.isDisjoint(with: .numbers), isOddNumber(text, NumberAffix.sign(of: text)) {
            readings.formIntersection(.numbers)
            take(facts, text)
            if oddNumber.isEmpty { oddNumber = Array(text) }
        } else if !readings.isDisjoint(with: .dates), takesOddDate(text) {
            readings.formIntersection(.dates)
            if oddDate.isEmpty { oddDate = Array(text) }
        } else {
            isOpen = false
            fillers = []
        }
    }

    /// Whether a text is a number that a given kind takes, with the column's sign: one with an exponent or a plus, or with
    /// other digits behind its point than the others.
    private func isOddNumber(_ text: UnsafeBufferPointer<UInt8>, _ sign: NumberAffix.Sign) -> Bool {
        guard 1...64 ~= text.count, sign == affix?.sign ?? sign, let start = text.firstIndex(where: \.isDigit) else {
            return false
        }
        // A leading zero is one of a serial number, a last point one of a list's, a plus before many digits a telephone's.
        if text[start] == 0x30, start + 1 < text.count, text[start + 1].isDigit { return false }
        if text.last == UInt8(ascii: ".") || text[0] == UInt8(ascii: "+") && text.count > 7 { return false }
        return NumberStyle.Decimal.allCases.contains { NumberStyle.given($0).real(text) != nil }
    }

    /// Whether a text is a date that a given kind, or a given pattern, takes.
    private mutating func takesOddDate(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard 6...40 ~= text.count, text[0].isDigit else { return false }
        if text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-") {
            return oddPatterns.isEmpty && ISO8601.parse(String(decoding: text, as: UTF8.self)) != nil
        }
        guard oddDate.isEmpty || !oddPatterns.isEmpty, text[1...2].contains(where: { 0x2E...0x2F ~= $0 }) else {
            return false
        }
        oddPatterns = (oddDate.isEmpty ? DateStyle.unusual : oddPatterns).filter { $0.date(text) != nil }
        // A year has two digits or four, and no version has.
        return !oddPatterns.isEmpty && text[text.count - 2] != text[1...2].first { 0x2E...0x2F ~= $0 }
    }

    private static let words: Set<String> = [
        "na", "n/a", "null", "none", "nil", "nan", "-", "--", "---", "?", "\\n", "#n/a", "n.a.", ".", "unknown", "k.a.",
    ]

    /// Whether a text stands for nothing in other programs.
    static func isFiller(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.count <= 7 && words.contains(String(decoding: text, as: UTF8.self).lowercased())
    }

    // MARK: - The result

    /// The decimal sign that the column shows without doubt; nil for a column of integers, of both, or in doubt.
    package var decimal: NumberStyle.Decimal? {
        isOpen && decimalSigns.count == 1 ? decimalSigns.first : nil
    }

    /// What the column is.
    ///
    /// - Parameters:
    ///   - decimal: the decimal sign that was given, beside which there is no other one.
    ///   - shown: the one that other columns show.
    ///   - hasPlainPoints: whether `1.234` beside `2` has decimals, as programs write it.
    /// - Returns: the format of its texts, with what has to be said of it.
    package func result(
        decimal: NumberStyle.Decimal? = nil, shown: NumberStyle.Decimal? = nil, hasPlainPoints: Bool = true
    ) -> ColumnResult {
        guard isOpen, count > fillers.reduce(0, { $0 + $1.count }) else { return ColumnResult(.text) }
        let (format, doubt) = format(decimal, shown, hasPlainPoints)
        guard fillers.isEmpty || format == .text else {
            return ColumnResult(.text, .fillers(fillers.map { ($0.text, $0.count) }, of: count, format.kind))
        }
        return ColumnResult(format, doubt)
    }

    private func format(
        _ given: NumberStyle.Decimal?, _ shown: NumberStyle.Decimal?, _ hasPlainPoints: Bool
    ) -> (CellFormat, ColumnResult.Doubt?) {
        if let affix, !readings.isDisjoint(with: .numbers) {
            return number(given, shown, affix, hasPlainPoints && affix == .none)
        }
        if !oddDate.isEmpty { return (.text, oddDates) }
        if readings.contains(.boolean) { return (.boolean(.trueFalse), nil) }
        if let words = BooleanWords.allCases.first(where: { $0 != .any && readings.contains(.words($0)) }) {
            return (.boolean(words), nil)
        }
        if readings.contains(.day) { return (.day(nil), nil) }
        if readings.contains(.moment) { return (.moment(nil), nil) }
        guard let shape else { return (.text, nil) }
        let orders: [(CellReadings, DateStyle.Order)] = [
            (.dayFirst, .dayFirst), (.monthFirst, .monthFirst), (.yearFirst, .yearFirst),
        ]
        let styles = orders.filter { readings.contains($0.0) }.map {
            DateStyle($0.1, shape, isPadded: readings.contains(.padded))
        }
        guard let style = styles.first else { return (.text, nil) }
        if styles.count > 1 { return (.text, .dates(styles[0].pattern, styles[1].pattern, example)) }
        return (shape.timeDigits == 0 ? .day(style) : .moment(style), nil)
    }

    /// The doubt of a column of dates that are not all in one style; nil if no pattern fits them.
    private var oddDates: ColumnResult.Doubt? {
        if oddPatterns.isEmpty { return .dateForms(oddDate) }
        let patterns = oddPatterns.filter { example.isEmpty || example.withUnsafeBufferPointer($0.date) != nil }
        guard let first = patterns.first?.pattern else { return nil }
        return patterns.count == 1 ? .pattern(first, oddDate) : .dates(first, patterns[1].pattern, oddDate)
    }

    private func number(
        _ given: NumberStyle.Decimal?, _ shown: NumberStyle.Decimal?, _ affix: NumberAffix, _ hasPlainPoints: Bool
    ) -> (CellFormat, ColumnResult.Doubt?) {
        let isWhole = readings.contains(.integer)
        if isWhole, oddNumber.isEmpty { return (.integer(NumberStyle(affix: affix)), nil) }
        let isPoint = !readings.isDisjoint(with: [.plainReals, .points])
        let isComma = !readings.isDisjoint(with: .commas)
        // 1.234 is what programs write; people have thousands in it, and 1,234 may be either.
        let isPlain = !readings.isDisjoint(with: .plainReals)
        let assumed: NumberStyle.Decimal? = isPlain && hasPlainPoints && oddNumber.isEmpty ? .point : nil
        let sign = given ?? decimal ?? shown ?? assumed
        // Cells that show both signs are in several forms, and not in doubt.
        let isInDoubt = sign == nil && decimalSigns.isEmpty && (hasDecimals || hasCommaDecimals)
        if isInDoubt { return (.text, .decimals(example)) }
        let fillers = fillers.map(\.text)
        if !oddNumber.isEmpty { return (.text, .forms(oddNumber, decimal ?? given, fillers)) }
        if sign == .point, isPoint {
            let isGrouped = !isPlain && !readings.contains(.fixed)
            let fixed = isPlain || readings.contains(.grouped) ? nil : decimals.map(Int.init)
            return (
                Self.format(
                    NumberStyle(decimal: .point, isGrouped: isGrouped, decimals: fixed, affix: affix),
                    hasDecimals: hasDecimals), nil
            )
        }
        if sign == .comma, isComma {
            let isGrouped = readings.isDisjoint(with: [.comma, .commaFixed, .commaFloat])
            let isFixed = readings.isDisjoint(with: [.comma, .commaGrouped, .commaFloat])
            let fixed = isFixed ? commaDecimals.map(Int.init) : nil
            return (
                Self.format(
                    NumberStyle(decimal: .comma, isGrouped: isGrouped, decimals: fixed, affix: affix),
                    hasDecimals: hasCommaDecimals
                ), nil
            )
        }
        return (.text, decimal == nil ? .forms(example, sign, fillers) : .otherDecimal(example))
    }

    private static func format(_ style: NumberStyle, hasDecimals: Bool) -> CellFormat {
        hasDecimals ? .real(style) : .integer(style)
    }
}

extension OptionWords {
    /// The option that gives a column its kind.
    package static func kind(_ kind: String, of name: String) -> String {
        choose(
            "types = { [\(name.quoted())] = \(kind.quoted()) }", "--types \(argument("\(name)=\(kind)"))",
            json: "\"types\": {\(name.quoted()): \(kind.quoted())}")
    }
}

/// What a column is, and what is in doubt.
package struct ColumnResult: Sendable {
    /// Why a column stays text though its cells look like values.
    package enum Doubt: Sendable {
        /// Two patterns fit all dates; the first cell.
        case dates(String, String, [UInt8])
        /// A comma or a point may be before decimals or between thousands; the first cell with one.
        case decimals([UInt8])
        /// The decimal sign is another one than was given; the first cell.
        case otherDecimal([UInt8])
        /// Numbers in several forms, of which two may be one value; the first of another form, the sign before their
        /// decimals, and the texts that stand for nothing.
        case forms([UInt8], NumberStyle.Decimal?, [[UInt8]])
        /// Dates in several forms, likewise; the first of another form.
        case dateForms([UInt8])
        /// A pattern beside the usual ones fits all dates; the first cell.
        case pattern(String, [UInt8])
        /// The column would have a kind without texts that stand for nothing.
        case fillers([(text: [UInt8], count: Int)], of: Int, CellKind)
    }

    package let format: CellFormat
    package let doubt: Doubt?

    package init(_ format: CellFormat, _ doubt: Doubt? = nil) { (self.format, self.doubt) = (format, doubt) }

    /// What was assumed of the texts, for the line that tells the kinds: `decimal comma`, `dd.MM.yyyy`; nil for plain ones.
    package var assumption: String? {
        switch format {
        case .integer(let style), .real(let style):
            var parts: [String] = []
            if style.decimal == .comma { parts.append("decimal comma") }
            if style.isGrouped { parts.append("thousands by \(style.decimal == .comma ? "points" : "commas")") }
            if style.affix != .none { parts.append("without \(style.affix.sign.text)") }
            if let decimals = style.decimals { parts.append("\(decimals) decimals") }
            return parts.isEmpty ? nil : parts.joined(separator: ", ")
        case .boolean(let words) where words != .trueFalse: return "\(words.words.yes)/\(words.words.no)"
        case .day(let style?), .moment(let style?): return style.pattern
        default: return nil
        }
    }

    /// What has to be said of a column that stays text; nil for nothing. The name is that of the column's field.
    package func remark(_ name: String) -> String? {
        func shown(_ text: [UInt8]) -> String {
            VisibleText.line(String(decoding: text, as: UTF8.self).shortened(to: 40)).quoted()
        }
        switch doubt {
        case nil: return nil
        case .dates(let first, let second, let example):
            return
                "\(name): \(shown(example)) fits \(first) and \(second), as all cells do: text; give \(OptionWords.option("date", first)) or the other one"
        case .decimals(let example):
            return
                "\(name): \(shown(example)) may have decimals or thousands behind its \(example.contains(UInt8(ascii: ",")) ? "comma" : "point"), and no cell shows which: text; give \(OptionWords.option("decimal", "comma")) or \(OptionWords.choose("\"point\"", "point", json: nil))"
        case .otherDecimal(let example):
            return "\(name): the decimals of \(shown(example)) are not those of the option decimal: text"
        case .forms(let example, let decimal, let fillers):
            let nulls = fillers.map {
                OptionWords.option("null", VisibleText.line(String(decoding: $0, as: UTF8.self)))
            }
            let decimal = decimal == .comma ? [OptionWords.option("decimal", "comma")] : []
            // A real has fifteen digits of a whole number.
            let isWide = example.count > 15 && example.dropFirst().allSatisfy(\.isDigit)
            let advice = ([OptionWords.kind(isWide ? "number" : "real", of: name)] + decimal + nulls)
                .joined(separator: OptionWords.choose(", ", " ", json: nil))
            return "\(name): numbers, but not all in one usual form (\(shown(example))): text; give \(advice)"
        case .dateForms(let example):
            return
                "\(name): dates, but not all in one usual form (\(shown(example))): text; give \(OptionWords.kind("date", of: name))"
        case .pattern(let pattern, let example):
            return "\(name): \(shown(example)) fits \(pattern): text; give \(OptionWords.option("date", pattern))"
        case .fillers(let fillers, let count, let kind):
            let number = fillers.reduce(0) { $0 + $1.count }
            let texts = fillers.map { shown($0.text) }.joined(separator: ", ")
            let options = fillers.map {
                "--null \(OptionWords.argument(VisibleText.line(String(decoding: $0.text, as: UTF8.self))))"
            }.joined(separator: " ")
            let scripts = fillers.count == 1 ? "null = \(texts)" : "null = { \(texts) }"
            let json = fillers.count == 1 ? "\"null\": \(texts)" : "\"null\": [\(texts)]"
            let kind = kind == .integer || kind == .real ? "number" : kind == .date ? "date" : "boolean"
            let what = number == 1 ? "is not a \(kind)" : "are not \(kind)s"
            return
                "\(name): \(number.grouped) of \(count.grouped) cells \(what) (\(texts)): text; give \(OptionWords.choose(scripts, options, json: json))"
        }
    }
}

/// Finds out what the columns of a table are, one row after the other.
package struct TableInference {
    /// By column.
    package private(set) var columns: [ColumnInference]
    /// The columns that are still looked at.
    private var open: [Int]
    private let nulls: CellNulls

    /// - Parameters:
    ///   - count: the number of columns.
    ///   - isIncluded: whether a column is looked at; the others are text.
    ///   - nulls: the texts that stand for nothing.
    package init(columns count: Int, isIncluded: (Int) -> Bool = { _ in true }, nulls: CellNulls = CellNulls()) {
        columns = Array(repeating: ColumnInference(), count: count)
        open = (0..<count).filter(isIncluded)
        self.nulls = nulls
    }

    /// Whether all columns are known to be texts: the rest of the table needs no look.
    package var isDone: Bool { open.isEmpty }

    /// Takes a row; cells that it lacks have no influence.
    package mutating func add(_ row: CSVRow) {
        row.withUnsafeBytes { bytes in
            let texts = bytes.bindMemory(to: UInt8.self)
            var index = open.count
            while index > 0 {
                index -= 1
                let column = open[index]
                guard column < row.count else { continue }
                let text = UnsafeBufferPointer(rebasing: texts[row.range(of: column)])
                if nulls.contains(text) { continue }
                columns[column].add(text)
                if !columns[column].isOpen { open.remove(at: index) }
            }
        }
    }

    /// The decimal sign that all columns with a plain one share; nil if there is none, or both are there.
    package var decimal: NumberStyle.Decimal? {
        let signs = Set(columns.compactMap(\.decimal))
        return signs.count == 1 ? signs.first : nil
    }

    /// What the columns are.
    ///
    /// - Parameters:
    ///   - decimal: the decimal sign that was given; nil to take the one of the table's plain columns.
    ///   - delimiter: what separates the cells. Where it is a semicolon, the comma is the usual decimal sign.
    /// - Returns: a result for each column; one that was not looked at is text.
    package func results(
        decimal: NumberStyle.Decimal? = nil, delimiter: UInt8 = UInt8(ascii: ",")
    ) -> [ColumnResult] {
        let shown = self.decimal
        let hasPlainPoints = delimiter != UInt8(ascii: ";")
        return columns.map { $0.result(decimal: decimal, shown: shown, hasPlainPoints: hasPlainPoints) }
    }
}

/// The texts of cells that stand for nothing.
package struct CellNulls: Sendable, Hashable {
    private let texts: [[UInt8]]

    package init(_ texts: [String] = []) { self.texts = texts.map { Array($0.utf8) } }

    /// Whether a cell's text is one of them. An empty cell stands for nothing anyway.
    @inline(__always)
    package func contains(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        if texts.isEmpty { return false }
        return texts.contains { $0.count == text.count && $0.elementsEqual(text) }
    }
}
