import Application
import Files
import PropertyList
import Scripting

/// Maps a host's chunks to sources: a file, or a text that the client requests by number.
struct SourceCatalog {
    /// The chunks without a file; a chunk's number is its position, counted from 1.
    private var chunks: [String] = []
    private var paths: NameTable<String?> = [:]

    /// A chunk, named without its mark, as a `Source`.
    mutating func source(of chunk: String, in host: ScriptHost) -> JSONValue? {
        if let path = path(of: chunk) {
            return .object(["name": .string(PathText.name(of: path)), "path": .string(path)])
        }
        guard host.sources.text(where: { $0 == chunk }) != nil else { return nil }
        return .object(["name": .string(chunk), "sourceReference": .number(reference(to: chunk))])
    }

    /// The chunk of a client's `Source`: a path, or a chunk's name.
    func chunk(of source: JSONValue) throws(DebugRefusal) -> String {
        if let reference = source["sourceReference"]?.number, reference > 0 { return try chunk(reference) }
        guard let path = source["path"]?.text ?? source["name"]?.text, !path.isEmpty else {
            throw DebugRefusal("the source has neither a path nor a number")
        }
        return path
    }

    func chunk(_ reference: Int) throws(DebugRefusal) -> String {
        guard chunks.indices.contains(reference &- 1) else { throw DebugRefusal("there is no source \(reference)") }
        return chunks[reference - 1]
    }

    private mutating func reference(to chunk: String) -> Int {
        if let index = chunks.firstIndex(of: chunk) { return index + 1 }
        chunks.append(chunk)
        return chunks.count
    }

    /// The path of a chunk's file, if any.
    private mutating func path(of chunk: String) -> String? {
        if let known = paths[chunk] { return known }
        var path = chunk
        if chunk.hasPrefix("~/"), let home = HomeFolder.path { path = PathText.join(home, String(chunk.dropFirst(2))) }
        path = PathText.absolute(path, from: WorkingDirectory.path ?? "/")
        let isFile = !chunk.contains("\n") && PosixFileLayer().exists(path)
        paths[chunk] = isFile ? path : .some(nil)
        return isFile ? path : nil
    }
}
