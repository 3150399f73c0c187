import Files
import Glibc

/// The archive that the last save has replaced, for a comparison with the new one. It stays open, without a name: nothing is
/// copied, and its blocks are free with the next save.
package final class FormerArchive {
    /// What is known of the archive before the last save.
    package enum State: Equatable {
        /// Nothing was saved in this process.
        case unknown
        /// There was none: the last save was the first one.
        case absent
        /// It is larger than a comparison takes.
        case tooLarge
        case bytes([UInt8])
    }

    /// The size in bytes up to which archives are compared.
    private static let limit = 1 << 26

    private enum Retained {
        case state(State)
        case file(OpenFile)
    }

    private let files: BeneathFileLayer
    private let path: String
    private var retained = Retained.state(.unknown)
    private var next = Retained.state(.unknown)

    init(_ path: String, _ files: BeneathFileLayer) { (self.path, self.files) = (path, files) }

    deinit {
        close(retained)
        close(next)
    }

    private func close(_ retained: Retained) { if case .file(let file) = retained { files.close(file) } }

    /// Opens the archive that a save is about to replace.
    func willReplace() {
        close(next)
        next = .state(.absent)
        guard let file = try? files.open(path, .read) else { return }
        if let size = try? files.status(file).size, size <= Self.limit {
            next = .file(file)
        } else {
            files.close(file)
            next = .state(.tooLarge)
        }
    }

    /// Keeps it, if the save has succeeded.
    func didReplace(_ hasSucceeded: Bool) {
        if hasSucceeded {
            close(retained)
            retained = next
        } else {
            close(next)
        }
        next = .state(.unknown)
    }

    /// What is known of it.
    ///
    /// - Throws: `FileError` when it cannot be read.
    package var state: State {
        get throws(FileError) {
            switch retained {
            case .state(let state): return state
            case .file(let file):
                guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw FileError(.read, path, code: errno) }
                return .bytes(try files.contents(of: file, limit: Self.limit))
            }
        }
    }
}
