import LineEditor
import PropertyList

/// A prompt's request for completion candidates.
struct AttachQuestion: Equatable {
    /// Maximum length of a text to complete in bytes.
    static let textLimit = 256 << 10

    /// The question's number; only the latest one's answer counts.
    var number: Int
    var text: String
    /// The cursor's offset in the text in bytes.
    var cursor: Int

    init(number: Int, text: String, cursor: Int) {
        (self.number, self.text, self.cursor) = (number, text, cursor)
    }

    init?(json bytes: [UInt8]) {
        guard let fields = JSONFields(bytes) else { return nil }
        self.init(number: fields.number("number"), text: fields.text("text"), cursor: fields.number("cursor"))
    }

    var json: [UInt8] {
        JSONFields.encode([
            "number": .integer(Int64(number)), "text": .string(text), "cursor": .integer(Int64(cursor)),
        ])
    }
}

/// The host's answer.
struct AttachCandidates: Equatable {
    /// Maximum size of the candidates' texts in bytes; the rest is left out.
    static let byteLimit = 256 << 10
    /// Maximum length of details and documentation in characters.
    private static let detailLimit = 200

    var number: Int
    var result: CompletionResult

    init(number: Int, result: CompletionResult) {
        (self.number, self.result) = (number, result)
    }

    init?(json bytes: [UInt8]) {
        guard let fields = JSONFields(bytes) else { return nil }
        let lower = max(fields.number("lower"), 0)
        let candidates = fields.array("candidates").compactMap(JSONFields.init).map { each in
            Candidate(
                each.text("text"), label: each.text("label"),
                kind: Candidate.Kind(exactly: each.text("kind")) ?? .none,
                detail: each.text("detail"), suffix: each.text("suffix"), documentation: each.text("documentation"))
        }
        self.init(
            number: fields.number("number"),
            result: CompletionResult(
                replacement: lower..<max(lower, fields.number("upper")), candidates: candidates))
    }

    var json: [UInt8] {
        var left = Self.byteLimit
        let kept = result.candidates.prefix { candidate in
            left -= candidate.text.utf8.count + candidate.label.utf8.count + candidate.suffix.utf8.count
            return left >= 0
        }
        let candidates: [PropertyListFields] = kept.map { candidate in
            [
                "text": .string(candidate.text), "label": .string(candidate.label),
                "kind": .string(candidate.kind.rawValue),
                "detail": .string(String(candidate.detail.prefix(Self.detailLimit))),
                "suffix": .string(candidate.suffix),
                "documentation": .string(String(candidate.documentation.prefix(Self.detailLimit))),
            ]
        }
        return JSONFields.encode([
            "number": .integer(Int64(number)), "lower": .integer(Int64(result.replacement.lowerBound)),
            "upper": .integer(Int64(result.replacement.upperBound)),
            "candidates": .array(candidates.map { .fields($0) }),
        ])
    }
}
