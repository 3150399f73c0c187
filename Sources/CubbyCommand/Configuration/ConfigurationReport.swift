import Application
import Files
import Wording

/// The tables of settings and grants.
struct ConfigurationReport {
    let configured: ConfiguredContainer
    let settings: SettingsInForce
    /// The container's option.
    let containerOption: String?

    var lines: [String] {
        var table = TextTable(columns: .max)
        let values = settings.values
        table.add(.init(title: "setting", cells: ["container"] + values.map(\.setting.rawValue)))
        table.add(.init(title: "value", cells: [configured.container.displayPath] + values.map(\.shown)))
        table.add(.init(title: "from", cells: [containerOrigin] + values.map(\.origin.rawValue)))
        return table.lines + [""] + grantLines + settings.notes
    }

    private var containerOrigin: String {
        if containerOption?.isEmpty == false { return SettingsInForce.Origin.commandLine.rawValue }
        return Environment.value("CUBBY_CONTAINER")?.isEmpty == false
            ? "CUBBY_CONTAINER" : SettingsInForce.Origin.standard.rawValue
    }

    private var grantLines: [String] {
        guard let file = configured.file, let configuration = configured.configuration, !configuration.grants.isEmpty
        else { return [" no grants"] }
        let unapproved = configuration.unapproved(for: file.identity)
        var table = TextTable(columns: .max)
        let grants = configuration.grants
        table.add(.init(title: "grant", cells: grants.map(\.kind.rawValue)))
        table.add(.init(title: "of", cells: grants.map { String($0.title.dropFirst($0.kind.rawValue.count + 1)) }))
        table.add(.init(title: "approved", cells: grants.map(\.time)))
        table.add(
            .init(
                title: "state",
                cells: grants.map { unapproved.contains($0.title) ? "not approved" : $0.state.rawValue }))
        table.add(.init(title: "SHA-256", cells: grants.map { String($0.digest.prefix(16)) }))
        return table.lines
    }
}
