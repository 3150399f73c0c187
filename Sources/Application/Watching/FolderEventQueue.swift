import CPlatform
import Files
import Glibc

/// The kernel's queue of events in folders.
final class FolderEventQueue {
    /// What has happened.
    struct Flags: OptionSet {
        let rawValue: UInt32

        static let created = Flags(rawValue: UInt32(CUBBY_FOLDER_CREATED))
        /// A file that was open for writing was closed.
        static let closed = Flags(rawValue: UInt32(CUBBY_FOLDER_CLOSED))
        static let written = Flags(rawValue: UInt32(CUBBY_FOLDER_WRITTEN))
        static let removed = Flags(rawValue: UInt32(CUBBY_FOLDER_REMOVED))
        static let movedFrom = Flags(rawValue: UInt32(CUBBY_FOLDER_MOVED_FROM))
        static let movedTo = Flags(rawValue: UInt32(CUBBY_FOLDER_MOVED_TO))
        /// The watched folder itself was removed or moved, or its watch has ended.
        static let ended = Flags(
            rawValue: UInt32(CUBBY_FOLDER_ENDED | CUBBY_FOLDER_MOVED_ITSELF | CUBBY_FOLDER_IGNORED))
        static let ignored = Flags(rawValue: UInt32(CUBBY_FOLDER_IGNORED))
        /// Events are lost.
        static let overflow = Flags(rawValue: UInt32(CUBBY_FOLDER_OVERFLOW))
        static let isFolder = Flags(rawValue: UInt32(CUBBY_FOLDER_IS_FOLDER))
    }

    struct Event {
        /// The folder's number.
        let folder: Int32
        let flags: Flags
        /// The same for both halves of a move.
        let cookie: UInt32
        /// The entry's name; empty for the folder itself, nil if it is not UTF-8.
        let name: String?
    }

    /// Readable while events are queued.
    let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// - Throws: `FileError` when the system has no queue left.
    init(for path: String) throws(FileError) {
        descriptor = cubby_folder_events_open()
        guard descriptor < 0 else { return }
        let isLimit = descriptor == -EMFILE
        throw FileError(
            .list, path, code: -descriptor,
            reason: isLimit ? "too many watches: fs.inotify.max_user_instances limits them" : nil)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Watches an open folder.
    ///
    /// - Returns: its number, which is the same for the same folder.
    /// - Throws: `FileError`.
    func add(_ folder: Int32, _ path: String, allWrites: Bool) throws(FileError) -> Int32 {
        let number = cubby_folder_events_add(descriptor, folder, allWrites ? 1 : 0)
        if number >= 0 { return number }
        let reason: String? =
            switch -number {
            case ENOSPC: "too many folders are watched: fs.inotify.max_user_watches limits them"
            case ENOENT where access("/proc/self/fd", F_OK) != 0: "watching needs /proc, which is not mounted"
            default: nil
            }
        throw FileError(.list, path, code: -number, reason: reason)
    }

    func remove(_ number: Int32) { cubby_folder_events_remove(descriptor, number) }

    /// Reads the queued events, but not those that come meanwhile for ever.
    func read(_ body: (Event) -> Void) {
        for _ in 0..<256 {
            let count = buffer.withUnsafeMutableBytes { cubby_folder_events_read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            buffer.withUnsafeBytes { bytes in
                var offset = 0
                var raw = cubby_folder_event()
                while cubby_folder_event_next(bytes.baseAddress, count, &offset, &raw) != 0 {
                    let name = UnsafeRawBufferPointer(start: raw.name, count: raw.length)
                    body(
                        Event(
                            folder: raw.watch, flags: Flags(rawValue: raw.flags), cookie: raw.cookie,
                            name: String(validating: name, as: UTF8.self)))
                }
            }
        }
    }
}
