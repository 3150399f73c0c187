/// A key of a coding path: a name, or a position.
package struct PathKey: CodingKey {
    package let stringValue: String
    package let intValue: Int?

    package init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    package init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }

    package static let `super` = PathKey(stringValue: "super")
}

extension [any CodingKey] {
    /// `publisher.city`, `tags[0]`.
    package var text: String {
        reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}

extension DecodingError {
    /// The place of the error, and what is wrong there.
    package var context: Context {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: Context(codingPath: [], debugDescription: "\(self)")
        }
    }
}
