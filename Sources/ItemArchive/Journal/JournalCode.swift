import ColumnEngine

/// The codes in the encoding of a commit's changes; `docs/journal.md` specifies them.
package enum JournalCode {
    package enum Change: UInt8 {
        /// key, fields: a new item at the end
        case append = 1
        /// position, key, fields: a new item at a position
        case insert = 2
        /// key
        case remove = 3
        /// key, field, value: absent removes the field
        case set = 4
        /// key, position
        case move = 5
        /// text: defines the next custom field's number, from 5 on, within this record
        case defineField = 6
        /// key, text: the item with this key is a copy of the one with that key
        case copy = 7
        /// key, bytes: the item's rank in a shared collection; never in a file's journal
        case rank = 8
        /// key, fields: a new item at the end, whose fields may be of any kind
        case appendCarrying = 9
        /// position, key, fields: the same at a position
        case insertCarrying = 10
    }

    package enum Key: UInt8 {
        case uuid = 0
        case text = 1
        /// a UUID, and the item's index in the archive
        case placedUUID = 2
    }

    package enum Value: UInt8 {
        case absent = 0
        case no, yes, integer, real, single, date, string, data, array, dictionary, wideInteger, null, uid, set
        /// a text that is not Unicode: its UTF-16 units
        case utf16
        /// a dictionary with keys of any kind
        case pairs
    }
}
