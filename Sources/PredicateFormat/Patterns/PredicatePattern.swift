import Synchronization

/// The right side of `MATCHES`: a regular expression that the whole text must match, compiled once.
///
/// As in ICU, it matches Unicode scalars, and `.` matches one. With `[d]` the accents of the text and the expression
/// are removed. It runs as an automaton, so that its time is bounded; the features that an automaton lacks
/// (back-references, lookbehinds, atomic groups) are refused.
///
/// All threads may use a pattern. Each scan makes its own matcher with `makeMatcher()`; `matches(_:)` uses a shared one
/// behind a lock.
@usableFromInline
package final class PredicatePattern: Sendable {
    private let options: PredicateOptions
    private let programs: [PatternProgram]
    private let lock = Mutex(())
    /// Guarded by `lock`.
    private nonisolated(unsafe) let shared: PatternMatcher

    /// Longer and deeper expressions could exhaust the stack of the parser.
    private static let lengthLimit = 4096
    private static let depthLimit = 50

    /// The reason why a text is not a regular expression.
    struct Failure: Error {
        let reason: String
    }

    init(_ text: String, _ options: PredicateOptions) throws(Failure) {
        try Self.checkLimits(text)
        self.options = options.intersection(.diacriticInsensitive)
        let source = String(decoding: PredicateFolding.folded(text, self.options), as: UTF8.self)
        // The standard library's parser describes syntax errors.
        do { _ = try Regex(source) } catch { throw Failure(reason: String(describing: error)) }
        let programs = try PatternCompiler.compile(source, ignoringCase: options.contains(.caseInsensitive))
        self.programs = programs
        shared = PatternMatcher(programs)
    }

    /// A matcher for one thread's scan.
    func makeMatcher() -> PatternMatcher { PatternMatcher(programs) }

    /// Whether a text matches, by the shared matcher.
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
            // Each operator in a character class, as in [a-z&&[^x]], nests its left operand.
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
