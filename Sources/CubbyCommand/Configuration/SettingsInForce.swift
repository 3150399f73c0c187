import Application
import Files
import Items
import Logging
import PropertyList

/// The settings of a run: the command line's, else the configuration's, else the defaults. A preference of the container
/// may lower a limit that the command line does not give; scripts can write it, so it raises none.
struct SettingsInForce {
    enum Origin: String {
        case commandLine = "command line"
        case configuration = "config"
        case preference
        case standard = "default"
    }

    struct Value {
        var text: String?
        var origin: Origin
    }

    private(set) var values: [Setting: Value] = [:]
    /// Preferences without effect, and why.
    private(set) var notes: [String] = []

    /// - Parameters:
    ///   - options: the command line's.
    ///   - configured: the configuration's values by the settings' names.
    ///   - container: the container; it need not exist.
    /// - Throws: the exit status, for a configured value that is none.
    init(_ options: HostOptions, _ configured: [String: String], in container: Container) throws {
        let given: [Setting: String?] = [
            .timeLimit: options.timeLimit.map(Self.text), .memoryLimit: options.memoryLimit.map(String.init),
            .durability: options.durability?.rawValue, .logLevel: options.logLevel?.rawValue,
        ]
        let preferences = Self.preferences(of: container)
        for setting in Setting.allCases {
            if let text = given[setting] ?? nil {
                values[setting] = Value(text: text, origin: .commandLine)
                continue
            }
            var value = Value(text: setting.standard, origin: .standard)
            if let text = configured[setting.rawValue] {
                guard setting.accepts(text) else {
                    throw CommandFailure.exit(
                        .badData, "the configuration's \(setting.rawValue) is '\(text)': it takes \(setting.range)")
                }
                value = Value(text: text, origin: .configuration)
            }
            if let preference = preferences[setting.rawValue] { narrow(&value, to: preference, setting, container) }
            values[setting] = value
        }
    }

    private mutating func narrow(
        _ value: inout Value, to preference: PropertyListValue, _ setting: Setting, _ container: Container
    ) {
        let wanted: Double? =
            switch preference {
            case .integer(let number): Double(number)
            case .real(let number): number
            default: nil
            }
        let text = wanted.map(Self.text) ?? ""
        let limit = value.text.flatMap(Double.init) ?? .infinity
        guard setting == .timeLimit || setting == .memoryLimit, setting.accepts(text), let wanted, wanted <= limit
        else {
            let reason =
                value.text.map { "it may only lower \(setting.range), and \($0)\(setting.unit) applies" }
                ?? "it takes \(setting.range)"
            notes.append("the preference \(setting.rawValue) of \(container.displayPath) is passed over: \(reason)")
            return
        }
        if wanted < limit { value = Value(text: text, origin: .preference) }
    }

    private static func preferences(of container: Container) -> [String: PropertyListValue] {
        guard !container.isTemporary, let layer = try? BeneathFileLayer(container.path) else { return [:] }
        return Defaults(folder: container.preferences, using: layer).dictionary
    }

    /// Whole numbers without a point.
    private static func text(_ number: Double) -> String { Int64(exactly: number).map { String($0) } ?? "\(number)" }

    /// For one line: `time-limit 60 s (config), …`.
    var summary: String {
        Setting.allCases.map { setting in
            let value = values[setting]
            return
                "\(setting.rawValue) \(value?.text.map { $0 + setting.unit } ?? "none") (\((value?.origin ?? .standard).rawValue))"
        }.joined(separator: ", ")
    }

    var timeLimit: Double? { values[.timeLimit]?.text.flatMap(Double.init) }
    var memoryLimit: Int? { values[.memoryLimit]?.text.flatMap { Int($0) } }
    var durability: Durability { values[.durability]?.text.flatMap { Durability(rawValue: $0) } ?? .process }
    var logLevel: Logger.Level { values[.logLevel]?.text.flatMap { Logger.Level(rawValue: $0) } ?? .info }
}
