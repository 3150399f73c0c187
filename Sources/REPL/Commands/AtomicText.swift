import Files

/// Writes a text file in one step: the old one is there until the new one is whole.
enum AtomicText {
    static func write(_ text: String, to path: String) throws(FileError) {
        try FileTarget.write(Array(text.utf8), to: path, reachesStreams: true)
    }
}
