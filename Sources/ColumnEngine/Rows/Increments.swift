import PredicateFormat
package import PropertyList

/// Numbers that are added to a field.
package enum Increment {
    /// The number after an increment. A field without a value counts as 0.
    ///
    /// Integers are exact; with a real the sum is one.
    ///
    /// - Throws: ``StoreError`` with `invalidValue` if the field has another value than a number, the amount is none, or
    ///   the sum is more than an integer or a real holds.
    static func sum(
        _ value: PropertyListValue?, _ amount: PropertyListValue, of field: String
    ) throws(StoreError) -> PropertyListValue {
        guard let addend = number(amount), addend.asDouble.isFinite else {
            throw error(field, "is incremented by a number: \(FieldValidation.describe(amount)) is none")
        }
        guard let value, value != .null else { return amount }
        guard let augend = number(value) else {
            throw error(field, "is \(FieldValidation.describe(value)), which is not a number and cannot be incremented")
        }
        if case .integer(let first) = augend, case .integer(let second) = addend {
            let (sum, isTooLarge) = first.addingReportingOverflow(second)
            if !isTooLarge, let small = Int64(exactly: sum) { return .integer(small) }
            // A field that has a wide integer may have another one.
            if !isTooLarge, Int64(exactly: first) == nil { return .wideInteger(sum) }
        } else if case let sum = augend.asDouble + addend.asDouble, sum.isFinite {
            return .real(sum)
        }
        throw error(
            field,
            "is \(FieldValidation.describe(value)): \(FieldValidation.describe(amount)) more is too large a number")
    }

    /// The amount of two increments; nil if one is none, or the amount is too large a number.
    package static func total(_ first: PropertyListValue?, _ second: PropertyListValue?) -> PropertyListValue? {
        guard let first, let second else { return nil }
        return try? sum(first, second, of: "")
    }

    /// The amount that takes an increment back.
    package static func negated(_ amount: PropertyListValue) -> PropertyListValue {
        guard case .integer(let number)? = number(amount) else { return .real(-(number(amount)?.asDouble ?? 0)) }
        let (negated, isTooLarge) = Int128(0).subtractingReportingOverflow(number)
        // Only the least number has no opposite.
        if isTooLarge { return .real(-Double(number)) }
        return Int64(exactly: negated).map { .integer($0) } ?? .wideInteger(negated)
    }

    /// Whether a value is a number, or none, which counts as 0.
    package static func isPossible(on value: PropertyListValue?) -> Bool { value.map { number($0) != nil } ?? true }

    /// Nil for a truth value as well, which predicates compute with.
    private static func number(_ value: PropertyListValue) -> PredicateNumber? {
        if case .boolean = value { nil } else { PredicateNumber(value) }
    }

    private static func error(_ field: String, _ what: String) -> StoreError {
        .invalidValue(field, "\(field) \(what)")
    }
}

/// The amounts of logged increments as codes of 32 bits, for which a change has room; 0 is none.
///
/// Nearly all are small integers, which are their own codes. Others are stored once each, until no change has their code.
struct IncrementCodes {
    private static let small = -(Int64(1) << 30)..<Int64(1) << 30
    private static let leastLimit = 4096
    /// By code; nil for one that is free.
    private var amounts: [PropertyListValue?] = []
    private var places: [PropertyListValue: UInt32] = [:]
    private var freeCodes: [UInt32] = []
    /// The number of amounts above which it is worth while to look for those that no change has.
    private var limit = leastLimit

    /// The number of amounts that are stored here.
    var count: Int { places.count }
    /// Whether there are so many that those without a change should be freed.
    var areMany: Bool { count > limit }

    mutating func code(_ amount: PropertyListValue) -> UInt32 {
        if case .integer(let number) = amount, let code = Self.code(number) { return code }
        if let place = places[amount] { return place }
        let code: UInt32
        if let free = freeCodes.popLast() {
            code = free
            amounts[Int(code >> 1) - 1] = amount
        } else {
            amounts.append(amount)
            code = UInt32(amounts.count) << 1
        }
        places[amount] = code
        return code
    }

    /// Whether a code stands for an amount that is kept here.
    static func isStored(_ code: UInt32) -> Bool { code != 0 && code & 1 == 0 }

    /// Frees the amounts whose codes are not among those of all changes.
    mutating func free(except used: Set<UInt32>) {
        for (amount, code) in places where !used.contains(code) {
            places[amount] = nil
            amounts[Int(code >> 1) - 1] = nil
            freeCodes.append(code)
        }
        limit = max(Self.leastLimit, 2 * count)
    }

    func amount(_ code: UInt32) -> PropertyListValue? {
        if code == 0 { return nil }
        if let number = Self.number(code) { return .integer(number) }
        return amounts[Int(code >> 1) - 1]
    }

    /// The code of the sum of two small integers; nil for others.
    static func sum(_ first: UInt32, _ second: UInt32) -> UInt32? {
        guard let first = number(first), let second = number(second) else { return nil }
        return code(first + second)
    }

    private static func code(_ number: Int64) -> UInt32? {
        small.contains(number) ? UInt32(bitPattern: Int32(number)) << 1 | 1 : nil
    }

    private static func number(_ code: UInt32) -> Int64? {
        code & 1 == 1 ? Int64(Int32(bitPattern: code) >> 1) : nil
    }
}

/// Increments: changes of numbers that can follow any other change of the field.
extension ColumnStore {
    /// A field's value after an increment, as the field stores it.
    ///
    /// - Throws: ``StoreError`` with `invalidValue`.
    package func sum(
        _ value: PropertyListValue?, _ amount: PropertyListValue, for field: ItemField
    ) throws(StoreError) -> PropertyListValue {
        try sum(value, amount, for: field, as: declaration(of: field))
    }

    /// The same by a declaration that need not be the store's; nil for a field that is free.
    package func sum(
        _ value: PropertyListValue?, _ amount: PropertyListValue, for field: ItemField,
        as declaration: FieldDeclaration?
    ) throws(StoreError) -> PropertyListValue {
        var sum = try Increment.sum(value, amount, of: fields.name(of: field))
        if field == table.keyField { throw FieldValidation.keyIsReadOnly }
        // Reals have no exact cents: each sum is rounded to the next ones.
        if declaration?.format == .money, case .real(let number) = sum {
            let cents = (number * 100).rounded()
            if cents.isFinite { sum = .real(cents / 100) }
        }
        if let declaration { sum = try declaration.fitted(sum) ?? sum }
        return try typed(sum, for: field) ?? sum
    }

    /// Sets a field to the number after an increment, and logs it as one.
    package func increment(_ row: UInt32, _ field: ItemField, to cell: Cell, by amount: PropertyListValue) {
        let old = table.cell(row, field)
        setStored(row, field, cell)
        log.didChange()
        let code = log.increments.code(amount)
        if !log.recordIncrement(row, field, old, code) { discard(old, of: field) }
    }

    /// The amount by which a change incremented its field; nil for other changes.
    package func increment(of change: Change) -> PropertyListValue? {
        change.kind == .set ? log.increments.amount(change.position) : nil
    }

    /// Whether there are so many amounts of increments that ``freeIncrements(_:)`` is worth while.
    package var hasManyIncrements: Bool { log.increments.areMany }

    /// Frees the amounts that no change has any more.
    ///
    /// - Parameter visitOtherChanges: called with a function that looks at changes outside of the log.
    package func freeIncrements(_ visitOtherChanges: ((inout [Change]) -> Void) -> Void) {
        var used: Set<UInt32> = []
        func visit(_ changes: inout [Change]) {
            for change in changes where change.kind == .set && IncrementCodes.isStored(change.position) {
                used.insert(change.position)
            }
        }
        log.withChanges(visit)
        visitOtherChanges(visit)
        log.increments.free(except: used)
    }

    /// Makes the log's increments once more, of fields that another host's commit has set meanwhile: it came first.
    ///
    /// - Parameter isChanged: whether the commit has set a field of a row.
    /// - Returns: the fields' values before, as changes; they are not logged.
    /// - Throws: ``StoreError`` with `invalidValue` if a number is not possible any more: the log has to be rolled back,
    ///   and then leaves the other host's values.
    package func repeatIncrements(of isChanged: (_ row: UInt32, _ field: UInt32) -> Bool) throws(StoreError) -> [Change]
    {
        var repeated: [Change] = []
        var failure: StoreError?
        for place in log.changes.indices {
            let change = log.changes[place]
            guard let amount = increment(of: change), isChanged(change.row, change.field) else { continue }
            let field = ItemField(rawValue: change.field)
            let old = table.cell(change.row, field)
            discard(change.cell, of: field)
            log.withChanges { $0[place].cell = old }
            do throws(StoreError) {
                let new = try sum(heap.value(old), amount, for: field)
                setStored(change.row, field, cell(new, for: field))
                log.didChange()
                repeated.append(Change(kind: .set, row: change.row, field: change.field, cell: old))
            } catch {
                failure = error
                // The field keeps its cell, and the log has another one of the same value.
                let copy = heap.value(old).map { cell($0, for: field) } ?? .absent
                log.withChanges { $0[place].cell = copy }
            }
        }
        if let failure { throw failure }
        return repeated
    }
}
