import Application
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
    /// Preferences without effect, with the reason.
    private(set) var notes: [String] = []

    /// - Parameters:
    ///   - options: the command line's.
    ///   - configured: the configuration's values by the settings' names.
    ///   - container: the container; it need not exist.
    /// - Throws: the exit status, for an invalid configured value.
    init(_ options: HostOptions, _ configured: [String: String], in container: Container) throws {
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
    }

    private mutating func narrow(
        _ value: inout Value, to preference: PropertyListValue, _ container: Container
    ) {
        let setting = value.setting
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
                switch setting {
                case .durability, .logLevel: "preferences lower limits, and nothing else"
                case _ where !setting.accepts(text): "it takes \(setting.range)"
                case .timeLimit, .memoryLimit:
                    "it may only lower the limit, and \(value.text ?? "none")\(setting.unit) applies"
                }
            notes.append("the preference \(setting.rawValue) of \(container.displayPath) is passed over: \(reason)")
            return
        }
        if wanted < limit { value = Value(setting: setting, text: text, origin: .preference) }
    }

    private static func given(_ setting: Setting, in options: HostOptions) -> String? {
        switch setting {
        case .timeLimit: options.timeLimit.map(text)
        case .memoryLimit: options.memoryLimit.map { "\($0)" }
        case .durability: options.durability?.rawValue
        case .logLevel: options.logLevel?.rawValue
        }
    }

    private static func preferences(of container: Container) -> PropertyListFields {
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
    var memoryLimit: Int? { text(of: .memoryLimit).flatMap { Int($0) } }
    var durability: Durability { text(of: .durability).flatMap { Durability(rawValue: $0) } ?? .process }
    var logLevel: Logger.Level { text(of: .logLevel).flatMap { Logger.Level(rawValue: $0) } ?? .info }

    private func text(of setting: Setting) -> String? { values.first { $0.setting == setting }?.text }
}

extension SettingsInForce.Value {
    /// The value with its unit.
    var shown: String { text.map { $0 + setting.unit } ?? "none" }
}
