public import PropertyList

/// A commit of this host that the server does not have: made while it did not answer.
public struct KeptCommit: Sendable {
    /// One change, with what it takes to take it back.
    public struct Change: Sendable {
        /// What happened; an update and a removal have the old values.
        public var change: ItemChange
        /// The item's place among the others, for an insertion and a move.
        public var rank: [UInt8]
        /// Its place before, for a removal and a move.
        public var formerRank: [UInt8]

        /// Creates a change with the item's rank after and before it.
        public init(_ change: ItemChange, rank: [UInt8] = [], formerRank: [UInt8] = []) {
            (self.change, self.rank, self.formerRank) = (change, rank, formerRank)
        }

        /// The change as the other hosts would see it.
        package var forward: RemoteChange {
            switch change.kind {
            case .insert: RemoteChange(.insert(change.values ?? [:]), rank: rank)
            case .move: RemoteChange(.move(change.itemKey, to: 0), rank: rank)
            case .update, .remove: RemoteChange(change)
            }
        }

        /// The change that takes this one back.
        package var inverse: RemoteChange {
            switch change.kind {
            case .insert: RemoteChange(.remove(change.itemKey))
            case .remove: RemoteChange(.insert(change.values ?? [:]), rank: formerRank)
            case .update: RemoteChange(.update(change.itemKey, change.field ?? "", to: change.old))
            case .move: RemoteChange(.move(change.itemKey, to: 0), rank: formerRank)
            }
        }
    }

    /// Identifies the commit for the server: it cannot happen twice.
    public let identifier: [UInt8]
    /// When it was made.
    public let date: PropertyListDate
    /// Oldest first.
    public let changes: [Change]
    /// What it read, of a serializable transaction.
    public let reads: ItemReads?
    /// The host whose changes it cannot follow; empty for one that only waits.
    public var host = ""
    /// By key, the fields that items had here which the others removed.
    public var lostItems: [String: [String: PropertyListValue]] = [:]

    /// Creates a commit of changes, in their order.
    public init(identifier: [UInt8], date: PropertyListDate, changes: [Change], reads: ItemReads? = nil) {
        (self.identifier, self.date, self.changes, self.reads) = (identifier, date, changes, reads)
    }
}
