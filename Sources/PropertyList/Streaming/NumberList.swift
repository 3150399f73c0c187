/// Numbers in a row, which go to a scratch file when they become many: a ``ScratchList`` for other modules, whose calls are of
/// code that is made for these numbers.
package final class NumberList {
    private let list: ScratchList<UInt32>

    /// - Parameter output: makes the scratch file; nil to hold all in memory.
    package init(_ output: (any PropertyListOutput)?) {
        list = ScratchList(output)
    }

    package var count: Int { list.count }

    package func append(_ number: UInt32) { list.append(number) }

    /// Adds many numbers. Complexity: O(count).
    package func append(contentsOf numbers: UnsafeBufferPointer<UInt32>) { list.append(contentsOf: numbers) }

    /// Gives all numbers, in order, once; the list is empty afterwards.
    package func forEachPiece(
        _ body: (UnsafeBufferPointer<UInt32>) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        try list.forEachPiece(body)
    }
}
