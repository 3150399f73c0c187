import CPlatform

/// A growable array of plain values whose address changes only by growth and by copy on write.
///
/// Unlike `Array` it never checks for exclusive access, so that a scan is a pointer walk and an item's deinitialiser
/// can clear its slot while a method of the store runs. Large columns reserve addresses to grow into.
///
/// A row of a mapped archive is read at its first access (`RowSource`); the validity bitmap records which rows are in
/// memory. Snapshots share the memory, which is copied on write.
struct Column<Element: BitwiseCopyable>: ~Copyable {
    private var memory: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private(set) var capacity: Int
    private var buffer: ColumnBuffer
    /// Rows below this number may be shared with a snapshot.
    private var sharedCount: UInt32 = 0
    /// The archive's rows that are in memory; nil if the column is not mapped.
    private var validity: ValidityBitmap?
    /// Rows below this number may be missing; 0 if the column was never mapped.
    private var mappedCount: UInt32 = 0

    init(minimumCapacity: Int = 16) {
        capacity = max(minimumCapacity, 1)
        memory = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        buffer = ColumnBuffer(memory, capacity: capacity)
    }

    @inline(__always)
    subscript(row: UInt32) -> Element {
        get {
            assert(Int(row) < count)
            if row < mappedCount { fault(row) }
            return memory[Int(row)]
        }
        set {
            assert(Int(row) < count)
            if row < sharedCount { separate() }
            if row < mappedCount { validity?.markPresent(row) }
            memory[Int(row)] = newValue
        }
    }

    /// The elements' address, with every row materialised.
    @inline(__always)
    var base: UnsafeMutablePointer<Element> {
        materialise()
        return memory
    }

    /// The address of one row's element.
    @inline(__always)
    func pointer(_ row: UInt32) -> UnsafeMutablePointer<Element> {
        if row < mappedCount { fault(row) }
        return memory + Int(row)
    }

    /// Prefetches a row's element.
    @inline(__always)
    func prefetch(_ row: UInt32) {
        cubby_prefetch(memory + Int(row))
    }

    /// The element in memory, without materialising: undefined for a row that is not present.
    @inline(__always)
    func peek(_ row: UInt32) -> Element {
        memory[Int(row)]
    }

    /// Whether the row's element is in memory.
    @inline(__always)
    func isPresent(_ row: UInt32) -> Bool {
        row >= mappedCount || validity?.isPresent(row) ?? true
    }

    /// Whether every row's element is in memory.
    var isWhole: Bool { validity.map { $0.missing == 0 } ?? true }

    /// Drops a row's element, which the archive has.
    func forget(_ row: UInt32) {
        if row < mappedCount { validity?.markMissing(row) }
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow(to: count + 1) }
        (memory + count).initialize(to: element)
        count += 1
    }

    mutating func reserve(_ wanted: Int) {
        if wanted > capacity { grow(to: wanted) }
    }

    /// Appends an element until there are `wanted`.
    mutating func pad(to wanted: Int, _ element: Element) {
        guard wanted > count else { return }
        reserve(wanted)
        (memory + count).initialize(repeating: element, count: wanted - count)
        count = wanted
    }

    @inline(never)
    private mutating func grow(to wanted: Int) {
        let larger = max(wanted, capacity + capacity / 2)
        if sharedCount > 0, !isKnownUniquelyReferenced(&buffer) { return replace(capacity: larger) }
        sharedCount = 0
        memory = buffer.grow(to: larger, of: Element.self)
        capacity = larger
    }

    // MARK: Rows in the archive

    /// Maps `number` rows of an archive into the empty column.
    ///
    /// - Parameters:
    ///   - number: the number of rows.
    ///   - column: the kind of the elements.
    ///   - source: the source of the rows.
    ///   - isDense: whether scattered rows are going to be accessed soon, as by the journal: then it uses large pages.
    mutating func map(_ number: Int, _ column: MappedColumn, _ source: any RowSource, isDense: Bool = false) {
        replaceEmpty(number, isDense: isDense)
        validity = ValidityBitmap(number, column, source)
        mappedCount = UInt32(number)
    }

    /// Fills the empty column with `number` zero elements, without touching the memory.
    mutating func fillWithZeros(_ number: Int) {
        replaceEmpty(number)
    }

    private mutating func replaceEmpty(_ number: Int, isDense: Bool = false) {
        assert(count == 0)
        capacity = max(number, 16)
        let byteCount = capacity * MemoryLayout<Element>.stride
        buffer = isDense ? ColumnBuffer(toBeFilled: byteCount) : ColumnBuffer(zeros: byteCount)
        memory = buffer.base.assumingMemoryBound(to: Element.self)
        count = number
    }

    @inline(__always)
    private func fault(_ row: UInt32) {
        if let validity, !validity.isPresent(row) { validity.load(row, to: memory + Int(row)) }
    }

    /// Materialises every row.
    func materialise() {
        if mappedCount > 0 { faultAll() }
    }

    @inline(never)
    private func faultAll() {
        validity?.loadAll(to: memory, stride: MemoryLayout<Element>.stride)
    }

    // MARK: Snapshots

    /// The current elements, kept as long as the returned column.
    mutating func share() -> SharedColumn<Element> {
        sharedCount = UInt32(count)
        return SharedColumn(
            buffer: buffer, memory: UnsafePointer(memory), presentRows: validity?.presentRows ?? [],
            mappedCount: mappedCount)
    }

    /// Copy on write: leaves the memory to the snapshots that share it, if there are any.
    @inline(never)
    private mutating func separate() {
        sharedCount = 0
        if !isKnownUniquelyReferenced(&buffer) { replace(capacity: capacity) }
    }

    /// Copies the elements to new memory.
    private mutating func replace(capacity wanted: Int) {
        let old = buffer
        let source = memory
        let byteCount = wanted * MemoryLayout<Element>.stride
        let fresh = validity == nil ? ColumnBuffer(toBeFilled: byteCount) : ColumnBuffer(zeros: byteCount)
        let target = fresh.base.assumingMemoryBound(to: Element.self)
        buffer = fresh
        memory = target
        capacity = wanted
        sharedCount = 0
        var start = 0
        // Rows that are still in the archive are skipped: copying would bring their pages in.
        if let validity {
            for (word, bits) in validity.presentRows.enumerated() where bits != 0 {
                let first = word * 64
                (target + first).update(from: source + first, count: min(64, count - first))
            }
            start = Int(mappedCount) / 64 * 64
        }
        (target + start).update(from: source + start, count: count - start)
        extendLifetime(old)
    }
}

extension Column where Element == Cell {
    /// Records a scan of the texts.
    ///
    /// - Returns: whether it is the first, and some texts are only in the archive.
    func beginScan() -> Bool {
        mappedCount > 0 && validity?.beginScan() ?? false
    }

    /// Reads the cells of some rows; they are valid as long as the column's. Rows in the archive are not materialised:
    /// a single scan would occupy a page of memory for every few rows read.
    func peek(at rows: UnsafeMutableBufferPointer<UInt32>, _ cells: UnsafeMutablePointer<Cell>) {
        if let validity { return validity.peek(at: rows, in: memory, cells) }
        for (place, row) in rows.enumerated() { cells[place] = memory[Int(row)] }
    }

    /// Materialises some rows in a batch, before each is accessed.
    func materialiseTexts(_ rows: UnsafeMutableBufferPointer<UInt32>) {
        if mappedCount > 0, let validity, validity.missing > 0 { validity.loadTexts(rows, to: memory) }
    }
}

/// A column's state when a snapshot was taken.
struct SharedColumn<Element: BitwiseCopyable>: @unchecked Sendable {
    // Guard: the column does not change these elements while the buffer has two owners.
    let buffer: ColumnBuffer
    let memory: UnsafePointer<Element>
    let presentRows: [UInt64]
    let mappedCount: UInt32

    /// The row's element; nil if it is only in the archive.
    @inline(__always)
    subscript(row: UInt32) -> Element? {
        if row < mappedCount, presentRows[Int(row >> 6)] & 1 << UInt64(row & 63) == 0 { return nil }
        return memory[Int(row)]
    }

    /// The row's element, read from the archive if necessary.
    @inline(__always)
    func element(_ row: UInt32, _ column: MappedColumn, _ source: (any RowSource)?, _ empty: Element) -> Element {
        if let element = self[row] { return element }
        var element = empty
        source?.load(column, row, to: &element)
        return element
    }
}
