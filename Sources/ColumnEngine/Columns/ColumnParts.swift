import Glibc

/// Numbers of a field as words of 64 bits, row by row: integers, the bits of reals, or seconds since the reference date.
///
/// A bitmap marks the rows that have a value, and another one the reals that are integers. A declared field has neither.
struct NumberRows: ~Copyable {
    var words = Column<UInt64>(minimumCapacity: 1)
    private var validity = Column<UInt64>(minimumCapacity: 1)
    private var integral = Column<UInt64>(minimumCapacity: 1)

    // MARK: Reading

    @inline(__always)
    func isPresent(_ row: UInt32) -> Bool { validity[row >> 6] & 1 << UInt64(row & 63) != 0 }

    /// The cell of a row that has a number, in a column of a kind.
    @inline(__always)
    func cell(_ row: UInt32, _ kind: Cell.Kind) -> Cell {
        if kind == .real, integral[row >> 6] & 1 << UInt64(row & 63) != 0 {
            return .integer(Int64(Double(bitPattern: words[row])))
        }
        return Cell(kind, words[row])
    }

    /// The numbers of a column of a kind, valid until it is changed. `isFull` tells that each row has one.
    func view(_ kind: Cell.Kind, isFull: Bool) -> NumberView {
        NumberView(
            kind: kind, words: UnsafePointer(words.base), validity: isFull ? nil : UnsafePointer(validity.base),
            integral: kind == .real ? UnsafePointer(integral.base) : nil)
    }

    // MARK: Changing

    /// Sets a row's number, in a column of a kind.
    @inline(__always)
    mutating func set(_ row: UInt32, _ cell: Cell, _ kind: Cell.Kind) {
        let isConverted = cell.kind != kind
        words[row] = isConverted ? Double(cell.integerValue).bitPattern : cell.tail
        if kind == .real { Self.setBit(&integral, row, isConverted) }
    }

    /// Marks whether a row has a value.
    mutating func setPresent(_ row: UInt32, _ isPresent: Bool) { Self.setBit(&validity, row, isPresent) }

    private static func setBit(_ bits: inout Column<UInt64>, _ row: UInt32, _ value: Bool) {
        let bit: UInt64 = 1 << UInt64(row & 63)
        if value { bits[row >> 6] |= bit } else { bits[row >> 6] &= ~bit }
    }

    /// Reserves capacity for rows below `wanted`. Without bitmaps for a declared field.
    mutating func extend(to wanted: Int, unset: UInt64, hasValidity: Bool, hasIntegral: Bool) {
        words.pad(to: wanted, unset)
        if hasValidity { validity.pad(to: (wanted + 63) / 64, 0) }
        if hasIntegral { integral.pad(to: (wanted + 63) / 64, 0) }
    }

    /// Makes reals of the integers of the first `count` rows.
    mutating func makeReals(_ count: Int) {
        integral.pad(to: validity.count, 0)
        for row in 0..<UInt32(count) where isPresent(row) {
            words[row] = Double(Int64(bitPattern: words[row])).bitPattern
        }
        for word in 0..<UInt32(validity.count) { integral[word] = validity[word] }
    }

    mutating func share() -> SharedNumberRows {
        SharedNumberRows(words: words.share(), validity: validity.share(), integral: integral.share())
    }
}

/// The state of ``NumberRows`` when a snapshot was taken.
struct SharedNumberRows {
    fileprivate let words: SharedColumn<UInt64>
    fileprivate let validity: SharedColumn<UInt64>
    fileprivate let integral: SharedColumn<UInt64>

    @inline(__always)
    func isPresent(_ row: UInt32) -> Bool { Self.has(validity, row) }

    /// The cell of a row that has a number, in a column of a kind; nil if it is only in the archive.
    @inline(__always)
    func cell(_ row: UInt32, _ kind: Cell.Kind) -> Cell? {
        guard let word = words[row] else { return nil }
        if kind == .real, Self.has(integral, row) { return .integer(Int64(Double(bitPattern: word))) }
        return Cell(kind, word)
    }

    private static func has(_ bits: borrowing SharedColumn<UInt64>, _ row: UInt32) -> Bool {
        (bits[row >> 6] ?? 0) & 1 << UInt64(row & 63) != 0
    }
}

/// Values of a field as codes of a dictionary, row by row.
struct CodedRows: ~Copyable {
    private var codes = Column<UInt32>(minimumCapacity: 1)
    private(set) var dictionary = CellDictionary()

    init() {}

    /// The first `count` of some cells, all of which the dictionary has. `discard` is called with each whose text is no
    /// longer needed.
    init(_ dictionary: CellDictionary, _ cells: borrowing Column<Cell>, _ count: Int, _ discard: (Cell) -> Void) {
        self.dictionary = dictionary
        codes = Column(minimumCapacity: max(count, 1))
        for row in 0..<UInt32(count) {
            let cell = cells[row]
            let code = cell.isAbsent ? 0 : self.dictionary.code(for: cell)
            codes.append(code)
            if self.dictionary.cells[Int(code)] != cell { discard(cell) }
        }
    }

    @inline(__always)
    subscript(row: UInt32) -> Cell { dictionary.cells[Int(codes[row])] }

    /// The address of the codes, valid until the column is changed.
    var base: UnsafePointer<UInt32> { UnsafePointer(codes.base) }

    /// Sets a row's value.
    ///
    /// - Returns: whether it had none.
    mutating func set(_ row: UInt32, _ cell: Cell) -> Bool {
        let code = dictionary.code(for: cell)
        let isNew = codes[row] == 0
        codes[row] = code
        return isNew
    }

    /// Removes a row's value.
    ///
    /// - Returns: whether it had one.
    mutating func clear(_ row: UInt32) -> Bool {
        if codes[row] == 0 { return false }
        codes[row] = 0
        return true
    }

    mutating func extend(to wanted: Int) { codes.pad(to: wanted, 0) }

    @inline(__always)
    func prefetch(_ row: UInt32) { codes.prefetch(row) }

    /// Replaces the dictionary's cells by equal ones whose texts lie elsewhere.
    func replaceCells(_ replacement: (Cell) -> Cell) { dictionary.replaceCells(replacement) }

    mutating func share() -> SharedColumn<UInt32> { codes.share() }
}

/// The cells of a declared field that are not of its kind, by row.
struct MisfitCells {
    private(set) var cells: [UInt32: Cell] = [:]
    /// Whether there are none: asked with every cell.
    private(set) var isEmpty = true

    @inline(__always)
    subscript(row: UInt32) -> Cell? { isEmpty ? nil : cells[row] }

    mutating func set(_ row: UInt32, _ cell: Cell) {
        cells[row] = cell
        isEmpty = false
    }

    mutating func remove(_ row: UInt32) {
        if isEmpty { return }
        cells.removeValue(forKey: row)
        isEmpty = cells.isEmpty
    }

    /// Replaces the cells of the rows in use by equal ones whose texts lie elsewhere, and forgets the others.
    mutating func replace(isUsed: (UInt32) -> Bool, _ replacement: (UInt32, Cell) -> Cell) {
        if isEmpty { return }
        for (row, cell) in cells { cells[row] = isUsed(row) ? replacement(row, cell) : nil }
        isEmpty = cells.isEmpty
    }
}

/// A column's memory, freed when neither the column nor a snapshot uses it.
///
/// Large buffers use large pages, with reserved addresses to grow into: items are accessed randomly, and pages of the
/// usual size would be thousands.
final class ColumnBuffer: @unchecked Sendable {
    // Guard: a snapshot reads only elements that the column does not change while both share the buffer; only the owner
    // grows it.
    private(set) var base: UnsafeMutableRawPointer
    /// The bytes in use.
    private var byteCount: Int
    /// The mapped memory; nil if it is from the allocator.
    private var large: LargeMemory?

    init<Element>(_ memory: UnsafeMutablePointer<Element>, capacity: Int) {
        base = UnsafeMutableRawPointer(memory)
        byteCount = capacity * MemoryLayout<Element>.stride
    }

    /// Zero-filled memory, which is free of charge until it is accessed.
    convenience init(zeros byteCount: Int) { self.init(LargeMemory(zeros: byteCount), byteCount) }

    /// Memory that is going to be filled.
    convenience init(toBeFilled byteCount: Int) { self.init(LargeMemory(byteCount), byteCount) }

    private init(_ large: LargeMemory?, _ byteCount: Int) {
        guard let memory = large?.base ?? calloc(max(byteCount, 1), 1) else { Self.outOfMemory(byteCount) }
        (base, self.byteCount, self.large) = (memory, byteCount, large)
    }

    deinit {
        if let large { large.free() } else { free(base) }
    }

    func grow<Element>(to count: Int, of type: Element.Type) -> UnsafeMutablePointer<Element> {
        let wanted = count * MemoryLayout<Element>.stride
        if let large, wanted <= large.byteCount {
            byteCount = wanted
            return base.assumingMemoryBound(to: Element.self)
        }
        if let larger = LargeMemory(wanted) {
            memcpy(larger.base, base, byteCount)
            if let large { large.free() } else { free(base) }
            large = larger
            base = larger.base
        } else if let large {
            guard let grown = malloc(wanted) else { Self.outOfMemory(wanted) }
            memcpy(grown, base, byteCount)
            large.free()
            self.large = nil
            base = grown
        } else {
            guard let grown = realloc(base, wanted) else { Self.outOfMemory(wanted) }
            base = grown
        }
        byteCount = wanted
        return base.assumingMemoryBound(to: Element.self)
    }

    /// A store cannot continue without memory: stop with a clear message.
    private static func outOfMemory(_ byteCount: Int) -> Never {
        preconditionFailure("out of memory: a column of \(byteCount) bytes")
    }
}

/// Memory mapped from the kernel, zero-filled at the first access; on pages of two megabytes from some megabytes on, if
/// the kernel grants them.
package struct LargeMemory {
    let base: UnsafeMutableRawPointer
    /// The size of the address range: more than requested, to grow into.
    let byteCount: Int

    private static let page = 2 << 20
    /// Minimum size in bytes; the allocator serves less, since large pages would be mostly unused.
    static let least = 4 << 20
    /// Minimum size of short-lived memory.
    static let leastForAMoment = 1 << 20
    /// Minimum size for zeros; the allocator clears less than this as fast.
    private static let fewPages = 8 << 10
    /// The address range as a multiple of the requested size.
    private static let reserve = 8

    /// Nil for small memory, and if the system grants no addresses.
    init?(_ wanted: Int, least: Int = Self.least) {
        guard wanted >= least, wanted < Int.max / 16 else { return nil }
        for factor in [Self.reserve, 1] {
            let size = (wanted * factor + Self.page - 1) / Self.page * Self.page
            if let memory = Self.map(size) {
                (base, byteCount) = (memory, size)
                return
            }
        }
        return nil
    }

    /// Zeros on pages of the usual size, which occupy no memory before they are accessed: the allocator would clear its
    /// cached memory. Nil for a few pages, and if the system grants no addresses.
    init?(zeros wanted: Int) {
        guard wanted >= Self.fewPages, wanted < Int.max / 16 else { return nil }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let memory = mmap(nil, wanted, PROT_READ | PROT_WRITE, flags, -1, 0), memory != MAP_FAILED else {
            return nil
        }
        (base, byteCount) = (memory, wanted)
    }

    /// Maps addresses aligned to large pages.
    private static func map(_ size: Int) -> UnsafeMutableRawPointer? {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let whole = mmap(nil, size + page, PROT_READ | PROT_WRITE, flags, -1, 0), whole != MAP_FAILED else {
            return nil
        }
        let before = (page - Int(bitPattern: whole) % page) % page
        if before > 0 { munmap(whole, before) }
        if page > before { munmap(whole + before + size, page - before) }
        // If none are available, the pages are of the usual size.
        madvise(whole + before, size, MADV_HUGEPAGE)
        return whole + before
    }

    func free() {
        munmap(base, byteCount)
    }

    /// Calls a body with an uninitialised buffer. Large buffers are mapped and unmapped: the allocator would keep the
    /// memory between later allocations.
    static func withBuffer<Element: BitwiseCopyable, Result>(
        of type: Element.Type, capacity: Int, _ body: (UnsafeMutableBufferPointer<Element>) throws -> Result
    ) rethrows -> Result {
        if let memory = LargeMemory(capacity * MemoryLayout<Element>.stride, least: leastForAMoment) {
            defer { memory.free() }
            let base = memory.base.bindMemory(to: Element.self, capacity: capacity)
            return try body(UnsafeMutableBufferPointer(start: base, count: capacity))
        }
        let buffer = UnsafeMutableBufferPointer<Element>.allocate(capacity: capacity)
        defer { buffer.deallocate() }
        return try body(buffer)
    }

    /// Requests large pages for the allocator's memory, which is about to be filled.
    package static func advise(_ memory: UnsafeRawBufferPointer) {
        guard let start = memory.baseAddress, memory.count >= page * 2 else { return }
        let before = (page - Int(bitPattern: start) % page) % page
        madvise(UnsafeMutableRawPointer(mutating: start + before), (memory.count - before) / page * page, MADV_HUGEPAGE)
    }
}
