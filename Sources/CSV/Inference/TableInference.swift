/// Finds out what the columns of a table are, one row after the other.
package struct TableInference {
    /// By column.
    package private(set) var columns: [ColumnInference]
    /// The columns that are still looked at.
    private var open: [Int]
    private let nulls: CellNulls

    /// - Parameters:
    ///   - count: the number of columns.
    ///   - isIncluded: whether a column is looked at; the others are text.
    ///   - nulls: the texts that stand for nothing.
    package init(columns count: Int, isIncluded: (Int) -> Bool = { _ in true }, nulls: CellNulls = CellNulls()) {
        columns = Array(repeating: ColumnInference(), count: count)
        open = (0..<count).filter(isIncluded)
        self.nulls = nulls
    }

    /// Whether all columns are known to be texts: the rest of the table needs no look.
    package var isDone: Bool { open.isEmpty }

    /// Takes a row; cells that it lacks have no influence.
    package mutating func add(_ row: CSVRow) {
        row.withUnsafeBytes { bytes in
            let texts = bytes.bindMemory(to: UInt8.self)
            var index = open.count
            while index > 0 {
                index -= 1
                let column = open[index]
                guard column < row.count else { continue }
                let text = UnsafeBufferPointer(rebasing: texts[row.range(of: column)])
                if nulls.contains(text) { continue }
                columns[column].add(text)
                if !columns[column].isOpen { open.remove(at: index) }
            }
        }
    }

    /// The decimal sign that all columns with a plain one share; nil if there is none, or both are there.
    package var decimal: NumberStyle.Decimal? {
        let signs = Set(columns.compactMap(\.decimal))
        return signs.count == 1 ? signs.first : nil
    }

    /// What the columns are.
    ///
    /// - Parameter decimal: the decimal sign that was given; nil to take the one of the table's plain columns.
    /// - Returns: a result for each column; one that was not looked at is text.
    package func results(decimal: NumberStyle.Decimal? = nil) -> [ColumnResult] {
        let decimal = decimal ?? self.decimal
        return columns.map { $0.result(decimal: decimal) }
    }
}

/// The texts of cells that stand for nothing.
package struct CellNulls: Sendable, Hashable {
    private let texts: [[UInt8]]

    package init(_ texts: [String] = []) { self.texts = texts.map { Array($0.utf8) } }

    /// Whether a cell's text is one of them. An empty cell stands for nothing anyway.
    @inline(__always)
    package func contains(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        if texts.isEmpty { return false }
        return texts.contains { $0.count == text.count && $0.elementsEqual(text) }
    }
}
