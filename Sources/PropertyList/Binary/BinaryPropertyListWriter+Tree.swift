internal import CPlatform

extension BinaryPropertyListWriter {
    /// Adds a tree of values, containers before their contents. The keys of a dictionary are sorted.
    ///
    /// - Throws: `writeInvalid` for a date that is not finite and for nesting beyond `maximumDepth`.
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
            for entry in entries.values { count += 1 + (try mostObjects(of: entry, maximumDepth - 1, &budget)) }
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
        case .date(let value):
            guard value.secondsSinceReferenceDate.isFinite else {
                throw .unwritable("a property list cannot hold a date that is not finite")
            }
            return date(value)
        case .data(let bytes): return bytes.withUnsafeBytes { data($0) }
        case .string(let text): return string(text)
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
            let keys = entries.keys.sorted(by: Self.precedes)
            for (index, key) in keys.enumerated() { setReference(index, in: references, to: string(key)) }
            for (index, key) in keys.enumerated() {
                guard let entry = entries[key] else { continue }
                let object = try add(within: entry, maximumDepth - 1, &pace)
                setReference(keys.count + index, in: references, to: object)
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

    /// The order of dictionary keys in the output: by UTF-8 bytes.
    static func precedes(_ a: String, _ b: String) -> Bool {
        a.utf8.lexicographicallyPrecedes(b.utf8)
    }
}
