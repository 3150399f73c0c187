public import PropertyList
import Wording

/// A condition on objects, written in the format language of Cocoa's `NSPredicate` and compiled once.
///
///     let predicate = try FormatPredicate(format: "valueInDollars > 900 AND name CONTAINS[c] $word",
///                                   variables: ["word": .string("fluffy")])
///     predicate.evaluate { fields[$0] }
///
/// Judging never fails: values of kinds that do not fit are unequal and without order, an absent value equals nil alone.
public struct FormatPredicate: Sendable, Hashable, CustomStringConvertible {
    /// The text it was made from.
    public let source: String

    /// The condition as a tree, its variables replaced by their values.
    public let node: PredicateNode

    /// The first keys of its key paths: the fields it asks an object for, `SELF` not among them.
    public let fields: Set<String>

    @usableFromInline package let plan: PredicatePlan
    private let fieldOffsets: [String: Int]

    /// Compiles format text.
    ///
    /// - Parameters:
    ///   - format: The text, of at most 4 MiB and 100 levels.
    ///   - variables: The values of its `$variables`, by their names without the `$`.
    /// - Throws: What is wrong with the text and where; a comparison between kinds that can never hold is an error too.
    public init(format: String, variables: [String: PropertyListValue] = [:]) throws(FormatPredicateError) {
        var parser = try PredicateParser(format, variables: variables)
        self.init(try parser.parse(), source: format, fieldOffsets: parser.fieldOffsets)
    }

    /// A predicate from a tree, for which the source is its canonical text. A `MATCHES` whose text is no regular
    /// expression never holds.
    public init(_ node: PredicateNode) {
        var offsets: [String: Int] = [:]
        for field in Self.fields(of: node) { offsets[field] = 0 }
        self.init(node, source: node.description, fieldOffsets: offsets)
    }

    private init(_ node: PredicateNode, source: String, fieldOffsets: [String: Int]) {
        self.node = node
        self.source = source
        self.fieldOffsets = fieldOffsets
        fields = Set(fieldOffsets.keys)
        plan = PredicatePlan(node)
    }

    /// The canonical text: keywords in capitals, text in double quotes, variables replaced by their values.
    ///
    /// Compiled again it gives an equal predicate, unless a variable had a value that the language has no literal for
    /// (a dictionary, a set).
    public var format: String { node.description }

    public var description: String { format }

    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.node == rhs.node }

    public func hash(into hasher: inout Hasher) { hasher.combine(node) }

    // MARK: Judging

    /// Judges a record.
    ///
    /// - Returns: Whether the record satisfies the predicate. O(size of the predicate and of the values it reads).
    public func evaluate(_ record: some PredicateRecord) -> Bool {
        evaluate { record.value(forKey: $0) }
    }

    /// Judges an object.
    ///
    /// - Parameter lookup: Gives the value of a field, nil when the object has none. `SELF` asks for the object itself.
    /// - Returns: Whether the object satisfies the predicate.
    public func evaluate(_ lookup: (String) -> PropertyListValue?) -> Bool {
        withoutActuallyEscaping(lookup) { PredicateEvaluator(lookup: $0).holds(plan) }
    }

    /// Judges a value: the fields of a dictionary, or anything else as `SELF`.
    public func evaluate(value: PropertyListValue) -> Bool {
        evaluate { key in
            if key == PredicateKeyPath.selfKey { return value }
            return PredicateKeyValueCoding.value(value, [key])
        }
    }

    /// Compiles the predicate for objects of a type, for judging many of them.
    ///
    /// - Parameter accessors: How to read a field, asked while compiling for each of `fields` and, where the predicate
    ///   names it, for `SELF`.
    /// - Returns: A closure that allocates nothing for comparisons of typed fields with numbers, dates and ASCII text.
    @inlinable
    public func compiled<Root>(accessors: (String) -> PredicateAccessor<Root>) -> (Root) -> Bool {
        withoutActuallyEscaping(accessors) { PredicateCompiler(accessors: $0).condition(plan) }
    }

    // MARK: Checking

    /// Checks that all fields are known.
    ///
    /// - Parameters:
    ///   - knownFields: Their names.
    ///   - noun: What the error calls an object that has fields.
    /// - Throws: An `unknownField` error at the first place of the first unknown one, with the nearest known names.
    public func check(knownFields: Set<String>, of noun: String = "record") throws(FormatPredicateError) {
        let unknown = fieldOffsets.filter { !knownFields.contains($0.key) }
        guard let (field, offset) = unknown.min(by: { $0.value < $1.value }) else { return }
        let names = NearestNames.nearest(to: field, among: knownFields.sorted())
        let hint = names.isEmpty ? "; text is written in quotes" : NearestNames.suggestion(names)
        throw FormatPredicateError(
            .unknownField, "no \(noun) has a field \(field)\(hint)", column: offset + 1, source: source,
            suggestions: names)
    }

    /// Checks that no comparison is between kinds that can never fit, the kinds of fields being known.
    ///
    /// - Parameter kinds: What the named fields hold, whenever they hold anything; others may hold whatever.
    /// - Throws: A `typeMismatch` error.
    public func check(kinds: [String: PredicateKind]) throws(FormatPredicateError) {
        let checker = PredicateChecker(kindOfField: { kinds[$0] ?? .unknown })
        guard let (comparison, problem) = checker.firstProblem(in: node) else { return }
        let named = Self.fields(of: .comparison(comparison)).compactMap { fieldOffsets[$0] }
        throw FormatPredicateError(
            problem.code, "\(problem.message), in \(PredicateNode.comparison(comparison))",
            column: (named.min() ?? 0) + 1, source: source)
    }

    // MARK: Indexes

    /// What every matching object satisfies, of the form field, operator, constant: the parts of the outermost `AND`
    /// that an index could serve. Empty when there are none.
    package var indexableConstraints: [PredicateConstraint] {
        PredicateConstraint.constraints(of: node)
    }

    /// Whether the constraints, together, say all that the predicate does.
    package var isConstraintsOnly: Bool {
        let parts: [PredicateNode] = if case .and(let parts) = node { parts } else { [node] }
        let constraints = indexableConstraints
        return constraints.count == parts.count && constraints.allSatisfy(\.isExact)
    }
}
