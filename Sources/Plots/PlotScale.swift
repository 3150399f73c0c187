import Platform
import PropertyList

/// A labelled place of an axis.
struct PlotTick: Hashable {
    var value: Double
    var label: String
}

/// The range of an axis, its ticks in ascending order, and what all of their labels have in common.
struct PlotScale: Hashable {
    /// Less than `high`; both are finite.
    var low: Double
    var high: Double
    var ticks: [PlotTick]
    /// What the labels leave out: the day of times, the year of days. Nil for nothing.
    var context: String?

    /// The place of a value, 0 to 1 within the range.
    func fraction(_ value: Double) -> Double {
        // By halves: the difference of two finite numbers may be infinite.
        (value / 2 - low / 2) / (high / 2 - low / 2)
    }

    /// A scale for values that include some; the labels of numbers are round.
    ///
    /// - Parameters:
    ///   - values: the least and the greatest value; finite.
    ///   - unit: what they are.
    ///   - count: the maximum number of ticks, from 3.
    ///   - isWhole: whether a fraction makes no sense, as for counts.
    /// - Returns: the scale.
    static func covering(
        _ values: ClosedRange<Double>, _ unit: PlotUnit, atMost count: Int, isWhole: Bool = false
    ) -> PlotScale {
        unit == .date
            ? dates(values, atMost: count) : numbers(values, unit, atMost: count, isWhole: isWhole)
    }

    /// The scale with labels of numbers in at most so many columns.
    func labelled(_ unit: PlotUnit, atMost width: Int) -> PlotScale {
        var scale = self
        for place in ticks.indices where DisplayWidth.of(ticks[place].label) > width {
            scale.ticks[place].label = PlotNumber(ticks[place].value).label(unit, atMost: width)
        }
        return scale
    }

    /// A scale of round numbers that begins and ends at a tick.
    private static func numbers(
        _ values: ClosedRange<Double>, _ unit: PlotUnit, atMost count: Int, isWhole: Bool
    ) -> PlotScale {
        let (low, high) = padded(values)
        var step = PlotStep(atLeast: 2 * ((high / 2 - low / 2) / Double(max(count - 1, 1))), isWhole: isWhole)
        step.raise(for: max(abs(low), abs(high)))
        while true {
            let (first, last) = step.indexes(low...high)
            // Values on both sides of zero have at least three.
            guard last - first < Int64(max(count, 3)) else {
                step = step.next
                continue
            }
            let ticks = (first...last).map { index in
                let number = step.number(index)
                return PlotTick(value: number.value, label: number.label(unit))
            }
            let greatest = Double.greatestFiniteMagnitude
            return PlotScale(
                low: max(ticks.first?.value ?? low, -greatest), high: min(ticks.last?.value ?? high, greatest),
                ticks: ticks.filter { $0.value.isFinite })
        }
    }

    /// A range with a length.
    private static func padded(_ values: ClosedRange<Double>) -> (low: Double, high: Double) {
        let (low, high) = (values.lowerBound, values.upperBound)
        let size = max(abs(low), abs(high))
        guard high / 2 - low / 2 <= size * 1e-14 else { return (low, high) }
        if size < 1e-290 { return (low < 0 ? -1 : 0, high > 0 || low >= 0 ? 1 : 0) }
        let pad = size < 1e300 ? size * 0.1 : size * -0.1
        return (low < 0 ? min(low, low - pad) : low - abs(pad), low < 0 ? high + abs(pad) : max(high, high + pad))
    }

    /// A scale of calendar steps for exactly the values.
    private static func dates(_ values: ClosedRange<Double>, atMost count: Int) -> PlotScale {
        var (low, high) = (values.lowerBound, values.upperBound)
        if high - low < 1 {
            let pad: Double = low.truncatingRemainder(dividingBy: 86_400) == 0 && low == high ? 86_400 : 30
            (low, high) = (low - pad, high + pad)
        }
        let step = CalendarStep.ticks.first { $0.ticks(in: low...high).count <= count } ?? .months(12_000_000)
        let indexes = step.ticks(in: low...high)
        let style = CalendarLabels(step, low...high)
        return PlotScale(
            low: low, high: high,
            ticks: indexes.map { PlotTick(value: Double(step.start(of: $0)), label: style.label(step.start(of: $0))) },
            context: style.context)
    }
}

/// A round distance: 1, 2 or 5 times a power of ten.
struct PlotStep: Hashable {
    private var factor: Int64
    private var exponent: Int
    private let isWhole: Bool

    /// The least round distance of at least a length, or the one nearest to it.
    init(atLeast length: Double, isWhole: Bool, nearest: Bool = false) {
        self.isWhole = isWhole
        let length = min(max(length, isWhole ? 1 : 1e-290), 1e308)
        exponent = Int(log10(length).rounded(.down))
        let places = PlotNumber.scaled(length, by: -exponent)
        // Limits between two distances are their geometric means.
        let limits = nearest ? (1.414, 3.162, 7.071) : (1 + 1e-9, 2 + 1e-9, 5 + 1e-9)
        factor = places <= limits.0 ? 1 : places <= limits.1 ? 2 : places <= limits.2 ? 5 : 10
        if factor == 10 { (factor, exponent) = (1, exponent + 1) }
        if isWhole, exponent < 0 { (factor, exponent) = (1, 0) }
    }

    /// The next longer one.
    var next: PlotStep {
        var next = self
        switch factor {
        case 1: next.factor = 2
        case 2: next.factor = 5
        default: (next.factor, next.exponent) = (1, exponent + 1)
        }
        return next
    }

    /// Makes the distance long enough to tell numbers of a size apart.
    mutating func raise(for size: Double) {
        let least = PlotStep(atLeast: size * 1e-15, isWhole: isWhole)
        if least.number(1).value > number(1).value { self = least }
    }

    /// The multiple of the distance.
    func number(_ index: Int64) -> PlotNumber { PlotNumber(digits: Int128(index) * Int128(factor), exponent: exponent) }

    /// The multiples around a range.
    func indexes(_ range: ClosedRange<Double>) -> (first: Int64, last: Int64) {
        // Not a product: 3 × 0.1 is not 0.3.
        var first = Int64(clamping: (range.lowerBound / number(1).value).rounded(.down))
        var last = Int64(clamping: (range.upperBound / number(1).value).rounded(.up))
        while number(first).value > range.lowerBound { first -= 1 }
        while number(first + 1).value <= range.lowerBound { first += 1 }
        while number(last).value < range.upperBound { last += 1 }
        while last - 1 > first, number(last - 1).value >= range.upperBound { last -= 1 }
        return (first, max(last, first + 1))
    }
}

extension Int64 {
    /// The nearest number; 0 for NaN.
    fileprivate init(clamping value: Double) {
        // Factors and one more multiple must fit, too.
        self = value.isNaN ? 0 : Int64(Swift.min(Swift.max(value, -1e17), 1e17))
    }
}

/// A step of the calendar, with its multiples numbered from 1970 or from the year 0.
enum CalendarStep: Hashable {
    /// So many seconds, of at most a day or a week.
    case seconds(Int)
    case months(Int)

    /// The steps between ticks, in ascending order.
    static let ticks: [CalendarStep] =
        [
            1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
            604_800,
        ]
        .map { .seconds($0) } + ([1, 2, 3, 6].map { .months($0) }) + years

    /// The steps of periods, in ascending order.
    static let periods: [CalendarStep] =
        [1, 5, 15, 60, 300, 900, 3600, 10_800, 86_400, 604_800].map { .seconds($0) }
        + ([1, 3].map { .months($0) }) + years

    private static let years: [CalendarStep] = [1, 10, 100, 1000, 10_000, 100_000].flatMap { ten in
        [1, 2, 5].map { .months(12 * ten * $0) }
    }

    /// A Monday, for weeks.
    private static let firstMonday = 4 * 86_400

    private var origin: Int { self == .seconds(604_800) ? Self.firstMonday : 0 }

    /// The number of the step that has a time.
    func index(of seconds: Int) -> Int {
        switch self {
        case .seconds(let length): return (seconds - origin).floored(by: length)
        case .months(let length):
            let date = CalendarDate(localSeconds: seconds)
            return (date.year * 12 + date.month - 1).floored(by: length)
        }
    }

    /// Its first second.
    func start(of index: Int) -> Int {
        switch self {
        case .seconds(let length): return index * length + origin
        case .months(let length):
            let month = index * length
            let year = month.floored(by: 12)
            return CalendarDate.daysSince1970(year: year, month: month - year * 12 + 1, day: 1) * 86_400
        }
    }

    /// The steps that begin within a range.
    func ticks(in range: ClosedRange<Double>) -> Range<Int> {
        let first = Int(range.lowerBound.rounded(.up))
        let last = Int(range.upperBound.rounded(.down))
        guard first <= last else { return 0..<0 }
        return index(of: first - 1) + 1..<index(of: last) + 1
    }

    var isWithinDay: Bool { if case .seconds(let length) = self { length < 86_400 } else { false } }
}

extension Int {
    fileprivate func floored(by divisor: Int) -> Int {
        self >= 0 ? self / divisor : -((divisor - 1 - self) / divisor)
    }
}

/// The labels of the calendar's steps in a range.
struct CalendarLabels {
    private let step: CalendarStep
    private let showsDay: Bool
    /// What the labels leave out.
    let context: String?

    init(_ step: CalendarStep, _ range: ClosedRange<Double>) {
        self.step = step
        let first = CalendarDate(localSeconds: Int(range.lowerBound.rounded(.down)))
        let last = CalendarDate(localSeconds: Int(range.upperBound.rounded(.down)))
        let isOneDay = (first.year, first.month, first.day) == (last.year, last.month, last.day)
        showsDay = !isOneDay
        guard step.isWithinDay else {
            context = nil
            return
        }
        context =
            isOneDay
            ? Self.day(first) : first.year == last.year ? Self.year(first) : "\(Self.year(first))/\(Self.year(last))"
    }

    func label(_ seconds: Int) -> String {
        let date = CalendarDate(localSeconds: seconds)
        switch step {
        case .seconds(let length):
            guard length < 86_400 else { return Self.day(date) }
            let time =
                "\(Self.two(date.hour)):\(Self.two(date.minute))" + (length < 60 ? ":\(Self.two(date.second))" : "")
            return showsDay ? "\(Self.two(date.month))-\(Self.two(date.day)) \(time)" : time
        case .months(let length): return length < 12 ? "\(Self.year(date))-\(Self.two(date.month))" : Self.year(date)
        }
    }

    private static func day(_ date: CalendarDate) -> String { "\(year(date))-\(two(date.month))-\(two(date.day))" }

    private static func year(_ date: CalendarDate) -> String {
        let digits = String(date.year.magnitude)
        return (date.year < 0 ? "-" : "") + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// Ranges of a column and their amounts, for a histogram or for bars of periods.
struct PlotBins: Hashable {
    /// The beginnings of the ranges, and the end of the last, which it excludes.
    var edges: [PlotTick]
    /// The amount of each range.
    var amounts: [Double]
    /// What the labels of the edges leave out.
    var context: String?

    /// A scale for the amounts.
    func scale(_ unit: PlotUnit, atMost count: Int) -> PlotScale {
        let isWhole = amounts.allSatisfy { $0.rounded() == $0 }
        return .covering(amounts.amountRange, unit, atMost: count, isWhole: isWhole)
    }

    /// Counts numbers in round ranges, of a width by the rule of Freedman and Diaconis: twice the distance of the quartiles
    /// by the cube root of the count.
    ///
    /// - Parameters:
    ///   - numbers: in ascending order, not empty; finite.
    ///   - unit: what they are.
    ///   - limit: the maximum number of ranges, from 2.
    /// - Returns: the ranges with their counts.
    static func counting(_ numbers: [Double], _ unit: PlotUnit, atMost limit: Int) -> PlotBins {
        guard let low = numbers.first, let high = numbers.last else { return PlotBins(edges: [], amounts: []) }
        let half = high / 2 - low / 2
        let isWhole = numbers.allSatisfy { $0.rounded() == $0 && abs($0) < 1e15 }
        let quarter = numbers.count / 4
        var width =
            4 * ((numbers[numbers.count - 1 - quarter] / 2 - numbers[quarter] / 2) / cbrt(Double(numbers.count)))
        // Half of the numbers or more are equal: by the rule of Sturges.
        if !(width > 0) { width = 2 * (half / (log2(Double(numbers.count)) + 1)) }
        if half == 0 { width = isWhole ? 1 : abs(high) * 0.1 }
        if !width.isFinite { width = .greatestFiniteMagnitude }
        var step = PlotStep(atLeast: width, isWhole: isWhole, nearest: true)
        step.raise(for: max(abs(low), abs(high)))
        while true {
            var (first, last) = step.indexes(low...high)
            // The last range has the greatest number within it.
            if step.number(last).value <= high { last += 1 }
            guard last - first <= Int64(limit) else {
                step = step.next
                continue
            }
            let edges = (first...last).map { step.number($0) }
            // By comparison with the edges, which are the nearest numbers to what their labels say.
            let starts = edges.map { edge in numbers.firstIndex(from: edge.value) }
            return PlotBins(
                edges: edges.map { PlotTick(value: $0.value, label: $0.label(unit)) },
                amounts: zip(starts, starts.dropFirst()).map { Double($1 - $0) })
        }
    }

    /// Adds up amounts by periods of the calendar.
    ///
    /// - Parameters:
    ///   - points: amounts at times in ascending order, not empty.
    ///   - limit: the maximum number of periods, from 2.
    /// - Returns: the periods with their sums.
    static func adding(_ points: [PlotPoint], atMost limit: Int) -> PlotBins {
        guard let low = points.first?.x, let high = points.last?.x else { return PlotBins(edges: [], amounts: []) }
        let (first, last) = (Int(low.rounded(.down)), Int(high.rounded(.down)))
        // Days have no times.
        let isDays = points.allSatisfy { $0.x.truncatingRemainder(dividingBy: 86_400) == 0 }
        let step =
            CalendarStep.periods.first {
                (!isDays || !$0.isWithinDay) && $0.index(of: last) - $0.index(of: first) < limit
            } ?? .months(12_000_000)
        let start = step.index(of: first)
        var sums = [PlotSum](repeating: PlotSum(Int128(0)), count: step.index(of: last) - start + 1)
        for point in points { sums[step.index(of: Int(point.x.rounded(.down))) - start] += PlotSum(point.y) }
        let ends = (start...start + sums.count).map(step.start)
        let labels = CalendarLabels(step, low...max(low, high))
        return PlotBins(
            edges: ends.map { PlotTick(value: Double($0), label: labels.label($0)) }, amounts: sums.map(\.nearest),
            context: labels.context)
    }
}

extension Plot {
    /// The ranges or periods of its marks, and their amounts; none of bars, which have a name each.
    func bins(atMost limit: Int) -> PlotBins {
        switch marks {
        case .numbers(let numbers): .counting(numbers, x.unit, atMost: limit)
        case .amounts(let points), .points(let points): .adding(points, atMost: limit)
        case .bars: PlotBins(edges: [], amounts: [])
        }
    }
}

extension [Double] {
    /// The place of the first number that is not less, in ascending numbers.
    fileprivate func firstIndex(from number: Double) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// A decimal number: `digits × 10^exponent`, exactly.
struct PlotNumber: Hashable, Sendable {
    let digits: Int128
    let exponent: Int

    init(digits: Int128, exponent: Int) { (self.digits, self.exponent) = (digits, exponent) }

    /// A finite number, by its shortest text: `0.1` is a tenth.
    init(_ number: Double) {
        if let whole = Int64(exactly: number), whole.magnitude < 1 << 53 {
            self.init(digits: Int128(whole), exponent: 0)
            return
        }
        let parts = "\(number)".split(separator: "e")
        let point = parts[0].split(separator: ".")
        let fraction = point.count > 1 && point[1] != "0" ? point[1] : ""
        self.init(
            digits: Int128(String(point[0] + fraction)) ?? 0,
            exponent: (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) - fraction.utf8.count)
    }

    /// The nearest real.
    var value: Double {
        // Both are exact, and one division rounds like the general algorithm.
        if digits.magnitude < 1 << 53, -22...0 ~= exponent { return Double(digits) / Self.power(-exponent) }
        return Double("\(digits)e\(exponent)") ?? 0
    }

    static func power(_ exponent: Int) -> Double { (0..<exponent).reduce(1.0) { value, _ in value * 10 } }

    /// The sum; nil where it has more digits than there is room for.
    func adding(_ other: PlotNumber) -> PlotNumber? {
        let least = min(exponent, other.exponent)
        guard let first = shifted(to: least), let second = other.shifted(to: least) else { return nil }
        let (sum, isTooLarge) = first.addingReportingOverflow(second)
        return isTooLarge ? nil : PlotNumber(digits: sum, exponent: least)
    }

    /// The digits of a lower exponent.
    private func shifted(to exponent: Int) -> Int128? {
        if digits == 0 { return 0 }
        guard self.exponent - exponent < 39 else { return nil }
        var digits = digits
        for _ in exponent..<self.exponent {
            let (product, isTooLarge) = digits.multipliedReportingOverflow(by: 10)
            if isTooLarge { return nil }
            digits = product
        }
        return digits
    }

    /// The number with commas between its thousands, and with so many decimals as its exponent has; with an exponent of
    /// its own where it would have more than 15 places.
    var text: String {
        if digits == 0 { return exponent < 0 && exponent >= -6 ? Self.fixed(0, -exponent) : "0" }
        let places = String(digits.magnitude).utf8.count + exponent
        if places > 15 || exponent < -9 && places < -3 { return scientific.mantissa + scientific.exponent }
        return Self.fixed(shifted(to: min(exponent, 0)) ?? digits, max(-exponent, 0))
    }

    private static func fixed(_ digits: Int128, _ decimals: Int) -> String {
        var text = String(digits.magnitude)
        text = String(repeating: "0", count: max(0, decimals + 1 - text.utf8.count)) + text
        let whole = Int(text.dropLast(decimals)) ?? 0
        return (digits < 0 ? "-" : "") + whole.grouped + (decimals > 0 ? "." : "") + text.suffix(decimals)
    }

    private var scientific: (mantissa: String, exponent: String) {
        var text = Substring(String(digits.magnitude))
        let size = exponent + text.utf8.count - 1
        while text.utf8.count > 1, text.last == "0" { text = text.dropLast() }
        let fraction = text.dropFirst()
        return ((digits < 0 ? "-" : "") + text.prefix(1) + (fraction.isEmpty ? "" : ".") + fraction, "e\(size)")
    }

    /// The text of a finite number, as ``label(_:)`` writes it.
    static func label(_ number: Double, _ unit: PlotUnit) -> String {
        number.isFinite ? PlotNumber(number).label(unit) : "\(number)"
    }

    /// A number times a power of ten, without an overflow on the way.
    static func scaled(_ number: Double, by exponent: Int) -> Double {
        var (number, rest) = (number, exponent)
        while rest != 0 {
            let step = min(max(rest, -200), 200)
            number = step > 0 ? number * power(step) : number / power(-step)
            rest -= step
        }
        return number
    }

    /// The text of the number, exactly.
    func label(_ unit: PlotUnit) -> String {
        switch unit {
        case .number, .date, .category: return text
        case .money: return hundredths?.text ?? text
        case .dollars:
            let amount = exponent < 0 ? hundredths ?? self : self
            // Whole dollars have no cents.
            let isWhole = amount.exponent == -2 && amount.digits.isMultiple(of: 100)
            return Self.dollars(isWhole ? PlotNumber(digits: amount.digits / 100, exponent: 0).text : amount.text)
        }
    }

    /// The text in so many columns: exactly if it fits, else with an exponent, else its first places and `…`.
    func label(_ unit: PlotUnit, atMost width: Int) -> String {
        let whole = label(unit)
        if whole.count <= width { return whole }
        var (mantissa, exponent) = scientific
        if unit == .dollars { mantissa = Self.dollars(mantissa) }
        if mantissa.count + exponent.count <= width { return mantissa + exponent }
        return mantissa.prefix(max(width - exponent.count - 1, 1)) + "…" + exponent
    }

    private static func dollars(_ text: String) -> String {
        text.hasPrefix("-") ? "-$" + text.dropFirst() : "$" + text
    }

    /// The number in hundredths; nil if it has others, or too many.
    private var hundredths: PlotNumber? {
        guard exponent >= -2, let digits = shifted(to: -2), digits.magnitude <= 100_000_000_000_000_000 else {
            return nil
        }
        return PlotNumber(digits: digits, exponent: -2)
    }
}
