import Application
import ArgumentParser
import Files

/// `cubby config`: settings and grants that apply to a container's runs without options.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show and change a container's settings and grants.",
        discussion: """
            Without a subcommand: show the settings and grants of a run with these options, and their sources.
            Settings and grants are kept in $XDG_CONFIG_HOME/cubby (default: ~/.config/cubby), outside every container.
            """,
        subcommands: [
            ConfigShowCommand.self, ConfigSetCommand.self, ConfigGrantCommand.self, ConfigRevokeCommand.self,
            ConfigApproveCommand.self,
        ],
        defaultSubcommand: ConfigShowCommand.self)
}

/// `cubby config`: shows the tables.
struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show settings and grants.")

    @OptionGroup var host: HostOptions

    func run() throws {
        SignalMask.restore()
        let container =
            ContainerArgument.isMemory(host.container)
            ? Container(path: MemoryContainer.name, isTemporary: true) : try ContainerArgument.locate(host.container)
        let configured = try ConfiguredContainer(reading: container)
        let settings = try SettingsInForce(host, configured.settings, in: container)
        let report = ConfigurationReport(configured: configured, settings: settings, containerOption: host.container)
        for line in report.lines { Report.line(line) }
        if let file = configured.file, let configuration = configured.configuration,
            case let changed = configuration.unapproved(for: file.identity), !changed.isEmpty
        {
            throw CommandFailure.exit(.changed(path: file.path, parts: changed), container)
        }
    }
}

/// `cubby config approve`: approves the file's current contents.
struct ConfigApproveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approve a changed configuration; review it with cubby config first.")

    @OptionGroup var target: ConfigTarget

    func run() throws {
        let file = try target.file()
        let changed = try target.update(file, approvesAll: true) { $0.unapproved(for: file.identity) }
        for part in changed { Report.line("approved \(part)") }
        if changed.isEmpty { Report.line("nothing was changed") }
    }
}
