/// Parses the text of a path, scalar by scalar: a combining mark at the beginning of a key belongs to no delimiter.
struct TreePathParser {
    private let text: String
    private var rest: Substring.UnicodeScalarView

    init(_ text: String) {
        self.text = text
        rest = text[...].unicodeScalars
    }

    /// The steps; none for an empty text.
    mutating func steps() throws(ArchiveError) -> [TreePath.Step] {
        var steps: [TreePath.Step] = []
        while !rest.isEmpty {
            if take("[") {
                steps.append(try bracket())
                continue
            }
            if !steps.isEmpty { _ = take(".") }
            let key = prefix { $0 != "." && $0 != "[" }
            guard !key.isEmpty else { throw malformed }
            steps.append(TreePath.Step(key: key, index: Int(key)))
        }
        return steps
    }

    private mutating func bracket() throws(ArchiveError) -> TreePath.Step {
        let step: TreePath.Step
        if take("$") {
            step = TreePath.Step(.key(try escapedText()))
        } else if takeWord("field ") {
            step = TreePath.Step(.field(try escapedText()))
        } else if let quote = rest.first, take("\"") || take("'") {
            step = TreePath.Step(.key(prefix { $0 != quote }))
            guard take(quote) else { throw malformed }
        } else {
            let place = prefix { $0 != "]" }
            let words = place.split(separator: " ", omittingEmptySubsequences: false)
            guard let index = words.last.flatMap({ Int($0) }), index >= 0 else { throw malformed }
            switch words.dropLast() {
            case []: step = TreePath.Step(key: place, index: index)
            case ["key"]: step = TreePath.Step(.entryKey(index))
            case ["value"]: step = TreePath.Step(.entryValue(index))
            default: throw malformed
            }
        }
        guard take("]") else { throw malformed }
        return step
    }

    /// A text in quotes with the escapes of `LeafText.quoted`.
    private mutating func escapedText() throws(ArchiveError) -> String {
        guard take("\"") else { throw malformed }
        var key = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
            key.append(scalar == "\\" ? try escape() : scalar)
        }
        return String(key)
    }

    private mutating func escape() throws(ArchiveError) -> Unicode.Scalar {
        switch rest.popFirst() {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "\"": return "\""
        case "\\": return "\\"
        case "u" where take("{"):
            let digits = prefix { $0 != "}" }
            guard take("}"), let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number) else {
                throw malformed
            }
            return scalar
        default: throw malformed
        }
    }

    private mutating func takeWord(_ word: String) -> Bool {
        guard rest.starts(with: word.unicodeScalars) else { return false }
        rest.removeFirst(word.unicodeScalars.count)
        return true
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func prefix(while isWanted: (Unicode.Scalar) -> Bool) -> String {
        let prefix = rest.prefix(while: isWanted)
        rest = rest.dropFirst(prefix.count)
        return String(prefix)
    }

    private var malformed: ArchiveError {
        .invalid("“\(text)” is not a path; a path is like root[0].name, with keys that hold a point in [\"…\"]")
    }
}
