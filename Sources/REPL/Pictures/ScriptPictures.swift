import Application
import Glibc
package import Images
import LineEditor
package import Scripting

/// The front end of a script without a prompt: draws its pictures when standard output is a terminal.
package final class ScriptPictures: HostFrontEnd {
    private unowned let host: ScriptHost
    private let usesColor: Bool
    private lazy var pictures = TerminalPictures(
        size: TerminalSize(descriptor: STDOUT_FILENO) ?? TerminalSize(columns: 80, rows: 24), hasColors: hasColors,
        environment: Environment.value)
    private var hasAsked = false

    /// - Parameters:
    ///   - host: the scripts' host.
    ///   - usesColor: false to draw none.
    package init(_ host: ScriptHost, usesColor: Bool) {
        self.host = host
        self.usesColor = usesColor
    }

    private var hasColors: Bool {
        !Palette.appropriate(
            isTerminal: isatty(STDOUT_FILENO) == 1, isForbidden: !usesColor, environment: Environment.value
        ).isEmpty
    }

    package func show(_ image: Image) {
        guard hasColors else { return }
        host.flushOutput()
        if !hasAsked {
            hasAsked = true
            pictures.capabilities = TerminalCapabilities.ask(environment: Environment.value)
        }
        pictures.size = TerminalSize(descriptor: STDOUT_FILENO) ?? pictures.size
        guard let text = pictures.text(image) else { return }
        host.write(Array(text.utf8), toStandardError: false)
    }
}
