extension FoundationValue {
    /// The text of a URL, resolved against its base; nil for other values.
    package var absoluteURL: String? {
        guard case .url(let text, let base) = self else { return nil }
        guard let above = base?.absoluteURL else { return text }
        return URLReference(text).resolved(against: URLReference(above))
    }
}

/// The parts of a URL, as RFC 3986 separates them (appendix B) and resolves one against another (section 5.2).
private struct URLReference {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring
    var query: Substring?
    var fragment: Substring?

    init(_ text: String) {
        var rest = text[...]
        func suffix(after mark: Character) -> Substring? {
            guard let place = rest.firstIndex(of: mark) else { return nil }
            defer { rest = rest[..<place] }
            return rest[rest.index(after: place)...]
        }
        fragment = suffix(after: "#")
        query = suffix(after: "?")
        if let colon = rest.firstIndex(of: ":"), colon > rest.startIndex, !rest[..<colon].contains("/") {
            scheme = rest[..<colon]
            rest = rest[rest.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    func resolved(against base: URLReference) -> String {
        var target = self
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil {
                target.authority = base.authority
                if path.isEmpty {
                    target.path = base.path
                    target.query = query ?? base.query
                } else if !path.hasPrefix("/") {
                    let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? ""
                    target.path = folder.isEmpty && base.authority != nil ? "/" + path : folder + path
                }
            }
        }
        return target.text
    }

    private var text: String {
        var text = scheme.map { "\($0):" } ?? ""
        if let authority { text += "//\(authority)" }
        text += Self.removingDots(path)
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }

    /// Removes `.` and `..` from a path.
    private static func removingDots(_ path: Substring) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.contains(".") || parts.contains("..") else { return String(path) }
        var kept: [Substring] = []
        for part in parts {
            if part == ".." {
                kept = kept.count > 1 ? kept.dropLast() : [""]
            } else if part != "." {
                kept.append(part)
            }
        }
        if parts.last == "." || parts.last == ".." { kept.append("") }
        return kept.joined(separator: "/")
    }
}
