import PropertyList

/// The fields of the current record.
///
/// Property accesses never overlap, so exclusivity checks are disabled.
final class RecordFields {
    @exclusivity(unchecked) private var base: UnsafeMutablePointer<BinaryPropertyListField>
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var capacity = 16
    /// The last record that used each key.
    @exclusivity(unchecked) private var uses: UnsafeMutablePointer<UInt32>
    @exclusivity(unchecked) private var useCount = 16
    @exclusivity(unchecked) private var record: UInt32 = 0

    init() {
        base = .allocate(capacity: capacity)
        uses = .allocate(capacity: useCount)
        uses.initialize(repeating: 0, count: useCount)
    }

    deinit {
        base.deallocate()
        uses.deallocate()
    }

    /// The record's fields, valid until the next is added.
    var all: UnsafeBufferPointer<BinaryPropertyListField> {
        @inline(__always) get { UnsafeBufferPointer(start: base, count: count) }
    }

    /// Begins a record.
    @inline(__always)
    func removeAll() {
        count = 0
        record &+= 1
    }

    /// Adds a field of the record.
    ///
    /// - Returns: false when the record already has the key.
    @inline(__always)
    func append(_ field: BinaryPropertyListField) -> Bool {
        let key = Int(field.key)
        if key >= useCount { growUses(to: key + 1) }
        guard uses[key] != record else { return false }
        uses[key] = record
        if count == capacity { grow() }
        base[count] = field
        count &+= 1
        return true
    }

    @inline(never)
    private func grow() {
        base = Self.moved(base, count, to: capacity * 2)
        capacity *= 2
    }

    @inline(never)
    private func growUses(to needed: Int) {
        let larger = max(needed, useCount * 2)
        uses = Self.moved(uses, useCount, to: larger)
        (uses + useCount).initialize(repeating: 0, count: larger - useCount)
        useCount = larger
    }

    private static func moved<Element>(
        _ old: UnsafeMutablePointer<Element>, _ count: Int, to capacity: Int
    ) -> UnsafeMutablePointer<Element> {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        larger.moveInitialize(from: old, count: count)
        old.deallocate()
        return larger
    }
}
