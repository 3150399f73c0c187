/// The row numbers that an operator works on, in a buffer that passes shorten.
typealias SelectionVector = UnsafeMutableBufferPointer<UInt32>

extension SelectionVector {
    /// Prefetch distance in rows for cells whose texts lie elsewhere; it is half as much for the texts.
    static var lookahead: Int { 16 }

    /// The first rows.
    @inline(__always)
    func first(_ count: Int) -> SelectionVector { SelectionVector(rebasing: self[..<count]) }

    /// Moves the rows for which a condition holds to the front, in order.
    ///
    /// - Returns: their number.
    @inline(__always)
    func keep(_ holds: (UInt32) -> Bool) -> Int {
        var kept = 0
        for place in indices {
            let row = self[place]
            self[kept] = row
            kept &+= holds(row) ? 1 : 0
        }
        return kept
    }

    /// Moves the rows to the front that are not in another vector, an ordered subset of this one.
    ///
    /// - Returns: their number.
    func remove(_ other: SelectionVector) -> Int {
        var (kept, next) = (0, 0)
        for place in indices {
            let row = self[place]
            if next < other.count, other[next] == row {
                next += 1
            } else {
                self[kept] = row
                kept += 1
            }
        }
        return kept
    }
}
