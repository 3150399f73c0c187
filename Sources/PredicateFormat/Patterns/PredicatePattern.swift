import Synchronization

/// The right side of `MATCHES`: a regular expression that the whole text must match, compiled once.
///
/// As ICU's do, it matches Unicode scalars, and `.` stands for one. With `[d]` both the text and the expression lose
/// their accents. It is matched by an automaton, so that no expression of a script's can take time without end; what
/// that cannot do (back-references, lookbehinds, atomic groups) is refused.
///
/// A pattern may be used by all threads. Each scan makes a matcher of its own with `makeMatcher()`; `matches(_:)` shares
/// one behind a lock.
@usableFromInline
package final class PredicatePattern: Sendable {
    private let options: PredicateOptions
    private let programs: [PatternProgram]
    private let lock = Mutex(())
    /// Used under the lock only.
    private nonisolated(unsafe) let shared: PatternMatcher

    /// Longer and deeper ones could exhaust the stack of the expression's parser.
    private static let lengthLimit = 4096
    private static let depthLimit = 50

    /// Why a text is no regular expression.
    struct Failure: Error {
        let reason: String
    }

    init(_ text: String, _ options: PredicateOptions) throws(Failure) {
        try Self.checkLimits(text)
        self.options = options.intersection(.diacriticInsensitive)
        let source = String(decoding: PredicateFolding.folded(text, self.options), as: UTF8.self)
        // The standard library's parser says what is wrong with a text that is none.
        do { _ = try Regex(source) } catch { throw Failure(reason: String(describing: error)) }
        let programs = try PatternCompiler.compile(source, ignoringCase: options.contains(.caseInsensitive))
        self.programs = programs
        shared = PatternMatcher(programs)
    }

    /// A matcher for one thread's scan.
    func makeMatcher() -> PatternMatcher { PatternMatcher(programs) }

    /// Whether a text matches, by the matcher that all threads share.
    @usableFromInline
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        lock.withLock { _ in matches(text, by: shared) }
    }

    /// Whether a text matches, by a matcher of this pattern.
    func matches(_ text: UnsafeBufferPointer<UInt8>, by matcher: PatternMatcher) -> Bool {
        PredicateFolding.withFolded(text, options) { matcher.matches($0) }
    }

    private static func checkLimits(_ text: String) throws(Failure) {
        guard text.utf8.count <= lengthLimit else { throw Failure(reason: "it is longer than \(lengthLimit) bytes") }
        var (depth, deepest, setOperators) = (0, 0, 0)
        var previous: UInt8 = 0
        for byte in text.utf8 {
            // Each operator in a character class, as in [a-z&&[^x]], nests what is before it.
            if byte == previous && "&-~".utf8.contains(byte) { setOperators += 1 }
            previous = byte
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            deepest = max(deepest, depth)
        }
        guard deepest <= depthLimit, setOperators <= depthLimit else {
            throw Failure(reason: "it is nested deeper than \(depthLimit) levels")
        }
    }
}
