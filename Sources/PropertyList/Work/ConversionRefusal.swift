import Wording

/// The reason of a failed conversion.
package enum ConversionRefusal: Error, Hashable, Sendable {
    case tooManyValues(limit: Int)
    case unfoldsTooFar(limit: Int)
    case tooManyBytes(limit: Int)
    /// An interruption by the deadline or a person. The script ends even if this error is handled.
    case stopped

    package var message: String {
        switch self {
        case .tooManyValues(let limit): "there are more than \(limit.grouped) values: convert them in parts"
        case .unfoldsTooFar(let limit):
            "the value unfolds to more than \(limit.grouped) values: the same array or dictionary is held many times, "
                + "and counts each time"
        case .tooManyBytes(let limit): "the result has more than \(limit.grouped) bytes: convert it in parts"
        case .stopped: Interruption.message
        }
    }
}
