import PropertyList

/// Numbers the distinct values of a key in order of appearance: the groups' numbers. Numeric values are compared by
/// value, an integer and a real, too.
struct KeyNumbers {
    private var dictionary = CellDictionary()
    /// By code of the dictionary.
    private var numberOfCode: [UInt32] = [0]
    private var boxes: [PropertyListValue: UInt32] = [:]
    private var absent: UInt32?
    private(set) var count = 0

    /// The number of a value. O(1). `boxed` returns the value of a cell in a heap.
    @inline(__always)
    mutating func number(of cell: Cell, _ boxed: (Cell) -> PropertyListValue) -> UInt32 {
        switch cell.kind {
        case .integer, .shortText, .longText, .no, .yes: return number(ofEntry: cell)
        // Normalises negative zero.
        case .date: return number(ofEntry: .date(cell.realValue + 0))
        case .real, .single:
            let number = CellOrder.number(cell)
            let real = Cell.real(number.isNaN ? .nan : number)
            return self.number(ofEntry: Int64(exactly: number).map(Cell.integer) ?? real)
        case .absent:
            if absent == nil { absent = next() }
            return absent ?? 0
        case .box: return number(of: boxed(cell))
        }
    }

    @inline(__always)
    private mutating func number(ofEntry cell: Cell) -> UInt32 {
        let code = dictionary.code(for: cell)
        if Int(code) == numberOfCode.count { numberOfCode.append(next()) }
        return numberOfCode[Int(code)]
    }

    private mutating func number(of value: PropertyListValue) -> UInt32 {
        if let known = boxes[value] { return known }
        let number = next()
        boxes[value] = number
        return number
    }

    private mutating func next() -> UInt32 {
        count += 1
        return UInt32(count - 1)
    }
}
