import Application
import ArgumentParser
import Files
import Items
import Logging
import PropertyList

/// The settings of a run: the command line's, else the configuration's, else the defaults. A container's preference may
/// lower a limit that the command line does not set; scripts can write it, so it never raises one.
struct SettingsInForce {
    enum Origin: String {
        case commandLine = "command line"
        case configuration = "config"
        case preference
        case standard = "default"
    }

    struct Value {
        var setting: Setting
        /// Nil for no limit.
        var text: String?
        var origin: Origin
    }

    /// In the order of the settings. In a dictionary, the runtime's lookup of the key's conformance would take 3 ms.
    private(set) var values: [Value] = []
    /// Preferences, and folders of the configuration, without effect, with the reason.
    private(set) var remarks: [String] = []
    /// The folders of the configuration's `module-path` that are there, beside those of the command line.
    private(set) var configuredModulePaths: [String] = []

    /// - Parameters:
    ///   - options: the command line's.
    ///   - configured: the configuration's values by the settings' names.
    ///   - container: the container; it need not exist.
    /// - Throws: the exit status, for an invalid configured value.
    init(_ options: HostOptions, _ configured: [String: String], in container: ApplicationContainer) throws {
        let preferences = Self.preferences(of: container)
        for setting in Setting.allCases {
            if let text = Self.given(setting, in: options) {
                values.append(Value(setting: setting, text: text, origin: .commandLine))
                continue
            }
            var value = Value(setting: setting, text: setting.standard, origin: .standard)
            if let text = configured[setting.rawValue] {
                guard setting.accepts(text) else {
                    throw CommandFailure.exit(
                        .badData, "the configuration's \(setting.rawValue) is '\(text)': it takes \(setting.range)")
                }
                value = Value(setting: setting, text: text, origin: .configuration)
            }
            if let preference = preferences[setting.rawValue] { narrow(&value, to: preference, container) }
            values.append(value)
        }
        for folder in Setting.folders(configured[Setting.modulePath.rawValue] ?? "") {
            if PosixFileLayer().exists(folder + "/.") {
                configuredModulePaths.append(folder)
            } else {
                remarks.append("the configured module-path \(folder) is not there")
            }
        }
    }

    private mutating func narrow(
        _ value: inout Value, to preference: PropertyListValue, _ container: ApplicationContainer
    ) {
        let setting = value.setting
        let wanted: Double? =
            switch preference {
            case .integer(let number): Double(number)
            case .real(let number): number
            default: nil
            }
        let text = wanted.map(Self.text) ?? ""
        let limit = setting.limit(value.text)
        guard setting == .timeLimit || setting == .memoryLimit, setting.accepts(text),
            case let wanted = setting.limit(text), wanted <= limit
        else {
            let reason =
                switch setting {
                case .grace, .durability, .logLevel, .modulePath: "preferences lower limits, and nothing else"
                case _ where !setting.accepts(text): "it takes \(setting.range)"
                case .timeLimit, .memoryLimit:
                    "it may only lower the limit, and \(value.shown) applies"
                }
            remarks.append("the preference \(setting.rawValue) of \(container.displayPath) is passed over: \(reason)")
            return
        }
        if wanted < limit { value = Value(setting: setting, text: text, origin: .preference) }
    }

    private static func given(_ setting: Setting, in options: HostOptions) -> String? {
        switch setting {
        case .timeLimit: options.timeLimit.map(text)
        case .memoryLimit: options.memoryLimit.map { "\($0)" }
        case .grace: options.grace.map(text)
        case .durability: options.durability?.rawValue
        case .logLevel: options.logLevel?.rawValue
        case .modulePath: options.modulePath.isEmpty ? nil : options.modulePath.joined(separator: ":")
        }
    }

    private static func preferences(of container: ApplicationContainer) -> PropertyListFields {
        guard !container.isTemporary, let layer = try? BeneathFileLayer(container.path) else { return [:] }
        return Defaults(folder: container.preferences, using: layer).dictionary
    }

    /// A number's text; a whole number has no decimal point.
    private static func text(_ number: Double) -> String { Int64(exactly: number).map { String($0) } ?? "\(number)" }

    /// The values as one line: `time-limit 60 s (config), …`.
    var summary: String {
        values.map { "\($0.setting.rawValue) \($0.shown) (\($0.origin.rawValue))" }.joined(separator: ", ")
    }

    var timeLimit: Double? { text(of: .timeLimit).flatMap(Double.init) }
    /// In megabytes; nil for no limit.
    var memoryLimit: Int? { text(of: .memoryLimit).flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } }
    var grace: Double { text(of: .grace).flatMap(Double.init) ?? Setting.standardGrace }
    var durability: CommitDurability { text(of: .durability).flatMap { CommitDurability(rawValue: $0) } ?? .process }
    var logLevel: Logger.Level { text(of: .logLevel).flatMap { Logger.Level(rawValue: $0) } ?? .info }

    private func text(of setting: Setting) -> String? { values.first { $0.setting == setting }?.text }
}

extension SettingsInForce.Value {
    /// The value with its unit.
    var shown: String { text.flatMap { setting.isNone($0) ? nil : $0 + setting.unit } ?? "none" }
}

/// A setting of `cubby config`, named as its option.
enum Setting: String, CaseIterable {
    case timeLimit = "time-limit"
    case memoryLimit = "memory-limit"
    case grace
    case durability
    case logLevel = "log-level"
    case modulePath = "module-path"

    static var names: [String] { allCases.map(\.rawValue) }

    /// The values, in words.
    var range: String {
        switch self {
        case .timeLimit: "seconds above 0"
        case .memoryLimit: "megabytes from 1 to \(Self.mostMemory), or 0 for no limit"
        case .grace: "seconds from 0 to 3600"
        case .durability: CommitDurability.allValueStrings.joined(separator: " or ")
        case .logLevel: Logger.Level.allValueStrings.joined(separator: ", ")
        case .modulePath: "absolute folders, separated by colons"
        }
    }

    var unit: String {
        switch self {
        case .timeLimit, .grace: " s"
        case .memoryLimit: " MB"
        case .durability, .logLevel, .modulePath: ""
        }
    }

    /// The largest memory limit in megabytes.
    private static let mostMemory = 1_000_000

    /// Seconds for background tasks at the end.
    static let standardGrace = 10.0

    /// The default value; nil for no limit.
    var standard: String? {
        switch self {
        case .timeLimit, .modulePath: nil
        case .memoryLimit:
            MachineMemory.find().map { "\(min(max($0.limitOfScripts >> 20, 1), Self.mostMemory))" }
        case .grace: "\(Int(Self.standardGrace))"
        case .durability: CommitDurability.process.rawValue
        case .logLevel: Logger.Level.info.rawValue
        }
    }

    func accepts(_ text: String) -> Bool {
        switch self {
        case .timeLimit: Double(text).map { $0 > 0 && $0.isFinite } ?? false
        case .memoryLimit: Int(text).map { (0...Self.mostMemory).contains($0) } ?? false
        case .grace: Double(text).map { $0 >= 0 && $0 <= 3600 } ?? false
        case .durability: CommitDurability(rawValue: text) != nil
        case .logLevel: Logger.Level(rawValue: text) != nil
        case .modulePath: !Self.folders(text).isEmpty && Self.folders(text).allSatisfy { $0.hasPrefix("/") }
        }
    }

    /// Whether a value stands for no limit.
    func isNone(_ text: String) -> Bool { self == .memoryLimit && Int(text) == 0 }

    /// A limit's value as a number; infinity for none.
    func limit(_ text: String?) -> Double {
        text.flatMap { isNone($0) ? nil : Double($0) } ?? .infinity
    }

    /// The folders of a value of `module-path`.
    static func folders(_ text: String) -> [String] { text.split(separator: ":").map(String.init) }

    /// A given value as it is stored: folders are absolute, since a run may begin elsewhere.
    func stored(_ text: String) -> String {
        guard self == .modulePath else { return text }
        let base = WorkingDirectory.path ?? "/"
        return Self.folders(text).map { PathText.absolute($0, from: base) }.joined(separator: ":")
    }
}

/// A container's configuration for a run: read, and approved.
struct ConfiguredContainer {
    let container: ApplicationContainer
    let file: ConfigurationFile?
    private(set) var configuration: Configuration?
    private var grants: [Grant] = []

    /// Reads the configuration, approved or not.
    ///
    /// - Throws: the exit status, if it cannot be read or other users could have written it.
    init(reading container: ApplicationContainer) throws {
        self.container = container
        guard !container.isTemporary, let folder = ConfigurationFolder.locate() else {
            file = nil
            return
        }
        do throws(ConfigurationError) {
            let file = try ConfigurationFile(for: container, in: folder)
            configuration = try file.read()
            self.file = file
        } catch .inContainer where !PosixFileLayer().exists(folder) {
            file = nil
        } catch {
            throw CommandFailure.exit(error, container)
        }
    }

    /// Reads the configuration for a run.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - asks: whether a user at a terminal may approve changes; otherwise they are refused.
    /// - Throws: the exit status.
    init(_ container: ApplicationContainer, asks: Bool) throws {
        try self.init(reading: container)
        guard let file, let configuration else { return }
        let changed = configuration.unapproved(for: file.identity)
        if !changed.isEmpty {
            let error = ConfigurationError.changed(path: file.path, parts: changed)
            guard asks, file.identity != nil, Self.askApproval(error.message) else {
                throw CommandFailure.exit(error, container)
            }
            do throws(ConfigurationError) { try file.update(approvesAll: true) { _ in } } catch {
                throw CommandFailure.exit(error, container)
            }
        }
        for grant in configuration.grants where grant.kind != .run {
            switch grant.state {
            case .asApproved: grants.append(grant)
            case .gone: CommandFailure.say("the granted \(VisibleText.line(grant.path)) is not there")
            case .changed:
                let message =
                    "the granted \(grant.path) leads by a link to another place now: cubby config revoke \(grant.kind) and grant it anew"
                guard asks else { throw CommandFailure.exit(.usage, message) }
                CommandFailure.say(VisibleText.line(message))
            }
        }
    }

    /// The approved paths that exist.
    func paths(_ kind: Grant.Kind) -> [String] { grants.filter { $0.kind == kind }.map(\.path) }

    var settings: [String: String] { configuration?.settings ?? [:] }

    /// The approved hosts with their ports.
    var networks: [String] { grants.compactMap(\.network).map(\.description) }

    var programs: [ProgramGrant] { configuration?.grants.compactMap(\.program) ?? [] }

    /// Stores the approval of a changed program; nil without a configuration.
    var approve: (@Sendable (ProgramGrant) throws -> Void)? {
        guard let folder = ConfigurationFolder.locate(), file != nil else { return nil }
        let container = container
        return { program in
            try ConfigurationFile(for: container, in: folder).update { $0.add(Grant(program)) }
        }
    }

    /// Repeats the question until it is answered; the end of input means no.
    private static func askApproval(_ message: String) -> Bool {
        CommandFailure.say(VisibleText.line(message))
        while true {
            StandardErrorLogHandler.writeToStandardError("Approve it? [y]es, [n]o: ")
            switch StandardDescriptor.readLine()?.lowercased() {
            case "y", "yes": return true
            case "n", "no", nil: return false
            default: continue
            }
        }
    }
}
