/// The items' order: maps positions to rows and back.
///
/// A removed row leaves a hole. Without holes, or before the first one, a position is an index; after it, a Fenwick
/// tree over the holes of blocks of 64 slots finds it in O(log n). The holes are closed when they are a third of the
/// slots, so that consecutive removals cost O(log n) each, and a loop that reads as it removes stays fast.
package struct ItemOrder: ~Copyable {
    package static let hole = UInt32.max
    static let nowhere = UInt32.max

    /// Rows in order, with holes; empty while `untouched` counts them.
    private var stored: [UInt32] = []
    /// The slot of each row; `nowhere` for a row that is not in the store.
    private var places = Column<UInt32>()
    private(set) var count = 0
    private var firstHole = Int.max
    /// The rows below this number are each at their own position, and are not stored: the order of a mapped archive
    /// until its first change.
    private var untouched = 0
    /// The number of existing rows while the order is untouched.
    private var untouchedRows = 0
    /// Whether each row is at the position of its number.
    private(set) var isInRowOrder = true
    /// The number of holes per block of 64 slots, as a Fenwick tree of a power of two of blocks; empty if not built.
    private var tree: [UInt32] = []

    /// Rows in order, with holes.
    package var slots: [UInt32] {
        mutating get {
            writeDown()
            return stored
        }
    }

    /// The rows for a snapshot: nil if each is at its own position.
    var snapshot: [UInt32]? { isInRowOrder ? nil : stored }

    /// Initialises the empty order with `number` rows, each at its own position. O(1).
    mutating func adopt(_ number: Int) {
        untouched = number
        untouchedRows = number
        count = number
    }

    @inline(__always)
    private mutating func writeDown() {
        if untouched > 0 { makeSlots() }
    }

    @inline(never)
    private mutating func makeSlots() {
        stored = Array(0..<UInt32(untouched))
        places.reserve(untouchedRows)
        for row in 0..<untouched { places.append(UInt32(row)) }
        for _ in untouched..<untouchedRows { places.append(Self.nowhere) }
        untouched = 0
    }

    mutating func reserve(_ wanted: Int) {
        if untouched > 0 { return }
        stored.reserveCapacity(wanted)
        places.reserve(wanted)
    }

    /// Adds an entry for a new row's slot.
    mutating func addRow() {
        if untouched > 0 {
            untouchedRows += 1
            return
        }
        places.append(Self.nowhere)
    }

    @inline(__always)
    mutating func append(_ row: UInt32) {
        if untouched > 0 {
            if Int(row) == untouched {
                untouched += 1
                count += 1
                return
            }
            makeSlots()
        }
        places[row] = UInt32(stored.count)
        if Int(row) != stored.count { isInRowOrder = false }
        stored.append(row)
        count += 1
        if firstHole != Int.max, !tree.isEmpty, (stored.count - 1) >> 6 >= tree.count - 1 { tree = [] }
    }

    /// The slot of a row that is in the order; slots have the same order as rows.
    @inline(__always)
    func slot(of row: UInt32) -> UInt32 { row < untouched ? row : places[row] }

    /// The row at a position below `count`.
    @inline(__always)
    mutating func row(at position: Int) -> UInt32 {
        if position < untouched { return UInt32(position) }
        return position < firstHole ? stored[position] : rowBehindHole(position)
    }

    /// The position of a row that is in the order.
    mutating func position(of row: UInt32) -> Int {
        if row < untouched { return Int(row) }
        let slot = Int(places[row])
        if slot < firstHole { return slot }
        if tree.isEmpty { buildTree() }
        var holes = 0
        var block = slot >> 6
        let start = block << 6
        while block > 0 {
            holes += Int(tree[block])
            block &= block - 1
        }
        for index in start..<slot where stored[index] == Self.hole { holes += 1 }
        return slot - holes
    }

    /// Removes a row, and returns its former position.
    mutating func remove(_ row: UInt32) -> Int {
        writeDown()
        let position = position(of: row)
        let slot = Int(places[row])
        places[row] = Self.nowhere
        count -= 1
        if slot == stored.count - 1 {
            stored.removeLast()
            while stored.last == Self.hole {
                let last = stored.count - 1
                stored.removeLast()
                addToTree(last, -1)
            }
            if stored.count <= firstHole {
                firstHole = Int.max
                tree = []
            }
            return position
        }
        isInRowOrder = false
        stored[slot] = Self.hole
        firstHole = min(firstHole, slot)
        addToTree(slot, 1)
        if stored.count - count > 64 + stored.count / 3 { close() }
        return position
    }

    mutating func insert(_ row: UInt32, at position: Int) {
        if position == count { return append(row) }
        writeDown()
        close()
        isInRowOrder = false
        stored.insert(row, at: position)
        count += 1
        for slot in position..<stored.count { places[stored[slot]] = UInt32(slot) }
    }

    /// Puts removed rows back, each at the position that it had when it was removed, or last if there are fewer rows now.
    /// O(n log n).
    ///
    /// - Parameter removed: the rows in the order of their removals.
    /// - Returns: the same rows in their order now, with their positions.
    mutating func restore(_ removed: [PlacedRow]) -> [PlacedRow] {
        if removed.count == 1, let only = removed.first.map({ PlacedRow($0.row, at: min($0.position, count)) }) {
            insert(only.row, at: only.position)
            return [only]
        }
        writeDown()
        close()
        count += removed.count
        // Removing the same positions from the restored order leaves the slots of the other rows.
        var left = ItemOrder()
        left.adopt(count)
        var restored = [UInt32](repeating: Self.hole, count: count)
        for item in removed {
            let slot = left.row(at: min(item.position, left.count - 1))
            _ = left.remove(slot)
            restored[Int(slot)] = item.row
        }
        swap(&stored, &restored)
        isInRowOrder = false
        var next = restored.makeIterator()
        var placed: [PlacedRow] = []
        for slot in stored.indices {
            if stored[slot] == Self.hole, let other = next.next() {
                stored[slot] = other
            } else {
                placed.append(PlacedRow(stored[slot], at: slot))
            }
            places[stored[slot]] = UInt32(slot)
        }
        return placed
    }

    /// Moves the row at one position to another: O(distance).
    mutating func move(from: Int, to: Int) {
        writeDown()
        close()
        isInRowOrder = false
        let row = stored[from]
        let step = from < to ? 1 : -1
        for slot in stride(from: from, to: to, by: step) {
            stored[slot] = stored[slot + step]
            places[stored[slot]] = UInt32(slot)
        }
        stored[to] = row
        places[row] = UInt32(to)
    }

    /// Closes the holes: O(n), unless there are none.
    mutating func close() {
        guard firstHole != Int.max else { return }
        var target = firstHole
        for slot in firstHole..<stored.count where stored[slot] != Self.hole {
            let row = stored[slot]
            stored[target] = row
            places[row] = UInt32(target)
            target += 1
        }
        stored.removeLast(stored.count - target)
        firstHole = Int.max
        tree = []
    }

    // MARK: The tree

    private mutating func buildTree() {
        var size = 1
        while size < (stored.count >> 6) + 2 { size *= 2 }
        tree = [UInt32](repeating: 0, count: size + 1)
        for slot in firstHole..<stored.count where stored[slot] == Self.hole { tree[slot >> 6 + 1] += 1 }
        for index in 1...size {
            let parent = index + (index & -index)
            if parent <= size { tree[parent] += tree[index] }
        }
    }

    private mutating func addToTree(_ slot: Int, _ change: Int32) {
        guard !tree.isEmpty else { return }
        var index = slot >> 6 + 1
        while index < tree.count {
            tree[index] = UInt32(bitPattern: Int32(bitPattern: tree[index]) &+ change)
            index += index & -index
        }
    }

    private mutating func rowBehindHole(_ position: Int) -> UInt32 {
        if tree.isEmpty { buildTree() }
        var block = 0
        var left = position
        var step = tree.count - 1
        while step > 0 {
            let next = block + step
            if next < tree.count {
                let live = step << 6 - Int(tree[next])
                if live <= left {
                    block = next
                    left -= live
                }
            }
            step >>= 1
        }
        var slot = block << 6
        while true {
            if stored[slot] != Self.hole {
                if left == 0 { return stored[slot] }
                left -= 1
            }
            slot += 1
        }
    }
}

/// A row and its position.
struct PlacedRow {
    let row: UInt32
    let position: Int

    init(_ row: UInt32, at position: Int) { (self.row, self.position) = (row, position) }
}
