/// What went wrong in a store: a code to decide by, and a message that says what happened, where, and what to do.
public struct StoreError: Error, CustomStringConvertible {
    /// The domain that every error of Cubby's stores carries.
    public static let domain = "CubbyErrorDomain"

    /// The kinds of failure. Kinds may be added; a `switch` outside the module needs a `default`.
    public enum Code: Sendable, Hashable {
        /// A value that the named field cannot hold.
        case invalidValue(field: String)
        /// The field can be read and never assigned.
        case readOnlyField(field: String)
        /// A query names a field that no item has.
        case unknownField(String)
        /// An item with this `itemKey` is in the store already.
        case duplicateKey(String)
        /// The item has been removed from its store.
        case itemRemoved
        /// The item belongs to another store.
        case foreignItem
        /// A position outside the store.
        case positionOutOfRange(position: Int, count: Int)
        /// An observer refused the change.
        case vetoed(reason: String)
        /// Not possible while a transaction runs.
        case transactionInProgress
        /// A transaction's end without its beginning.
        case noTransaction
        /// The archive cannot be read as one.
        case corruptArchive
        /// The journal cannot be read as one.
        case corruptJournal
        /// A newer program wrote the store.
        case newerFormat
        /// A file that items are to come from is not what it is said to be.
        case unreadableFile
        /// A row of such a file, counted from 1, is no item; nothing of the file was taken.
        case invalidRow(Int)
        /// The system refused to read or write.
        case inputOutput
        /// The store was opened for reading only.
        case readOnly
        /// Somebody else, in this process or in another, has the store's folder open to write.
        case inUse
        /// The store holds as many items as it can number.
        case full
        /// Somebody else changed the same part of the collection meanwhile.
        case conflict
        /// The collection's server does not answer.
        case disconnected

        /// The code's name, as scripts see it.
        public var identifier: String {
            switch self {
            case .invalidValue: "invalidValue"
            case .readOnlyField: "readOnlyField"
            case .unknownField: "unknownField"
            case .duplicateKey: "duplicateKey"
            case .itemRemoved: "itemRemoved"
            case .foreignItem: "foreignItem"
            case .positionOutOfRange: "positionOutOfRange"
            case .vetoed: "vetoed"
            case .transactionInProgress: "transactionInProgress"
            case .noTransaction: "noTransaction"
            case .corruptArchive: "corruptArchive"
            case .corruptJournal: "corruptJournal"
            case .newerFormat: "newerFormat"
            case .unreadableFile: "unreadableFile"
            case .invalidRow: "invalidRow"
            case .inputOutput: "inputOutput"
            case .readOnly: "readOnly"
            case .inUse: "inUse"
            case .full: "full"
            case .conflict: "conflict"
            case .disconnected: "disconnected"
            }
        }

        /// Whether the caller's program is at fault, so that a script should see it raised and not returned.
        public var isProgrammerError: Bool {
            switch self {
            case .corruptArchive, .corruptJournal, .newerFormat, .unreadableFile, .invalidRow, .inputOutput, .readOnly,
                .inUse, .full, .conflict, .disconnected:
                false
            default: true
            }
        }
    }

    /// What kind of failure it is.
    public var code: Code
    /// What happened, where, and what to do.
    public var message: String
    /// The file that the failure is about.
    public var path: String?
    /// The error underneath.
    public var cause: (any Error)?

    /// Creates an error with its code, its message, and the file and the error behind it.
    public init(_ code: Code, _ message: String, path: String? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.cause = cause
    }

    /// The error's domain, as Cocoa has it.
    public var domain: String { Self.domain }
    public var description: String { message }

    package static let itemWasRemoved = StoreError(.itemRemoved, "item was removed")
    package static let storeIsReadOnly = StoreError(
        .readOnly, "the store was opened read-only: close the other process, or leave out --read-only, to change it")
}
