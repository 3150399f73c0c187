import PropertyList

/// The texts of a constant collection, sorted by bytes for binary search.
@usableFromInline
package struct PredicateTextSet: Sendable {
    private let options: PredicateOptions
    private let texts: [[UInt8]]

    /// Nil when an element that is not text could still equal a text, as a date can.
    init?(_ elements: [PropertyListValue], _ options: PredicateOptions) {
        var texts: [[UInt8]] = []
        for element in elements {
            switch element {
            case .string(let text): texts.append(PredicateFolding.folded(text, options))
            case .date: return nil
            default: continue
            }
        }
        texts.sort { $0.lexicographicallyPrecedes($1) }
        self.options = options
        self.texts = texts
    }

    @usableFromInline
    func contains(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        PredicateFolding.withFolded(text, options, find)
    }

    private func find(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var (low, high) = (0, texts.count)
        while low < high {
            let middle = (low + high) / 2
            let order = texts[middle].withUnsafeBufferPointer { PredicateNeedle.order(text, $0) }
            if order == 0 { return true }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return false
    }
}
