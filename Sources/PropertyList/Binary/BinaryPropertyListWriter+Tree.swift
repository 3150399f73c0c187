internal import CPlatform

extension BinaryPropertyListWriter {
    /// Adds a tree of values, containers before their contents. The keys of a dictionary are sorted.
    ///
    /// - Throws: `writeInvalid` for nesting beyond `maximumDepth`.
    package func add(
        _ value: PropertyListValue, maximumDepth: Int = PropertyListLimits.standard.maximumDepth
    ) throws(PropertyListError) -> ObjectNumber {
        // Its containers are open while their contents are added.
        var budget = ConversionBudget(values: PropertyListLimits.standard.maximumValues)
        do throws(ConversionRefusal) {
            reserveReferences(toMore: try Self.mostObjects(of: value, maximumDepth, &budget))
        } catch {
            throw .unwritable(error.message)
        }
        var pace = InterruptionPace()
        return try add(within: value, maximumDepth, &pace)
    }

    /// An upper bound for the objects of a tree. Values that are nested too deep are refused later.
    private static func mostObjects(
        of value: PropertyListValue, _ maximumDepth: Int, _ budget: inout ConversionBudget
    ) throws(ConversionRefusal) -> Int {
        try budget.visit()
        guard maximumDepth > 0, cubby_stack_is_short() == 0 else { return 1 }
        var count = 1
        switch value {
        case .array(let elements), .set(let elements):
            for element in elements { count += try mostObjects(of: element, maximumDepth - 1, &budget) }
        case .dictionary(let entries):
            for entry in entries.textEntries.values {
                count += 1 + (try mostObjects(of: entry, maximumDepth - 1, &budget))
            }
            for (key, entry) in entries.sortedOthers {
                count += try mostObjects(of: key, maximumDepth - 1, &budget)
                count += try mostObjects(of: entry, maximumDepth - 1, &budget)
            }
        default: break
        }
        return count
    }

    private func add(
        within value: PropertyListValue, _ maximumDepth: Int, _ pace: inout InterruptionPace
    ) throws(PropertyListError) -> ObjectNumber {
        if pace.isDue() { throw .unwritable(Interruption.message) }
        switch value {
        case .null: return null()
        case .boolean(let value): return boolean(value)
        case .integer(let value): return integer(value)
        case .wideInteger(let value): return integer(value)
        case .real(let value): return real(value)
        case .single(let value): return real(value)
        case .date(let value): return date(value)
        case .data(let bytes): return bytes.withUnsafeBytes { data($0) }
        case .string(let text): return string(text)
        case .utf16(let units): return string(units: units)
        case .uid(let value): return uid(value)
        case .array(let elements):
            let (number, references) = array(count: elements.count)
            try fill(references, with: elements, maximumDepth, &pace)
            return number
        case .set(let elements):
            let (number, references) = set(count: elements.count)
            try fill(references, with: elements, maximumDepth, &pace)
            return number
        case .dictionary(let entries):
            guard maximumDepth > 0, cubby_stack_is_short() == 0 else { throw Self.tooDeep }
            let (number, references) = dictionary(count: entries.count)
            let entries = entries.sortedEntries
            for (index, entry) in entries.enumerated() {
                let key = try add(within: entry.key, maximumDepth - 1, &pace)
                setReference(index, in: references, to: key)
            }
            for (index, entry) in entries.enumerated() {
                let object = try add(within: entry.value, maximumDepth - 1, &pace)
                setReference(entries.count + index, in: references, to: object)
            }
            return number
        }
    }

    private func fill(
        _ references: Int, with elements: [PropertyListValue], _ maximumDepth: Int, _ pace: inout InterruptionPace
    ) throws(PropertyListError) {
        guard maximumDepth > 0, cubby_stack_is_short() == 0 else { throw Self.tooDeep }
        for (index, element) in elements.enumerated() {
            setReference(index, in: references, to: try add(within: element, maximumDepth - 1, &pace))
        }
    }

    private static var tooDeep: PropertyListError {
        .unwritable("containers nest too deep to be written")
    }
}
