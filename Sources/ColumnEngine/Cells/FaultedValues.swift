package import PropertyList

/// The values of mapped items' cells that neither fit into a cell nor lie in the archive: texts beyond ASCII, and boxed
/// values.
///
/// A class, so that an earlier copy of the store's heap sees values added later, too.
package final class FaultedValues: @unchecked Sendable {
    // Guard: only its owner's thread uses it; a snapshot gets a copy.
    /// Marks the index of a box that is kept here and not in the store's heap.
    static let boxFlag = 1 << 62
    private(set) var heap = CellHeap()
    private(set) var boxes: [PropertyListValue] = []
    /// The addresses of the archive's texts.
    let mapped: Range<UInt>

    package init(mapped: Range<UInt>) {
        self.mapped = mapped
    }

    private init(copying other: FaultedValues) {
        heap = other.heap.forked()
        boxes = other.boxes
        mapped = other.mapped
    }

    package func copy() -> FaultedValues { FaultedValues(copying: self) }

    package func cell(_ value: PropertyListValue) -> Cell {
        switch value {
        case .null, .wideInteger, .data, .utf16, .uid, .array, .set, .dictionary:
            boxes.append(value)
            return .box(Self.boxFlag | (boxes.count - 1))
        default: return heap.cell(value)
        }
    }

    func value(ofBox index: Int) -> PropertyListValue {
        boxes[index & ~Self.boxFlag]
    }
}
