package import ColumnEngine
package import PropertyList

/// The form of declarations in scripts and in files: a kind, or a dictionary of it and of what else is declared.
extension FieldDeclaration {
    /// What a specification may have.
    package static let options = [
        "kind", "format", "unique", "required", "oneOf", "least", "most", "default", "references", "onDelete", "desc",
    ]

    /// Reads a specification.
    ///
    /// - Parameters:
    ///   - name: the field's name.
    ///   - specification: the name of a kind, or a dictionary.
    /// - Throws: `invalidValue` with what is wrong, and the nearest names.
    package init(_ name: String, _ specification: PropertyListValue) throws(StoreError) {
        func error(_ what: String) -> StoreError {
            StoreError(.invalidValue(field: name), "\(name) cannot be declared so: \(what)")
        }
        func kind(_ value: PropertyListValue?) throws(StoreError) -> Kind {
            guard let value else { return .any }
            if case .string(let text) = value, let kind = Kind(exactly: text) { return kind }
            var hint = ""
            if case .string(let text) = value {
                hint = NearestNames.suggestion(NearestNames.nearest(to: text, among: Kind.allCases.map(\.rawValue)))
            }
            if hint.isEmpty { hint = "; there are \(Kind.allCases.map(\.rawValue).joined(separator: ", "))" }
            throw error("\(FieldValidation.describe(value)) is not a kind\(hint)")
        }
        if case .string = specification {
            self.init(name, try kind(specification))
            return
        }
        guard let fields = specification.fields else {
            throw error("a kind, a table or false is expected, got \(FieldValidation.describe(specification))")
        }
        for option in fields.keys.sorted(by: { $0 < $1 }) where !Self.options.contains(option) {
            let near = NearestNames.nearest(to: option, among: Self.options)
            let hint =
                near.isEmpty ? "; there are \(Self.options.joined(separator: ", "))" : NearestNames.suggestion(near)
            throw error("unknown option '\(option)'\(hint)")
        }
        self.init(name, try kind(fields["kind"]))
        func flag(_ option: String) throws(StoreError) -> Bool {
            switch fields[option] {
            case nil: return false
            case .boolean(let value)?: return value
            case let value: throw error("option '\(option)' is true or false, got \(FieldValidation.describe(value))")
            }
        }
        func text(_ option: String) throws(StoreError) -> String? {
            switch fields[option] {
            case nil: return nil
            case .string(let text)? where !text.isEmpty: return text
            case let value: throw error("option '\(option)' is a text, got \(FieldValidation.describe(value))")
            }
        }
        (isUnique, isRequired) = (try flag("unique"), try flag("required"))
        if let pattern = try text("format") { format = Format(pattern) }
        (summary, references) = (try text("desc"), try text("references").map { Reference($0) })
        if let rule = try text("onDelete") {
            guard let known = DeleteRule(exactly: rule) else {
                throw error("onDelete is \(DeleteRule.allCases.map(\.rawValue).joined(separator: ", ")), not \(rule)")
            }
            if references == nil {
                throw error("onDelete is for a field that refers to items: references has their kind")
            }
            references?.onDelete = known
        }
        (least, most, initial) = (fields["least"], fields["most"], fields["default"])
        switch fields["oneOf"] {
        case nil: break
        case .array(let elements)? where !elements.isEmpty: values = elements
        case let value: throw error("option 'oneOf' is an array of values, got \(FieldValidation.describe(value))")
        }
    }
}
