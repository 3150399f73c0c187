/// The numbers of rows that an operator works on, in a piece of memory that passes shorten.
typealias SelectionVector = UnsafeMutableBufferPointer<UInt32>

extension SelectionVector {
    /// How many rows ahead of the one whose value is read its cell is fetched, when its texts lie elsewhere; a text half as many.
    static var lookahead: Int { 16 }

    /// The first rows.
    @inline(__always)
    func first(_ count: Int) -> SelectionVector { SelectionVector(rebasing: self[..<count]) }

    /// Brings the rows for which a condition holds to the front, in order.
    ///
    /// - Returns: how many they are.
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

    /// Brings the rows to the front that are not among the first ones of another, which has a part of them in the same order.
    ///
    /// - Returns: how many they are.
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
