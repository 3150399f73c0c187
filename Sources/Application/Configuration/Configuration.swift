package import PropertyList

/// The settings and grants of one container, each with its approval.
package struct Configuration: Sendable, Hashable {
    /// The values by the settings' names.
    package var settings: [String: String] = [:]
    package private(set) var grants: [Grant] = []
    private var settingsSeal = ""

    package init() {}

    /// Adds a grant, which replaces an earlier one of the same kind and path or name.
    package mutating func add(_ grant: Grant) {
        guard let index = grants.firstIndex(where: { $0.isSame(as: grant) }) else { return grants.append(grant) }
        grants[index] = grant
    }

    /// Removes grants.
    ///
    /// - Returns: the removed ones.
    package mutating func revoke(where isRevoked: (Grant) -> Bool) -> [Grant] {
        let revoked = grants.filter(isRevoked)
        grants.removeAll(where: isRevoked)
        return revoked
    }

    // MARK: Approval

    /// The parts that were not approved for a container, in words; all of them if the container does not exist.
    package func unapproved(for container: ContainerIdentity?) -> [String] {
        var parts = grants.filter { $0.seal != container?.seal($0.texts) }.map(\.title)
        if settingsSeal != container?.seal(settingsTexts) {
            parts.append(settings.isEmpty ? "no settings" : settingsTexts.joined(separator: ", "))
        }
        return parts
    }

    /// Approves everything for a container.
    package mutating func approve(for container: ContainerIdentity) {
        settingsSeal = container.seal(settingsTexts)
        for index in grants.indices { grants[index].seal = container.seal(grants[index].texts) }
    }

    private var settingsTexts: [String] { settings.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" } }

    // MARK: Property list

    /// - Returns: nil for a value of another structure.
    package init?(_ value: PropertyListValue) {
        guard let parts = value.fields, let settings = parts["settings"]?.fields,
            case .string(let seal)? = parts["settings approval"], case .array(let grants)? = parts["grants"]
        else { return nil }
        settingsSeal = seal
        for (name, value) in settings {
            guard case .string(let text) = value else { return nil }
            self.settings[name] = text
        }
        for value in grants {
            guard let parts = value.fields else { return nil }
            func text(_ key: String) -> String? {
                guard case .string(let text)? = parts[key], !text.utf8.contains(0) else { return nil }
                return text
            }
            guard let kind = text("grant").flatMap(Grant.Kind.init), let path = text("path"), path.hasPrefix("/"),
                let name = text("name"), let digest = text("sha256"), let time = text("approved"),
                let seal = text("approval")
            else { return nil }
            var spelling = ""
            if parts["spelling"] != nil {
                guard let text = text("spelling"), text.hasPrefix("/") else { return nil }
                spelling = text
            }
            var grant = Grant(kind: kind, path: path, name: name, digest: digest, time: time, spelling: spelling)
            grant.seal = seal
            self.grants.append(grant)
        }
    }

    /// The configuration as a property list.
    ///
    /// - Parameter path: the container's, for readers of the file.
    /// - Returns: a dictionary.
    package func propertyList(for path: String) -> PropertyListValue {
        .dictionary([
            "container": .string(path),
            "settings": .fields(PropertyListFields(settings.map { ($0.key, .string($0.value)) })),
            "settings approval": .string(settingsSeal),
            "grants": .array(
                grants.map { grant in
                    var fields: PropertyListFields = [
                        "grant": .string(grant.kind.rawValue), "path": .string(grant.path),
                        "name": .string(grant.name), "sha256": .string(grant.digest),
                        "approved": .string(grant.time), "approval": .string(grant.seal),
                    ]
                    if !grant.spelling.isEmpty { fields["spelling"] = .string(grant.spelling) }
                    return .fields(fields)
                }),
        ])
    }
}
