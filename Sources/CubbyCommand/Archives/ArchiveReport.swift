import KeyedArchive
import PropertyList

/// The output of `cubby inspect --json-lines` for a file.
struct ArchiveReport {
    /// The places at which a searched text was found.
    struct Found {
        private var text = JSONText(.compact)
        private let maximumBytes: Int

        init(_ tree: ArchiveTree) { maximumBytes = ArchiveReport.maximumBytes(of: tree) }

        mutating func add(_ hit: TreeSearch.Hit) throws {
            text.append(text.bytes.isEmpty ? "{" : ",{")
            text.key("path")
            text.string(hit.path.description)
            text.next(1, isFirst: false)
            text.key("value")
            text.append(json: try TreeJSON.brief(hit.node, of: hit.tree))
            text.append("}")
            guard text.bytes.count <= maximumBytes else {
                throw ArchiveError(code: .writeInvalid, message: "the places take more than \(maximumBytes) bytes")
            }
        }

        fileprivate var json: [UInt8] { text.bytes }
    }

    let file: String
    /// The SHA-256 of the file's bytes, in hexadecimal digits.
    var digest: String?
    private var classes: NameTable<Int> = [:]
    private var top: [UInt8]?
    var found: Found?
    /// The first error of reading.
    var error: String?
    /// Why a file in a folder was passed over.
    var omission: String?

    init(file: String, digest: String? = nil, error: String? = nil) {
        (self.file, self.digest, self.error) = (file, digest, error)
    }

    /// A file's line is buffered until it is complete, so that an error leaves no partial line.
    private static func maximumBytes(of tree: ArchiveTree) -> Int {
        (4 << 20) + 16 * tree.propertyList.storage.bytes.count
    }

    /// Adds a tree's contents.
    mutating func describe(_ tree: ArchiveTree) throws {
        classes = tree.classCounts
        var writer = TreeJSON(
            tree, layout: .compact, keepsData: false, maximumBytes: Self.maximumBytes(of: tree))
        var json: [UInt8] = []
        try writer.write { json += $0 }
        json.removeLast()
        top = json
        if error == nil { error = writer.damage?.description }
    }

    /// The JSON object as one line.
    func line() -> [UInt8] {
        var text = JSONText(.compact)
        text.append("{")
        text.key("file")
        text.string(file)
        func next(_ key: String) {
            text.next(1, isFirst: false)
            text.key(key)
        }
        if let digest {
            next("sha256")
            text.string(digest)
        }
        if let top {
            next("classes")
            text.append("{")
            for (index, name) in classes.keys.sorted().enumerated() {
                text.next(2, isFirst: index == 0)
                text.key(name)
                text.append("\(classes[name, default: 0])")
            }
            text.append("}")
            next("top")
            text.append(json: top)
        }
        if let found {
            next("found")
            text.append("[")
            text.append(json: found.json)
            text.append("]")
        }
        if let error {
            next("error")
            text.string(error)
        }
        if let omission {
            next("passedOver")
            text.string(omission)
        }
        text.append("}\n")
        return text.take()
    }
}
