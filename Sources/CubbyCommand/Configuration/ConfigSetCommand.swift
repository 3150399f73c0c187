import Application
import ArgumentParser
import Wording

/// `cubby config set NAME VALUE`.
struct ConfigSetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set or reset time-limit, memory-limit, durability or log-level.")

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
        guard isUnset || setting.accepts(value) else {
            throw ValidationError("\(name) takes \(setting.range), or default.")
        }
    }

    private var isUnset: Bool { ["default", "unset"].contains(value) }

    func run() throws {
        let file = try target.file()
        try target.update(file) { $0.settings[name] = isUnset ? nil : value }
        Report.line(isUnset ? "\(name) is the default again" : "\(name) is \(value)")
    }
}
