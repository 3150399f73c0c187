public import PropertyList

/// A commit of this host that the server does not have: it was made while the server did not answer.
public struct KeptCommit: Sendable {
    /// One change, with the data to undo it.
    public struct Change: Sendable {
        /// The change; an update and a removal have the old values.
        public var change: ItemChange
        /// The item's rank among the others, for an insertion and a move.
        public var rank: [UInt8]
        /// Its former rank, for a removal and a move.
        public var formerRank: [UInt8]

        /// Creates a change with the item's ranks after and before it.
        public init(_ change: ItemChange, rank: [UInt8] = [], formerRank: [UInt8] = []) {
            (self.change, self.rank, self.formerRank) = (change, rank, formerRank)
        }

        /// The change as sent to the other hosts.
        package var forward: RemoteChange {
            switch change.kind {
            case .insert: RemoteChange(.insert(change.values ?? [:]), rank: rank)
            case .move: RemoteChange(.move(change.itemKey, to: 0), rank: rank)
            case .update, .remove: RemoteChange(change)
            }
        }

        /// The change that undoes this one.
        package var inverse: RemoteChange {
            switch change.kind {
            case .insert: RemoteChange(.remove(change.itemKey))
            case .remove: RemoteChange(.insert(change.values ?? [:]), rank: formerRank)
            case .update: RemoteChange(.update(change.itemKey, change.field ?? "", to: change.old))
            case .move: RemoteChange(.move(change.itemKey, to: 0), rank: formerRank)
            }
        }
    }

    /// Identifies the commit for the server: it cannot be applied twice.
    public let identifier: [UInt8]
    /// When the commit was made.
    public let date: PropertyListDate
    /// Oldest first.
    public let changes: [Change]
    /// Its reads, if it is of a serializable transaction.
    public let reads: ItemReads?
    /// The host whose changes conflict with it; empty for a commit that is only queued.
    public var host = ""
    /// By key, the fields that this host had of items that the others removed.
    public var lostItems: [String: PropertyListFields] = [:]

    /// Creates a commit of changes in order.
    public init(identifier: [UInt8], date: PropertyListDate, changes: [Change], reads: ItemReads? = nil) {
        (self.identifier, self.date, self.changes, self.reads) = (identifier, date, changes, reads)
    }
}
