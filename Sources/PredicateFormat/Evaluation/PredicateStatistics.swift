import PropertyList

/// Statistical functions over the numbers among some values; other values are ignored.
enum PredicateStatistics {
    /// The median; for an even count the mean of the two middle numbers. Nil for none.
    static func median(_ values: [PropertyListValue]) -> PropertyListValue? {
        let numbers = values.compactMap { PredicateNumber($0) }.sorted { $0.asDouble < $1.asDouble }
        guard !numbers.isEmpty else { return nil }
        let middle = numbers.count / 2
        if numbers.count % 2 == 1 { return numbers[middle].value }
        return PredicateKeyValueCoding.average([numbers[middle - 1].value, numbers[middle].value])
    }

    /// The population standard deviation, a real; nil for none.
    static func standardDeviation(_ values: [PropertyListValue]) -> PropertyListValue? {
        let numbers = values.compactMap { PredicateNumber($0)?.asDouble }
        guard !numbers.isEmpty else { return nil }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return .real((squares / Double(numbers.count)).squareRoot())
    }

    /// The most frequent values, in the order of their first occurrence; nil for none.
    static func mode(_ values: [PropertyListValue]) -> PropertyListValue? {
        var counts: [PropertyListValue: Int] = [:]
        for value in values where !Interruption.isDueAtStep { counts[value, default: 0] += 1 }
        guard let most = counts.values.max() else { return nil }
        var found: [PropertyListValue] = []
        for value in values where !Interruption.isDueAtStep && counts[value] == most {
            found.append(value)
            counts[value] = 0
        }
        return .array(found)
    }
}
