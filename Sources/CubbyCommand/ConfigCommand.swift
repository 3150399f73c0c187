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
            ? ApplicationContainer(path: MemoryContainer.name, isTemporary: true)
            : try ContainerArgument.locate(host.container)
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

/// `cubby config set NAME VALUE`.
struct ConfigSetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set or reset time-limit, memory-limit, grace, durability, log-level or module-path.")

    @OptionGroup var target: ConfigTarget

    @Argument(help: "The setting, named like its option.", completion: .list(Setting.names))
    var name: String

    @Argument(help: "The value; default or unset resets the setting.")
    var value: String

    func validate() throws {
        guard let setting = Setting(rawValue: name) else {
            throw ValidationError(
                "There is no setting '\(name)'\(NearestNames.hint(for: name, among: Setting.names)); "
                    + "settings are \(Setting.names.joined(separator: ", ")).")
        }
        guard isUnset || setting.accepts(setting.stored(value)) else {
            throw ValidationError("\(name) takes \(setting.range), or default.")
        }
    }

    private var isUnset: Bool { ["default", "unset"].contains(value) }

    func run() throws {
        let file = try target.file()
        let value = Setting(rawValue: name)?.stored(value) ?? value
        try target.update(file) { $0.settings[name] = isUnset ? nil : value }
        Report.line(isUnset ? "\(name) is the default again" : "\(name) is \(value)")
    }
}

/// The arguments of `grant` and `revoke`: a kind, and a path or a program.
enum GrantArgument {
    static let kinds = Grant.Kind.allCases.map(\.rawValue)

    static func check(_ kind: String, among kinds: [String]) throws {
        guard !kinds.contains(kind) else { return }
        throw ValidationError(
            "There is no grant '\(kind)'\(NearestNames.hint(for: kind, among: kinds)); "
                + "it is one of \(kinds.joined(separator: ", ")).")
    }
}

/// `cubby config grant read|write PATH`, `cubby config grant run PROGRAM`, `cubby config grant net HOST[:PORT]`.
struct ConfigGrantCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract:
            "Allow the container's scripts to read a file or folder, write a folder, run a program by name, or connect to a host."
    )

    @OptionGroup var target: ConfigTarget

    @Argument(help: "read, write, run or net.", completion: .list(GrantArgument.kinds))
    var kind: String

    @Argument(
        help: "A path; a program: its name in PATH, or its path; or a host: HOST[:PORT], without a port 80 and 443.",
        completion: .file())
    var subject: String

    func validate() throws { try GrantArgument.check(kind, among: GrantArgument.kinds) }

    func run() throws {
        let grant: Grant
        do {
            grant = try makeGrant()
        } catch let error as NetworkGrantError {
            throw CommandFailure.exit(.usage, error.description)
        } catch let error as FileError {
            throw CommandFailure.exit(error)
        }
        let file = try target.file()
        try target.update(file) { $0.add(grant) }
        Report.line("granted \(grant.title)\(grant.kind == .run ? ", SHA-256 \(grant.digest)" : "")")
        if let program = grant.program, program.startsOtherPrograms {
            Report.line("\(grant.name) can start any other program: this grants as much as --allow-run")
        }
        if let network = grant.network {
            let ports = network.ports.map(String.init).joined(separator: " and ")
            Report.line(
                "programs that scripts start may use TCP port \(ports) of any host: the kernel holds ports, neither hosts nor UDP"
            )
        }
    }

    private func makeGrant() throws -> Grant {
        switch Grant.Kind(rawValue: kind) {
        case .run, nil: Grant(try ProgramGrant(subject))
        case .net: Grant(try NetworkGrant(subject))
        case .read: try Grant(.read, of: subject)
        case .write: try Grant(.write, of: subject)
        }
    }
}

/// `cubby config revoke read|write PATH`, `run PROGRAM`, `net HOST[:PORT]`, `all`.
struct ConfigRevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a grant, or all grants.")

    @OptionGroup var target: ConfigTarget

    @Argument(help: "read, write, run, net or all.", completion: .list(GrantArgument.kinds + ["all"]))
    var kind: String

    @Argument(help: "The path, the program's name, or the host with its port.", completion: .file())
    var subject: String?

    func validate() throws {
        try GrantArgument.check(kind, among: GrantArgument.kinds + ["all"])
        guard (kind == "all") == (subject == nil) else {
            throw ValidationError(
                kind == "all"
                    ? "revoke all takes no path: it takes every grant back." : "revoke \(kind) takes what was granted.")
        }
    }

    func run() throws {
        let file = try target.file()
        let subject = subject ?? ""
        // An absolute one, or a name, is known in any working folder.
        let path = (try? WorkingDirectory.absolute(subject)) ?? subject
        let names = [subject, path, RealPath.ofExistingPart(of: path)]
        let name = kind == Grant.Kind.net.rawValue ? (try? NetworkGrant(subject))?.description ?? subject : subject
        let revoked = try target.update(file) { configuration in
            configuration.revoke { grant in
                kind == "all" || (grant.kind.rawValue == kind && (names.contains(grant.path) || grant.name == name))
            }
        }
        for grant in revoked { Report.line("revoked \(grant.title)") }
        if revoked.isEmpty, kind != "all" {
            throw CommandFailure.exit(.usage, "there is no grant to \(kind) \(subject); cubby config lists them")
        }
    }
}

/// The container whose configuration a command changes.
struct ConfigTarget: ParsableArguments {
    @Option(help: .container, completion: .container)
    var container: String?

    func locate() throws -> ApplicationContainer {
        try ContainerArgument.locate(container, orSay: "is a new container for each run: give the run its options")
    }

    /// The file of the container's configuration; a missing container is created.
    ///
    /// - Throws: the exit status.
    func file() throws -> ConfigurationFile {
        SignalMask.restore()
        let container = try locate()
        do {
            guard let folder = ConfigurationFolder.locate() else { throw ConfigurationError.noHome }
            try container.create()
            return try ConfigurationFile(for: container, in: folder)
        } catch let error as ConfigurationError {
            throw CommandFailure.exit(error, container)
        } catch let error as FileError {
            throw CommandFailure.exit(error)
        }
    }

    /// Changes the configuration.
    ///
    /// - Throws: the exit status.
    func update<Result>(
        _ file: ConfigurationFile, approvesAll: Bool = false, _ body: (inout Configuration) -> Result
    ) throws -> Result {
        do throws(ConfigurationError) { return try file.update(approvesAll: approvesAll, body) } catch {
            throw CommandFailure.exit(error, try locate())
        }
    }
}

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
        return table.lines + [""] + grantLines + settings.remarks
    }

    private var containerOrigin: String {
        if containerOption?.isEmpty == false { return SettingsInForce.Origin.commandLine.rawValue }
        return ProcessEnvironment.value("CUBBY_CONTAINER")?.isEmpty == false
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
