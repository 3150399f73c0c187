import Platform
import PropertyList

/// Ranges of a column and their amounts, for a histogram or for bars of periods.
struct PlotBins: Hashable {
    /// The beginnings of the ranges, and the end of the last, which it excludes.
    var edges: [PlotTick]
    /// The amount of each range.
    var amounts: [Double]
    /// What the labels of the edges leave out.
    var context: String?

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
        var amounts = [Double](repeating: 0, count: step.index(of: last) - start + 1)
        for point in points { amounts[step.index(of: Int(point.x.rounded(.down))) - start] += point.y }
        let ends = (start...start + amounts.count).map(step.start)
        let labels = CalendarLabels(step, low...max(low, high))
        return PlotBins(
            edges: ends.map { PlotTick(value: Double($0), label: labels.label($0)) }, amounts: amounts,
            context: labels.context)
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
