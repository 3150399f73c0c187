import Application
import Images
import Items
import Scripting

/// A front end that keeps what scripts write, instead of a terminal.
final class Recorder: HostFrontEnd {
    private(set) var output = ""
    private(set) var errors = ""
    /// Pictures that scripts showed.
    private(set) var shown = 0
    /// What it answers when a script wants to leave the container.
    var consent = PathConsent.no
    /// Whether it approves programs that have changed.
    var approvesPrograms = false
    /// Whether it lets scripts connect.
    var allowsConnections = false
    private(set) var questions: [String] = []

    func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        if toStandardError { errors += text } else { output += text }
        return true
    }

    func show(_ image: BitmapImage) { shown += 1 }

    func consent(to access: PathConsent.Access, path: String) -> PathConsent {
        questions.append("\(access.rawValue) \(path)")
        return consent
    }

    func consent(toChanged program: ProgramGrant) -> Bool {
        questions.append("changed \(program.path)")
        return approvesPrograms
    }

    func consent(toConnect endpoint: NetworkEndpoint) -> Bool {
        questions.append("connect \(endpoint)")
        return allowsConnections
    }
}
