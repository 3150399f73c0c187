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
    private var affix: NumberAffix?
    private var shape: DateShape?
    /// The first cell, for messages.
    private var example: [UInt8] = []
    /// The first number that is not in a form of which the value has the text alone, in a column of numbers: one with an
    /// exponent, or with more digits than it needs. Empty for none.
    private var oddNumber: [UInt8] = []

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
            if let affix, affix != facts.affix { common.subtract(.numbers) }
            if let decimals, decimals != facts.decimals { common.subtract(.fixedPoints) }
            if let commaDecimals, commaDecimals != facts.commaDecimals { common.subtract(.fixedCommas) }
        }
        if !common.isDisjoint(with: .patterns) {
            if let shape, shape != facts.shape { common.subtract(.patterns) }
            if common.isDisjoint(with: .orders) || common.isDisjoint(with: .paddings) { common.subtract(.patterns) }
        }
        guard !common.isEmpty else { return close(at: text) }
        readings = common
        if example.isEmpty { example = Array(text) }
        if !common.isDisjoint(with: .numbers) {
            affix = facts.affix
            if facts.decimals > 0 { hasDecimals = true }
            if facts.commaDecimals > 0 { hasCommaDecimals = true }
            if !common.isDisjoint(with: .fixedPoints) { decimals = facts.decimals }
            if !common.isDisjoint(with: .fixedCommas) { commaDecimals = facts.commaDecimals }
        }
        if !common.isDisjoint(with: .patterns) { shape = facts.shape }
    }

    /// Counts a text that stands for nothing; any other one ends the inference.
    private mutating func close(at text: UnsafeBufferPointer<UInt8>) {
        if let place = fillers.firstIndex(where: { $0.text.elementsEqual(text) }) {
            fillers[place].count += 1
        } else if fillers.count < 4, Self.isFiller(text) {
            fillers.append((Array(text), 1))
        } else if affix == nil || affix == NumberAffix.none, !readings.isDisjoint(with: .numbers),
            Self.isOddNumber(text)
        {
            readings.formIntersection(.numbers)
            affix = NumberAffix.none
            if oddNumber.isEmpty { oddNumber = Array(text) }
        } else {
            isOpen = false
            fillers = []
        }
    }

    /// Whether a text is a number with an exponent, such as `1e3`, or one of more digits than identify a real.
    static func isOddNumber(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard 3...40 ~= text.count else { return false }
        var index = text[0] == UInt8(ascii: "-") ? 1 : 0
        func digits() -> Int {
            let start = index
            while index < text.count, text[index].isDigit { index += 1 }
            return index - start
        }
        let start = index
        let whole = digits()
        // A leading zero is one of a serial number.
        guard whole > 0, whole == 1 || text[start] != 0x30 else { return false }
        var (fraction, hasExponent) = (0, false)
        if index < text.count, text[index] == UInt8(ascii: ".") {
            index += 1
            fraction = digits()
            if fraction == 0 { return false }
        }
        if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") { index += 1 }
            guard 1...3 ~= digits() else { return false }
            hasExponent = true
        }
        guard index == text.count, hasExponent || fraction > 0 && whole + fraction > 15 else { return false }
        return DecimalText.general(text) != nil
    }

    private static let words: Set<String> = [
        "na", "n/a", "null", "none", "nil", "nan", "-", "--", "---", "?", "\\n", "#n/a", "n.a.", ".", "unknown", "k.a.",
    ]

    /// Whether a text stands for nothing in other programs.
    static func isFiller(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.count <= 7 && words.contains(String(decoding: text, as: UTF8.self).lowercased())
    }

    // MARK: - The result

    /// The decimal sign that the column shows without doubt; nil for a column of integers, of none, or in doubt.
    package var decimal: NumberStyle.Decimal? {
        guard isOpen, count > 0, !readings.contains(.integer) else { return nil }
        let points = readings.intersection([.plainReals, .points])
        let commas = readings.intersection(.commas)
        if commas.isEmpty { return points.isEmpty ? nil : .point }
        return points.isEmpty ? .comma : nil
    }

    /// What the column is.
    ///
    /// - Parameters:
    ///   - decimal: the decimal sign that was given, beside which there is no other one.
    ///   - shown: the one that another column shows.
    /// - Returns: the format of its texts, with what has to be said of it.
    package func result(decimal: NumberStyle.Decimal? = nil, shown: NumberStyle.Decimal? = nil) -> ColumnResult {
        guard isOpen, count > fillers.reduce(0, { $0 + $1.count }) else { return ColumnResult(.text) }
        let (format, doubt) = format(decimal, shown)
        if !oddNumber.isEmpty {
            return ColumnResult(.text, .forms(oddNumber, of: count, fillers.map(\.text)))
        }
        guard fillers.isEmpty || format == .text else {
            return ColumnResult(.text, .fillers(fillers.map { ($0.text, $0.count) }, of: count, format.kind))
        }
        return ColumnResult(format, doubt)
    }

    private func format(
        _ given: NumberStyle.Decimal?, _ shown: NumberStyle.Decimal?
    ) -> (CellFormat, ColumnResult.Doubt?) {
        if let affix, !readings.isDisjoint(with: .numbers) { return number(given, shown, affix) }
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

    private func number(
        _ given: NumberStyle.Decimal?, _ shown: NumberStyle.Decimal?, _ affix: NumberAffix
    ) -> (CellFormat, ColumnResult.Doubt?) {
        if readings.contains(.integer) { return (.integer(NumberStyle(affix: affix)), nil) }
        let decimal = given ?? shown
        let isPoint = !readings.isDisjoint(with: [.plainReals, .points])
        let isComma = !readings.isDisjoint(with: .commas)
        // 1.234 is what programs write; 1,234 may be either.
        let isPlain = !readings.isDisjoint(with: .plainReals)
        if isPoint, given != .comma, !isComma || (decimal ?? (isPlain ? .point : nil)) == .point {
            let isGrouped = !isPlain && !readings.contains(.fixed)
            let fixed = isPlain || readings.contains(.grouped) ? nil : decimals.map(Int.init)
            return (
                Self.format(
                    NumberStyle(decimal: .point, isGrouped: isGrouped, decimals: fixed, affix: affix),
                    hasDecimals: hasDecimals), nil
            )
        }
        if isComma, given != .point, !isPoint || decimal == .comma {
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
        return (.text, given == nil ? .decimals(example) : .otherDecimal(example))
    }

    private static func format(_ style: NumberStyle, hasDecimals: Bool) -> CellFormat {
        hasDecimals ? .real(style) : .integer(style)
    }
}

/// What a column is, and what is in doubt.
package struct ColumnResult: Sendable {
    /// Why a column stays text though its cells look like values.
    package enum Doubt: Sendable {
        /// Two patterns fit all dates; the first cell.
        case dates(String, String, [UInt8])
        /// A comma may be before decimals or between thousands; the first cell.
        case decimals([UInt8])
        /// The decimal sign is another one than was given; the first cell.
        case otherDecimal([UInt8])
        /// Numbers in several forms, of which two may be one value; the first of another form, and the texts that stand
        /// for nothing.
        case forms([UInt8], of: Int, [[UInt8]])
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
            if style.affix != .none { parts.append("without \(style.affix.text)") }
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
                "\(name): \(shown(example)) may have decimals or thousands behind its comma, as all cells may: text; give \(OptionWords.option("decimal", "comma")) or \(OptionWords.choose("\"point\"", "point", json: nil))"
        case .otherDecimal(let example):
            return "\(name): the decimals of \(shown(example)) are not those of the option decimal: text"
        case .forms(let example, let count, let fillers):
            let nulls = fillers.map {
                OptionWords.option("null", VisibleText.line(String(decoding: $0, as: UTF8.self)))
            }
            let types = OptionWords.choose(
                "types = { [\(name.quoted())] = \"real\" }", "--types \(OptionWords.argument("\(name)=real"))",
                json: "\"types\": {\(name.quoted()): \"real\"}")
            let advice = ([types] + nulls).joined(separator: OptionWords.choose(", ", " ", json: nil))
            return
                "\(name): numbers in several forms, such as \(shown(example)) among \(count.counted("cell")): text; give \(advice)"
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
    /// - Parameter decimal: the decimal sign that was given; nil to take the one of the table's plain columns.
    /// - Returns: a result for each column; one that was not looked at is text.
    package func results(decimal: NumberStyle.Decimal? = nil) -> [ColumnResult] {
        let shown = self.decimal
        return columns.map { $0.result(decimal: decimal, shown: shown) }
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
