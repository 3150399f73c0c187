/// The meanings of error codes: `err.code`.
enum ErrorCodes {
    /// The help on a code; nil for an unknown one.
    static func text(_ code: String) -> String? {
        if let meaning = words[code] { return "\(code): an error's code\n  \(meaning)\n" }
        guard let number = Int(code), let meaning = numbers[number] else { return nil }
        return "\(code): an error's code of Cocoa's\n  \(meaning)\n"
    }

    static var all: [String] { words.keys.sorted() }

    /// The meanings by code.
    static var meanings: [String: String] { words }

    private static let words: [String: String] = [
        "itemRemoved": "The item was removed from its store; its object has no fields any more.",
        "invalidValue": "A field does not take such a value; the message names the field and what it takes.",
        "readOnlyField": "The field is the store's own: itemKey.",
        "unknownField": "No item has a field of this name.",
        "duplicateKey": "Another item has this itemKey already.",
        "foreignItem": "The item belongs to another store.",
        "positionOutOfRange": "The store has no such position; positions run from 1 to #items.",
        "vetoed": "A will… handler refused the change; the message has its reason.",
        "transactionInProgress": "Not possible inside of a transaction: its changes are not committed yet.",
        "noTransaction": "There is no transaction to end.",
        "corruptArchive": "Documents/items.archive can't be read as a keyed archive of items.",
        "corruptJournal": "Documents/items.journal is damaged before its end.",
        "newerFormat": "A newer Cubby wrote the container; that one opens it, and --read-only shows its last save.",
        "inputOutput": "The system could not read or write a file; err.path names it.",
        "readOnly": "The host was opened with --read-only.", "full": "The store holds as many items as it can.",
        "invalidCSV": "The file is not CSV; the message has the line.",
    ]

    private static let numbers: [Int: String] = [
        2: "POSIX: no such file or directory.", 13: "POSIX: permission denied, by the system or by the sandbox.",
        28: "POSIX: no space left on the device.", 4: "NSFileNoSuchFileError: there is no such file.",
        257: "NSFileReadNoPermissionError: the file may not be read.",
        260: "NSFileReadNoSuchFileError: there is no such file to read.",
        513: "NSFileWriteNoPermissionError: the file may not be written.",
        640: "NSFileWriteOutOfSpaceError: there is no space left.", 4864: "NSCoderReadCorruptError: damaged archive.",
        4865: "NSCoderValueNotFoundError: the archive does not have the value.",
    ]
}
