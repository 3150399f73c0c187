public import Items
import Wording

/// All items of one store copied into another: a container's into a shared collection, and back.
public enum SharedTransfer {
    /// How many items are one commit.
    public static let batch = 1_000

    /// Appends the items of a store, with their keys, to one that is empty, or that has the first of them in the same order:
    /// then an earlier copy was interrupted, and goes on. Attachments are not copied.
    ///
    /// - Parameters:
    ///   - source: is only read.
    ///   - target: gets the items, a thousand in a commit.
    ///   - progress: called after each commit with how many of the items the target has.
    /// - Returns: how many were copied by this call.
    /// - Throws: `StoreError` with `conflict` when the target has other items; what its commits throw.
    @discardableResult
    public static func copy(
        from source: ItemStore, to target: ItemStore, progress: (Int) -> Void = { _ in }
    ) throws(StoreError) -> Int {
        let start = target.count
        guard start <= source.count else { throw occupied(target) }
        for position in 0..<start {
            guard let mine = target[position], let theirs = source[position] else { break }
            if try mine.itemKey != theirs.itemKey { throw occupied(target) }
        }
        for position in start..<source.count {
            guard let item = source[position] else { break }
            try target.createItem(try item.allFields)
            guard (position + 1) % batch == 0 || position + 1 == source.count else { continue }
            try target.commit()
            progress(position + 1)
        }
        return source.count - start
    }

    private static func occupied(_ target: ItemStore) -> StoreError {
        StoreError(
            .conflict,
            "the \(target.count.counted("item")) there are others than those to be copied: the copy goes into an empty place"
        )
    }
}
