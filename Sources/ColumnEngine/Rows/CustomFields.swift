import Glibc

/// An item's custom fields: numbers in ascending order and their cells, in one block of memory.
///
/// A handle of eight bytes, which the table of items stores in a column and frees.
package struct CustomFields: BitwiseCopyable {
    private var block: UnsafeMutableRawPointer?

    private struct Header {
        var count: UInt32
        var capacity: UInt32
    }

    private static let cellsOffset = 16

    package static var none: CustomFields { CustomFields(block: nil) }

    var count: Int {
        guard let block else { return 0 }
        return Int(block.assumingMemoryBound(to: Header.self).pointee.count)
    }

    private var capacity: Int {
        guard let block else { return 0 }
        return Int(block.assumingMemoryBound(to: Header.self).pointee.capacity)
    }

    /// The cells, one per field.
    var cells: UnsafeMutableBufferPointer<Cell> {
        guard let block else { return UnsafeMutableBufferPointer(start: nil, count: 0) }
        let start = (block + Self.cellsOffset).assumingMemoryBound(to: Cell.self)
        return UnsafeMutableBufferPointer(start: start, count: count)
    }

    /// The fields' numbers, ascending.
    var numbers: UnsafeMutableBufferPointer<UInt32> {
        guard let block else { return UnsafeMutableBufferPointer(start: nil, count: 0) }
        let offset = Self.cellsOffset + capacity * MemoryLayout<Cell>.stride
        return UnsafeMutableBufferPointer(start: (block + offset).assumingMemoryBound(to: UInt32.self), count: count)
    }

    /// The index of a field, or where to insert it.
    @inline(__always)
    private func find(_ field: UInt32) -> (index: Int, found: Bool) {
        let numbers = numbers
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < field { low = middle + 1 } else { high = middle }
        }
        return (low, low < numbers.count && numbers[low] == field)
    }

    /// The address of the field's cell; nil if the item has no such field. Valid until the next change.
    @inline(__always)
    func pointer(_ field: UInt32) -> UnsafePointer<Cell>? {
        let (index, found) = find(field)
        guard found, let base = cells.baseAddress else { return nil }
        return UnsafePointer(base + index)
    }

    subscript(field: UInt32) -> Cell {
        pointer(field)?.pointee ?? .absent
    }

    /// Sets a field, or removes it with an absent cell.
    package mutating func set(_ field: UInt32, _ cell: Cell) {
        let (index, found) = find(field)
        if found {
            if cell.isAbsent { remove(at: index) } else { cells[index] = cell }
        } else if !cell.isAbsent {
            insert(field, cell, at: index)
        }
    }

    private mutating func remove(at index: Int) {
        let (cells, numbers) = (cells, numbers)
        if let cells = cells.baseAddress, let numbers = numbers.baseAddress {
            let behind = count - index - 1
            (cells + index).update(from: cells + index + 1, count: behind)
            (numbers + index).update(from: numbers + index + 1, count: behind)
        }
        setCount(cells.count - 1)
        if cells.count == 1 { release() }
    }

    private mutating func insert(_ field: UInt32, _ cell: Cell, at index: Int) {
        let count = count
        if count == capacity { grow() }
        setCount(count + 1)
        let (cells, numbers) = (cells, numbers)
        if let cells = cells.baseAddress, let numbers = numbers.baseAddress {
            (cells + index + 1).update(from: cells + index, count: count - index)
            (numbers + index + 1).update(from: numbers + index, count: count - index)
        }
        cells[index] = cell
        numbers[index] = field
    }

    private func setCount(_ count: Int) {
        block?.assumingMemoryBound(to: Header.self).pointee.count = UInt32(count)
    }

    private mutating func grow() {
        let (oldCells, oldNumbers) = (cells, numbers)
        let larger = capacity < 4 ? 4 : capacity + capacity / 2
        let size = Self.cellsOffset + larger * (MemoryLayout<Cell>.stride + MemoryLayout<UInt32>.stride)
        let fresh = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        fresh.bindMemory(to: Header.self, capacity: 1).pointee =
            Header(count: UInt32(oldCells.count), capacity: UInt32(larger))
        let old = block
        block = fresh
        if let source = oldCells.baseAddress, let target = cells.baseAddress {
            memcpy(target, source, oldCells.count * MemoryLayout<Cell>.stride)
        }
        if let source = oldNumbers.baseAddress, let target = numbers.baseAddress {
            memcpy(target, source, oldNumbers.count * MemoryLayout<UInt32>.stride)
        }
        old?.deallocate()
    }

    /// Frees the memory.
    package mutating func release() {
        block?.deallocate()
        block = nil
    }

    /// A separate block with the same fields.
    func copy() -> CustomFields {
        guard let block, count > 0 else { return .none }
        let size = Self.cellsOffset + capacity * (MemoryLayout<Cell>.stride + MemoryLayout<UInt32>.stride)
        let fresh = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        fresh.copyMemory(from: block, byteCount: size)
        return CustomFields(block: fresh)
    }
}

/// Copy on write for the items' custom fields, whose blocks are changed in place.
///
/// While a snapshot exists, the table copies a row's block before its first change and retires the old one to this
/// object, which the snapshot retains.
final class CopiedBlocks: @unchecked Sendable {
    // Guard: `retired` and `cloned` belong to the store's thread; a snapshot only keeps the object alive.
    private var retired: [CustomFields] = []
    private var cloned: Set<UInt32> = []

    deinit {
        for var block in retired { block.release() }
    }

    /// Retires the row's block if a snapshot may be reading it.
    ///
    /// - Returns: whether the block was retired; the caller must then neither change nor release it.
    func retire(_ row: UInt32, _ block: CustomFields) -> Bool {
        guard cloned.insert(row).inserted else { return false }
        retired.append(block)
        return true
    }

    /// Called for another snapshot, which may read the current blocks.
    func renew() {
        cloned = []
    }
}
