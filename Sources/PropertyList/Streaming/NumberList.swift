/// A list of numbers that moves to a scratch file when it is long: a non-generic ``ScratchList``, whose calls from
/// other modules need no specialisation.
package final class NumberList {
    private let list: ScratchList<UInt32>

    /// - Parameter output: creates the scratch file; nil keeps all numbers in memory.
    package init(_ output: (any PropertyListOutput)?) {
        list = ScratchList(output)
    }

    package var count: Int { list.count }

    package func append(_ number: UInt32) { list.append(number) }

    /// Adds many numbers. Complexity: O(count).
    package func append(contentsOf numbers: UnsafeBufferPointer<UInt32>) { list.append(contentsOf: numbers) }

    /// Calls a function once with all numbers, in order; the list is empty afterwards.
    package func forEachPiece(
        _ body: (UnsafeBufferPointer<UInt32>) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        try list.forEachPiece(body)
    }
}
