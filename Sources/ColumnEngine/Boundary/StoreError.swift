import PredicateFormat

/// An error of a store: a code for programs, and a message with the failure, its location, and the remedy.
public struct StoreError: Error, CustomStringConvertible {
    /// The error domain of Cubby's stores.
    package static let domain = "CubbyErrorDomain"

    /// The kinds of failure. Kinds may be added; a `switch` outside the module needs a `default`.
    public enum Code: Sendable, Hashable {
        /// A value that the named field cannot hold.
        case invalidValue(field: String)
        /// Items do not fit what is to be declared of the named field.
        case unfittingItems(field: String)
        /// The field is read-only.
        case readOnlyField(field: String)
        /// A query names a field that no item has.
        case unknownField(String)
        /// An item with this `itemKey` is in the store already.
        case duplicateKey(String)
        /// The item is not removed, because others refer to it by the named field.
        case referenced(field: String)
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
        /// The archive is malformed.
        case corruptArchive
        /// The journal is malformed.
        case corruptJournal
        /// A newer program wrote the store.
        case newerFormat
        /// A file to be imported is not of the expected format.
        case unreadableFile
        /// A value of the named field that the format of a file to be written does not have.
        case unwritableValue(field: String)
        /// A row of such a file, counted from 1, is not an item; nothing of the file was imported.
        case invalidRow(Int)
        /// The system refused to read or write.
        case inputOutput
        /// The store was opened for reading only.
        case readOnly
        /// The store's folder is open for writing elsewhere, in this process or in another.
        case inUse
        /// The store has the maximum number of items.
        case full
        /// The same part of the collection was changed elsewhere meanwhile.
        case conflict
        /// The collection's server does not answer.
        case disconnected
        /// A query's key is not an expression, or has a value for no item; the cause is a `FormatPredicateError`.
        case invalidExpression
        /// A function that a query calls threw an error, or the script that asked was stopped; see the cause.
        case functionFailed

        /// The code's name for scripts: that of the case.
        package var identifier: String { String("\(self)".prefix { !$0.is("(") }) }

        /// Whether the caller's program is at fault, so that a script gets it raised and not returned.
        package var isProgrammerError: Bool {
            switch self {
            case .unfittingItems, .corruptArchive, .corruptJournal, .newerFormat, .unreadableFile, .unwritableValue,
                .invalidRow, .inputOutput, .readOnly, .inUse, .full, .conflict, .disconnected:
                false
            default: true
            }
        }
    }

    /// The kind of failure.
    public var code: Code
    /// The failure, its location, and the remedy.
    public var message: String
    /// The file concerned.
    public var path: String?
    /// The underlying error.
    public var cause: (any Error)?

    /// Creates an error with its code, its message, and optionally the file and the underlying error.
    public init(_ code: Code, _ message: String, path: String? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.cause = cause
    }

    /// The error of an answer: one of the store itself, or the cause of one.
    package init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case is FormatPredicateError: self.init(.invalidExpression, "\(error)", cause: error)
        default: self.init(.functionFailed, "\(error)", cause: error)
        }
    }

    /// The error of a key, a function or a stop, which the store only passes on; nil for the store's own.
    package var passedOn: (any Error)? {
        switch code {
        case .invalidExpression, .functionFailed: cause
        default: nil
        }
    }

    /// Runs a body that answers a question.
    package static func answering<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
        do { return try body() } catch { throw StoreError(error) }
    }

    /// The error's domain, as in Cocoa.
    package var domain: String { Self.domain }
    public var description: String { message }

    /// A value that a field cannot hold.
    static func invalidValue(_ field: String, _ message: String) -> StoreError {
        StoreError(.invalidValue(field: field), message)
    }

    package static let itemWasRemoved = StoreError(.itemRemoved, "item was removed")
    package static let storeIsReadOnly = StoreError(
        .readOnly, "the store was opened read-only: close the other process, or leave out --read-only, to change it")
}
