/// Writes the offset table of a file, entry by entry.
struct OffsetEntries {
    private var target: UnsafeMutableRawPointer
    private let width: Int

    /// - Parameters:
    ///   - target: the address of the first entry.
    ///   - width: the size of an entry.
    init(target: UnsafeMutableRawPointer, width: Int) {
        self.target = target
        self.width = width
    }

    @inline(__always)
    mutating func append(_ place: Int) {
        switch width {
        case 1: store(place, as: UInt8.self)
        case 2: store(place, as: UInt16.self)
        case 4: store(place, as: UInt32.self)
        default: store(place, as: UInt64.self)
        }
    }

    /// Adds entries for many offsets, each increased by `delta`.
    mutating func append(_ offsets: UnsafeBufferPointer<UInt64>, delta: Int) {
        switch width {
        case 1: store(offsets, delta, as: UInt8.self)
        case 2: store(offsets, delta, as: UInt16.self)
        case 4: store(offsets, delta, as: UInt32.self)
        default: store(offsets, delta, as: UInt64.self)
        }
    }

    @inline(__always)
    private mutating func store<Entry: FixedWidthInteger & BitwiseCopyable>(_ place: Int, as type: Entry.Type) {
        target.storeBytes(of: Entry(truncatingIfNeeded: place).bigEndian, as: Entry.self)
        target += MemoryLayout<Entry>.size
    }

    @inline(__always)
    private mutating func store<Entry: FixedWidthInteger & BitwiseCopyable>(
        _ offsets: UnsafeBufferPointer<UInt64>, _ delta: Int, as type: Entry.Type
    ) {
        let shift = Entry(truncatingIfNeeded: delta)
        for index in 0..<offsets.count {
            let entry = Entry(truncatingIfNeeded: offsets[index]) &+ shift
            target.storeBytes(
                of: entry.bigEndian, toByteOffset: index &* MemoryLayout<Entry>.size, as: Entry.self)
        }
        target += offsets.count * MemoryLayout<Entry>.size
    }

    /// Moves the entries of a table towards the front and narrows them.
    static func move(
        _ count: Int, of size: Int, from source: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer, width: Int
    ) {
        if width == size {
            if target != source { target.copyMemory(from: source, byteCount: count * size) }
            return
        }
        var entries = OffsetEntries(target: target, width: width)
        for index in 0..<count {
            var place = 0
            for byte in 0..<size {
                place = place << 8 | Int(source.load(fromByteOffset: index * size + byte, as: UInt8.self))
            }
            entries.append(place)
        }
    }
}
