import Application
import PropertyList

/// A large archive on its way into its file, piece by piece.
final class ArchiveOutput: PropertyListOutput {
    private let file: OpenFile
    private let layer: any FileLayer
    /// Of what was written.
    private(set) var checksum = RunningChecksum()
    /// What the file layer said, where the archiver knows only that something failed.
    private(set) var failure: FileError?

    init(_ file: OpenFile, _ layer: any FileLayer) {
        self.file = file
        self.layer = layer
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) {
        try attempt { () throws(FileError) in try layer.writeAll(bytes, to: file) }
        checksum.add(bytes)
    }

    func makeScratch() throws(PropertyListError) -> any PropertyListScratch {
        try attempt { () throws(FileError) in try Scratch(self, beside: file.path) }
    }

    private func attempt<Value>(_ body: () throws(FileError) -> Value) throws(PropertyListError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            if failure == nil { failure = error }
            throw PropertyListError(code: .writeStream, message: error.message)
        }
    }

    /// A file that has no name any more, open for both.
    private final class Scratch: PropertyListScratch {
        private let output: ArchiveOutput
        private let writing: OpenFile
        private let reading: OpenFile

        init(_ output: ArchiveOutput, beside path: String) throws(FileError) {
            self.output = output
            let layer = output.layer
            let path = PathText.join(PathText.parent(of: path), TemporaryName.next())
            writing = try layer.open(path, .createNew, permissions: 0o600)
            do throws(FileError) {
                reading = try layer.open(path, .read)
            } catch {
                layer.close(writing)
                try? layer.remove(path)
                throw error
            }
            try? layer.remove(path)
        }

        deinit {
            output.layer.close(writing)
            output.layer.close(reading)
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) {
            try output.attempt { () throws(FileError) in try output.layer.writeAll(bytes, to: writing) }
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(PropertyListError) {
            var done = 0
            while done < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                let count = try output.attempt { () throws(FileError) in try output.layer.read(reading, into: rest) }
                guard count > 0 else {
                    throw PropertyListError(code: .readStream, message: "a scratch file of the archive is cut off")
                }
                done += count
            }
        }
    }
}
